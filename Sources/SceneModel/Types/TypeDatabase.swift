/// One directory of the desktop's shared MIME database: its files `subclasses` and `aliases`.
package struct TypeDatabase: Sendable {
  /// The name in messages: the directory's path.
  package let name: String
  /// Lines of a type and a parent: `image/svg+xml application/xml`.
  package let subclasses: [UInt8]
  /// Lines of another name and its type: `image/x-bmp image/bmp`.
  package let aliases: [UInt8]

  package init(name: String, subclasses: [UInt8], aliases: [UInt8]) {
    self.name = name
    self.subclasses = subclasses
    self.aliases = aliases
  }
}

extension Limits {
  /// The bytes of a file of the shared MIME database: a hundred times the size in Debian. Each line becomes an entry that is kept as long as the
  /// service runs.
  package static let typeDatabase = 2 << 20

  /// The problems of the whole database that are reported one by one: the person who repairs the file looks at it after the first few.
  static let typeProblems = 20
}

// MARK: - Lines

/// Two names on one line of a database's file.
struct TypePair: Sendable {
  let first: Text
  let second: Text
  let line: Int
}

/// The faults of the databases. A faulty line is ignored, and the others count.
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
    var pairs: [TypePair] = []
    for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
      if line.isEmpty || line.first == UInt8(ascii: "#") { continue }
      do throws(Fault) {
        pairs.append(try TypeDatabase.pair(line, index + 1))
      } catch {
        problems.add(Fault(error.kind, at: "\(name)/\(fileName), line \(index + 1)", error.reason))
      }
    }
    return pairs
  }

  private static func pair(_ line: ArraySlice<UInt8>, _ number: Int) throws(Fault) -> TypePair {
    let isSpace = { MIMESyntax.isSpace($0) || $0 == UInt8(ascii: "\r") }
    let names = line.split(maxSplits: 2, whereSeparator: isSpace)
    guard names.count == 2 else {
      let shown = String(decoding: line.prefix(4 * maximumShown), as: UTF8.self)
      throw Fault.expected("two content types", got: quoted(shown), at: .document)
    }
    let pair = TypePair(first: try name(names[0]), second: try name(names[1]), line: number)
    if pair.first == pair.second { throw Fault(at: .document, "\(quoted(pair.first.string)) is said to be itself") }
    return pair
  }

  private static func name(_ bytes: ArraySlice<UInt8>) throws(Fault) -> Text {
    let type = try ContentType(Text(String(decoding: bytes, as: UTF8.self)), as: .carried, at: .document)
    guard type.form == .mime, type.parameters.isEmpty else {
      throw Fault.expected("a MIME type without parameters", got: quoted(type.text.string), at: .document)
    }
    return type.name
  }
}
