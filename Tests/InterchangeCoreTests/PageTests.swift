import SceneModel
import SceneTestSupport
import Testing

@testable import InterchangeCore

/// `docs/limits.md` and `docs/lives.md` agree with the code.
@Suite struct PageTests {
  // MARK: Limits

  private static let sources = [
    "Allowance": "Sources/Interchange/Core/Ledger.swift", "Host": "Sources/Interchange/Core/Host.swift",
    "Memory": "Sources/Interchange/Core/Memory.swift", "PromptBook": "Sources/Interchange/Core/Rounds.swift",
    "Turn": "Sources/Interchange/Turns/Prompter.swift", "Limits": "Sources/SceneModel/Faults/Limits.swift",
    "PayloadOptions": "Sources/SceneModel/Documents/PayloadOptions.swift",
    "HistoryLimits": "Sources/SessionStore/HistoryLimits.swift", "CallQueue": "Sources/DBus/Server/CallQueue.swift",
    "TurnShare": "Sources/DBus/Server/Connection+Serve.swift",
    "StoreDirectory": "Sources/SessionStore/Files/StoreDirectory.swift",
    "RunningHandlers": "Sources/DBus/Server/RunningHandlers.swift",
    "Drag": "Sources/Interchange/Core/Drag.swift",
    "BaggageLimits": "Sources/Baggage/BaggageLimits.swift",
    "CredentialsCache": "Sources/DBus/Connection/Credentials.swift",
    "Consultations": "Sources/Interchange/Shell/Consulting.swift", "Releases": "Sources/Interchange/Shell/Items.swift",
    "RuleLimits": "Sources/TextRules/Rule.swift", "Parcel": "Sources/SceneModel/Documents/Parcel.swift",
    "SessionStore": "Sources/SessionStore/Reading/SessionStore+Sessions.swift",
    "PromptBook.longestDeferral": "Sources/Interchange/Core/Forwarding.swift",
  ]

  /// The value of a constant in the source: numbers, `<<`, `*`, `/`, `+`, `-` and other constants of its file.
  private func value(of name: String, in source: String) throws -> Int {
    let declaration = try Regex("\\b\(name)(: \\w+)? = ([^\\n,)]+)", as: (Substring, Substring?, Substring).self)
    let found = try #require(source.firstMatch(of: declaration), "\(name) is not declared")
    var expression = found.output.2.split(separator: " ").map(String.init)
    for operations in [["<<"], ["*", "/"], ["+", "-"]] {
      while let place = expression.firstIndex(where: operations.contains) {
        let (one, other) = (try number(expression[place - 1], source), try number(expression[place + 1], source))
        let result =
          switch expression[place] {
          case "<<": one << other
          case "*": one * other
          case "/": one / other
          case "+": one + other
          default: one - other
          }
        expression.replaceSubrange(place - 1...place + 1, with: ["\(result)"])
      }
    }
    return try number(expression[0], source)
  }

  private func number(_ word: String, _ source: String) throws -> Int {
    if let number = Int(word.filter { $0 != "_" }) { return number }
    return try value(of: String(word.split(separator: ".").last ?? ""), in: source)
  }

  /// A number of the page with its unit.
  private func number(onPage cell: String) throws -> Int {
    let words = cell.split(separator: " ")
    let units = ["KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "days": 86_400_000_000]
    let number = try #require(Int(words[0].filter { $0 != "," }), "\(cell) is no number")
    return number * (words.count > 1 ? try #require(units[String(words[1])]) : 1)
  }

  @Test func `each limit on the page is that of the code`() throws {
    var names: Set<String> = []
    for row in try Page("docs/limits.md").rows where row.count == 4 && row[2].hasPrefix("`") {
      let name = row[2].filter { $0 != "`" }
      let parts = name.split(separator: ".").map(String.init)
      let file = PageTests.sources[name] ?? PageTests.sources[parts[0]]
      let source = try Page(try #require(file, "\(name) is nowhere")).text
      #expect(try number(onPage: row[1]) == value(of: parts[1], in: source), "\(name)")
      #expect(!row[3].isEmpty, "\(name) has no reason")
      #expect(names.insert(name).inserted, "\(name) stands twice")
    }
    #expect(names.count > 40)
    // The page must list every constant of the two types that contain only limits.
    for (type, declaration) in [("Allowance", "package var "), ("Limits", "package static let ")] {
      for line in try Page(try #require(PageTests.sources[type])).lines {
        let line = line.trimming(" ")
        guard line.hasPrefix(declaration), line.contains(" = ") else { continue }
        let name = line.dropFirst(declaration.count).prefix { $0 != " " && $0 != ":" }
        #expect(names.contains("\(type).\(name)"), "\(type).\(name) is not on the page")
      }
    }
  }

  // MARK: Lives

  /// The words between backticks in the first and third cells of the tables below a heading, or in the first ones only.
  private func states(below heading: String, cells: [Int]) throws -> Set<String> {
    var words: Set<String> = []
    for row in try Page("docs/lives.md").section(heading).rows {
      for cell in cells where cell < row.count {
        words.formUnion(row[cell].matches(of: /`(\w+)`/).map { String($0.output.1) })
      }
    }
    return words
  }

  /// The names of the cases of an enumeration, as its source declares them.
  private func cases(of name: String, in file: String, of module: String = "Interchange/Core") throws -> Set<String> {
    let source = try Page("Sources/\(module)/\(file)").text
    let start = try #require(source.firstRange(of: "enum \(name): "))
    let body = source[start.upperBound...]
    let end = body.firstRange(of: "\n  }\n")?.lowerBound ?? body.endIndex
    return Set(body[..<end].matches(of: /\n +(?:indirect )?case (\w+)/).map { String($0.output.1) })
  }

  @Test func `the states of the tables are those of the code`() throws {
    #expect(try states(below: "A delivery", cells: [0, 2]) == Set(DeliveryState.allCases.map(\.rawValue)))
    #expect(try states(below: "A packing", cells: [0]) == cases(of: "Purpose", in: "Packing.swift"))
    #expect(
      try states(below: "What a delivery carries", cells: [0])
        == cases(of: "Content", in: "Parcel.swift", of: "SceneModel/Documents"))
    #expect(try states(below: "A drag", cells: [0, 2]) == Set(DragState.allCases.map(\.rawValue)))
    #expect(try states(below: "A scene", cells: [0, 2]) == Set(SceneState.allCases.map(\.rawValue)))
    let (stages, acts) = (try cases(of: "Stage", in: "Host.swift"), try cases(of: "Act", in: "Host.swift"))
    #expect(try states(below: "A host", cells: [0]) == stages.union(acts))
    #expect(stages == ["welcome", "ready"])
    #expect(acts.count == 8)
    let starts = Set(
      [Start.asking(number: 1, isKnown: false), .begun(number: 1, since: 0), .ended(until: 0), .impossible(since: 0)]
        .map { String("\($0)".prefix { $0 != "(" }) })
    #expect(try states(below: "A start", cells: [0, 2]) == starts)
  }
}
