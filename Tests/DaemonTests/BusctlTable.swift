/// The output of `busctl introspect`: a row for each interface, and one for each member, whose name begins with a dot.
struct BusctlTable {
  struct Row: Hashable {
    let name: String
    let type: String
    let signature: String
    /// The result of a method, or the value of a property.
    let result: String
    let flags: String
  }

  private(set) var rows: [Row] = []

  init(_ text: String) {
    let lines = text.split(separator: "\n")
    guard let header = lines.first else { return }
    let titles = ["NAME", "TYPE", "SIGNATURE", "RESULT/VALUE", "FLAGS"].compactMap { header.firstRange(of: $0) }
    guard titles.count == 5 else { return }
    let starts = titles.map { header.distance(from: header.startIndex, to: $0.lowerBound) }
    rows = lines.dropFirst().map { line in
      let cells = starts.indices.map { index in
        let end = index + 1 < starts.count ? starts[index + 1] : line.count
        return String(line.prefix(end).dropFirst(starts[index])).trimmingSpaces()
      }
      return Row(name: cells[0], type: cells[1], signature: cells[2], result: cells[3], flags: cells[4])
    }
  }

  /// The members of one interface, in the order of the table.
  func members(of interface: String) -> [Row] {
    guard let start = rows.firstIndex(where: { $0.name == interface }) else { return [] }
    return Array(rows[(start + 1)...].prefix { $0.name.hasPrefix(".") })
  }
}

extension String {
  fileprivate func trimmingSpaces() -> String {
    let end = lastIndex { $0 != " " }.map { index(after: $0) } ?? startIndex
    return String(self[..<end].drop { $0 == " " })
  }
}
