import SceneModel

extension Baggage {
  static let columns = "delivery, is_private, document"

  func put(into cells: inout some CellWriter & ~Copyable) {
    cells.put(delivery)
    cells.put(isPrivate)
    cells.put(document)
  }

  init(from cells: inout some CellReader & ~Copyable, _ rules: ReadingRules) throws(Malformed) {
    let (delivery, isPrivate, document) = (try cells.identifier(), try cells.bool(), try cells.text())
    do throws(Fault) {
      try self.init(delivery: delivery, isPrivate: isPrivate, document: document, rules)
    } catch {
      throw Malformed("the baggage does not parse: \(error)")
    }
  }
}
