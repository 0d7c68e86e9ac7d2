/// Numbers for names, so that the facts about types are tables of small numbers.
struct TypeNames: Sendable {
  typealias Number = UInt32

  private var all: [Text] = []
  private var numbers: [Text: Number] = [:]

  var count: Int { all.count }

  mutating func number(of name: Text) -> Number {
    if let number = numbers[name] { return number }
    let number = Number(all.count)
    numbers[name] = number
    all.append(name)
    return number
  }

  func known(_ name: Text) -> Number? { numbers[name] }

  subscript(number: Number) -> Text { all[Int(number)] }
}
