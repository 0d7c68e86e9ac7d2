/// One directory of the desktop's shared MIME database, as far as it says what is what: its files `subclasses` and `aliases`.
package struct TypeDatabase: Sendable {
  /// What messages call it: the directory's path.
  package let name: String
  /// Lines of a type and one that it is a kind of: `image/svg+xml application/xml`.
  package let subclasses: [UInt8]
  /// Lines of a name and the type that it is another name of: `image/x-bmp image/bmp`.
  package let aliases: [UInt8]

  package init(name: String, subclasses: [UInt8], aliases: [UInt8]) {
    self.name = name
    self.subclasses = subclasses
    self.aliases = aliases
  }
}

extension Limits {
  /// Bytes of a file of the shared MIME database: a hundred times what Debian installs. Each line of it becomes an entry that
  /// is kept for as long as the service runs.
  package static let typeDatabase = 2 << 20

  /// How many problems of the whole database are told one by one: whoever repairs it looks at the file after the first few.
  static let typeProblems = 20
}

// MARK: - Lines

/// Two names on one line of a database's file.
struct TypePair: Sendable {
  let first: Text
  let second: Text
  let line: Int
}

/// What is wrong with the databases. What is wrong is passed over, and the rest counts.
struct TypeProblems {
  private var told: [Fault] = []
  private var untold = 0

  mutating func add(_ fault: Fault) {
    if told.count < Limits.typeProblems { told.append(fault) } else { untold += 1 }
  }

  var all: [Fault] {
    untold == 0 ? told : told + [Fault(.limit, at: "", "\(untold) more problems of the type database are not listed")]
  }
}

extension TypeDatabase {
  func pairs(in file: KeyPath<TypeDatabase, [UInt8]>, called fileName: String, _ problems: inout TypeProblems)
    -> [TypePair]
  {
    let bytes = self[keyPath: file]
    guard bytes.count <= Limits.typeDatabase else {
      // Not its first lines: which ones those are would depend on their order, and so would every answer.
      problems.add(
        Fault(.limit, at: "\(name)/\(fileName)", "it has \(bytes.count) bytes, and \(Limits.typeDatabase) are read"))
      return []
    }
    var pairs: [TypePair] = []
    for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
      if line.isEmpty || line.first == UInt8(ascii: "#") { continue }
      do throws(Fault) {
        pairs.append(try TypeDatabase.pair(line, index + 1, Place.document))
      } catch {
        problems.add(Fault(error.kind, at: "\(name)/\(fileName), line \(index + 1)", error.reason))
      }
    }
    return pairs
  }

  private static func pair(_ line: ArraySlice<UInt8>, _ number: Int, _ place: Place) throws(Fault) -> TypePair {
    let isSpace = { MIMESyntax.isSpace($0) || $0 == UInt8(ascii: "\r") }
    let names = line.split(maxSplits: 2, whereSeparator: isSpace)
    guard names.count == 2 else {
      let shown = String(decoding: line.prefix(4 * maximumShown), as: UTF8.self)
      throw Fault.expected("two content types", got: quoted(shown), at: place)
    }
    let pair = TypePair(first: try name(names[0], place), second: try name(names[1], place), line: number)
    if pair.first == pair.second { throw Fault(at: place, "\(quoted(pair.first.string)) is said to be itself") }
    return pair
  }

  private static func name(_ bytes: ArraySlice<UInt8>, _ place: Place) throws(Fault) -> Text {
    let type = try ContentType(Text(String(decoding: bytes, as: UTF8.self)), as: .carried, at: place)
    guard type.form == .mime, type.parameters.isEmpty else {
      throw Fault.expected("a MIME type without parameters", got: quoted(type.text.string), at: place)
    }
    return type.name
  }
}
