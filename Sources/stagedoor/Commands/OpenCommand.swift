import DBus
import DesktopFiles
@preconcurrency import Glibc
import SceneModel
import ServiceSupport
import StagedoorKit

/// Brings the window that shows a file to the front, or opens the file.
///
/// The understudy knows the windows. If it does not answer in time, `xdg-open` opens the file. Only one of the two may do so: each first reads the
/// ticket, the only byte in a pipe, and without the ticket opens nothing.
enum OpenCommand {
  private static let patience = Duration.milliseconds(300)

  static func run(_ invocation: Invocation) async throws {
    if invocation.has(.makeDefault) || invocation.has(.undoDefault) {
      guard invocation.arguments.isEmpty else { throw Problem.usage("--make-default and --undo-default take no file") }
      return try DefaultHandler.change(invocation)
    }
    guard !invocation.arguments.isEmpty else {
      throw Problem.usage("FILE|URL is missing: \(invocation.command.usage.synopsis)")
    }
    // Everything is looked at before the first is opened.
    let urls = try invocation.arguments.map(url)
    var invocation = invocation
    if let text = invocation[.appOpening] { invocation.given.replace(.appOpening, with: try application(text)) }
    var (connection, reason) = (nil as Connection?, "")
    do throws(ConnectionError) { connection = try await Connection.session(on: invocation.loop) } catch {
      reason = "\(error)"
    }
    var asksService = true
    var failure: Problem?
    for (argument, url) in zip(invocation.arguments, urls) {
      do {
        if let connection, asksService {
          switch try await showInSession(argument, connection, invocation) {
          case true?: continue
          case false?: break
          // A service that is late once would cost as much for each file.
          case nil: asksService = false
          }
        }
        if let connection, FileURL.isValid(Text(url)) {
          try await open(url, connection, invocation)
        } else {
          try handOver(url, reason, invocation)
        }
      } catch {
        // A file that cannot be opened does not keep the others from being opened.
        if let failure { Output.note("stagedoor open: \(failure.sentence)") }
        failure = Problem(of: error)
      }
    }
    if let failure { throw failure }
  }

  private static func open(_ url: String, _ connection: Connection, _ invocation: Invocation) async throws {
    let ticket = try Ticket()
    var options: [String: Variant] = ["ticket": Variant(ticket.readEnd)]
    if let application = invocation[.appOpening] { options["application"] = Variant(application) }
    if invocation.has(.newOpening) { options["new"] = true }
    if invocation.has(.explainOpening) { options["explain"] = true }
    if let token = DesktopToken.current { options["activation-token"] = Variant(token) }
    let (deed, window, report): (String, String, String)
    do throws(CallError) {
      (deed, window, report) = try await Understudy(on: connection).object.call(
        "Open", url, options, timeout: invocation.has(.explainOpening) ? .seconds(5) : patience,
        returning: String.self, String.self, String.self)
    } catch {
      if case .replied(let reason) = error {
        if reason.name.rawValue == StagedoorError.Code.noSuchApplication.rawValue, let text = invocation[.appOpening] {
          let names = Applications.installed.entries.flatMap { [$0.identifier, $0.identifier.lastPart] }
          let meant = Suggestion.sentence(for: text, among: names).map { "; \($0)" } ?? ""
          throw Problem(.refused, "\(reason.text)\(meant)", error: reason.name.rawValue)
        }
        // The application has certainly not started.
        if reason.name.rawValue == StagedoorError.Code.launchFailed.rawValue {
          return try handOver(url, reason.text, invocation)
        }
      }
      if invocation.has(.explainOpening) { throw Problem(.noService, Understudy.sentence(of: error)) }
      if ticket.take() {
        try handOver(url, Understudy.sentence(of: error), invocation)
      } else if case .replied(let reason) = error {
        throw Problem(.applicationFailed, reason.text)
      } else {
        // The understudy has begun, and its answer is late. A second application must not open the file.
        Output.note("stagedoor open: the understudy began to open \(url), and does not say how that ended")
      }
      return
    }
    if invocation.has(.explainOpening) {
      return try explain(report, invocation) { OpeningPicture.text(try Printed.value(report), invocation.screen) }
    }
    try say(deed, invocation, [("window", window.isEmpty ? nil : .text(window))])
  }

  /// Prints a picture on a terminal, and elsewhere the document that it is made of.
  private static func explain(_ json: String, _ invocation: Invocation, as picture: () throws -> String) throws {
    if invocation.screen.isTerminal, !invocation.has(.json) { return try Output.write(picture()) }
    try Output.line(json.printableJSON)
  }

  private static func say(
    _ deed: String, _ invocation: Invocation, _ details: [(String, Value?)] = []
  ) throws(Problem) {
    if invocation.has(.json) { try Output.line(Printed.shown(Printed.object([("deed", .text(deed))] + details))) }
  }

  // MARK: In a session

  /// The longest wait for a service that has answered a moment ago, and only needs to store and say that it has a delivery.
  private static let patienceForStoring = Duration.seconds(2)

  /// Brings the window of the session that shows a file or a link to the front, if one does. Returns `nil` if the service answers too late.
  private static func showInSession(
    _ argument: String, _ connection: Connection, _ invocation: Invocation
  ) async throws -> Bool? {
    var client = Client(on: connection)
    let found: (session: SessionIdentifier, decision: Decision)?
    do throws(StagedoorError) { found = try await self.session(showing: argument, client, invocation) } catch {
      return error.code == .timedOut ? nil : false
    }
    guard let (session, decision) = found else { return false }
    if invocation.has(.explainOpening) {
      let fields: [(String, Value?)] = [
        ("verdict", .text("activate")), ("session", .text("\(session)")),
        ("decision", try Printed.value(decision.json)),
      ]
      try explain(Printed.json(Printed.object(fields)), invocation) {
        DecisionPicture.text(try Printed.value(decision.json), .null, invocation.screen)
      }
      return true
    }
    client.stagedoor.timeout = patienceForStoring
    guard await isActivated(session, argument, client, invocation) else { return false }
    try say("activated", invocation, [("session", .text("\(session)"))])
    return true
  }

  /// The session that has a window with a file or a link as its content, and the decision that found it. A service that does not run is not started
  /// for this question.
  private static func session(
    showing argument: String, _ client: Client, _ invocation: Invocation
  ) async throws(StagedoorError) -> (SessionIdentifier, Decision)? {
    if invocation.has(.newOpening) { return nil }
    let end = ContinuousClock.now + patience
    guard var stagedoor = await client.stagedoor.withoutStarting(),
      let item = try? HandedItem(file: argument, isCopy: false)
    else { return nil }
    func left() -> Duration { max(.zero, end - .now) }
    let options = Printed.object([("application", invocation[.appOpening].map { .text($0) })])
    stagedoor.timeout = left()
    let payload = Printed.json(Printed.object([("items", .array([item.json])), ("options", options)]))
    let decision = try await stagedoor.explain(document: payload)
    guard let identifier = decision.session else { return nil }
    stagedoor.timeout = left()
    let session = try await stagedoor.session(identifier)
    guard session.isConnected, !session.targetContentIdentifier.isEmpty,
      session.targetContentIdentifier == decision.key?.value
    else { return nil }
    stagedoor.timeout = left()
    // The understudy knows more of its windows than the service does.
    return try await stagedoor.application(session.application).isUnderstudied ? nil : (identifier, decision)
  }

  /// Whether the application brings the window to the front, or is about to. Whatever else happens, the file is opened in another way, so the delivery
  /// has a short deadline: nobody wants the window later. It brings no item: the window shows the file already, and would take it a second time.
  private static func isActivated(
    _ session: SessionIdentifier, _ argument: String, _ client: Client, _ invocation: Invocation
  ) async -> Bool {
    let options: [(String, Value?)] = [
      ("session", .text("\(session)")), ("token", .text("open-\(getpid())-\(UInt64.random(in: .min ... .max))")),
      ("deadline", .integer(5)), ("activationToken", DesktopToken.current.map { .text($0) }),
    ]
    let document = Printed.json(Printed.object([("options", Printed.object(options))]))
    guard let delivery = try? await client.stored({ try await $0.deliver(document: document) }).identifier else {
      return false
    }
    let state = try? await WaitCommand.finished(delivery, client, within: patience / .seconds(1), on: invocation.loop)
    if let state { return state == .handled }
    if (try? await client.stagedoor.cancel(delivery)) != nil { return false }
    // A delivery that waits no more has failed meanwhile, or an application has it.
    switch try? await client.stagedoor.delivery(delivery).state {
    case .handled, .forwarded: return true
    case .routed:
      Output.note("stagedoor open: the application of the window that shows \(argument.printable) is slow")
      return true
    case .held, .failed, .cancelled, nil: return false
    }
  }

  // MARK: Without the understudy

  private static func handOver(_ url: String, _ reason: String, _ invocation: Invocation) throws(Problem) {
    if let application = invocation[.appOpening] {
      let cause = FileURL.isValid(Text(url)) ? reason : "\(url.printable) is a link"
      throw Problem(.noService, "\(cause), and xdg-open cannot choose the application \(application.printable)")
    }
    if invocation.has(.explainOpening) {
      throw Problem(.noService, reason.isEmpty ? "there is nothing to explain about \(url.printable)" : reason)
    }
    if let path = FileURL.path(of: Text(url)), case let applications = Applications.installed,
      applications.isHandlerChosen
    {
      return try start(url, path, applications, reason, invocation)
    }
    if !reason.isEmpty {
      Output.note("stagedoor open: \(reason); xdg-open opens the file, and this command ends when xdg-open does")
    }
    // Where this command is the choice for the type, xdg-open asks for the same thing again, such as a file on another machine.
    let mark = "STAGEDOOR_HANDED_OVER"
    if getenv(mark).map({ String(cString: $0) }) == url, Applications.installed.isHandlerChosen {
      throw Problem(.applicationFailed, "xdg-open knows no other application for \(url.printable)")
    }
    // In the caller's group, because it may start a program that reads the terminal.
    let variables = Environment.all(adding: ["\(mark)=\(url)"])
    let (process, error) = Spawn.start(["xdg-open", url].map { Array($0.utf8) }, environment: variables, in: .caller) {
      _ in
    }
    if error != 0 { throw Problem(.applicationFailed, "xdg-open: \(String(cString: strerror(error)))") }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    if status != 0 {
      let cause = reason.isEmpty ? "" : "; before that, \(reason)"
      throw Problem(.applicationFailed, "xdg-open could not open \(url.printable)\(cause)")
    }
    try say("handed over", invocation)
  }

  /// Starts the person's second choice. `xdg-open` would ask the first one, which is this command.
  private static func start(
    _ url: String, _ path: [UInt8], _ applications: Applications, _ reason: String, _ invocation: Invocation
  ) throws(Problem) {
    let type = LocalFile.types.type(ofFile: path)
    guard let entry = applications.application(for: type) ?? typeByContent(of: path).flatMap(applications.application)
    else {
      throw Problem(.applicationFailed, "no other application opens \(type), the type of \(url.printable)")
    }
    if entry.isTerminal {
      throw Problem(.applicationFailed, "\(entry.name.printable) needs a terminal, which nothing here opens")
    }
    if !reason.isEmpty { Output.note("stagedoor open: \(reason); \(entry.name.printable) opens the file") }
    let words = entry.command(opening: path, url: url)
    let variables = Environment.all(adding: ["GIO_LAUNCHED_DESKTOP_FILE=\(entry.path)"])
    let (_, error) = Spawn.start(words, environment: variables, in: .session) { actions in
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    }
    if error != 0 {
      throw Problem(.applicationFailed, "\(entry.program.printable): \(String(cString: strerror(error)))")
    }
    try say("handed over", invocation)
  }

  /// The desktop's own word for what is in a file: it knows more beginnings.
  private static func typeByContent(of path: [UInt8]) -> ContentType? {
    PrintedLine.first(of: ["xdg-mime", "query", "filetype"].map { Array($0.utf8) } + [path]).flatMap {
      ContentType(Text($0))
    }
  }

  // MARK: The argument

  /// The name of a desktop file, found by the whole, the beginning or the last part, as `stagedoor apps` writes it too. A text that means none stays as it
  /// is: an application that takes part needs no desktop file.
  private static func application(_ text: String) throws(Problem) -> String {
    let isWhole = Directories.data().contains { access("\($0)/applications/\(text).desktop", F_OK) == 0 }
    if isWhole { return text }
    let names = Applications.installed.entries.map(\.identifier)
    // The service needs a name that can stand on the bus.
    let registered = "desktop."
    if text.hasPrefix(registered), names.contains(String(text.dropFirst(registered.count))) {
      return String(text.dropFirst(registered.count))
    }
    return try Shortened.application(text, among: names)
  }

  /// The URL of an argument. Links in a path stay, because titles name the path that the person used.
  private static func url(of argument: String) throws(Problem) -> String {
    guard let path = try HandedItem.path(of: argument) else { return argument }
    let shown = String(decoding: path, as: UTF8.self).printable
    var status = stat()
    guard stat(path.map { CChar(bitPattern: $0) } + [0], &status) == 0 else {
      let reason = InputFile.reason
      throw .failed(
        "\(shown): \(reason)"
          + (isLikeLink(argument) ? "; if this is a link, write its scheme, as in https://\(argument.printable)" : ""))
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR: throw .failed("\(shown) is a directory; name the files that are in it")
    default: throw .failed("\(shown) is no regular file")
    }
    guard let whole = LocalFile.absolute(path), let normal = normal(whole) else {
      throw .failed("\(shown): \(InputFile.reason)")
    }
    return FileURL.text(ofPath: normal).string
  }

  /// The path without `.` and empty parts. Where it has `..`, its links are resolved, because `..` of a link leads elsewhere; `nil` if they cannot be.
  private static func normal(_ path: [UInt8]) -> [UInt8]? {
    let parts = path.split(separator: UInt8(ascii: "/")).filter { !$0.elementsEqual(".".utf8) }
    if !parts.contains(where: { $0.elementsEqual("..".utf8) }) { return parts.flatMap { [UInt8(ascii: "/")] + $0 } }
    return LinkTarget.last(of: path)
  }

  /// Whether a word that names no file looks like a link without its scheme: `example.org/page`.
  private static func isLikeLink(_ word: String) -> Bool {
    let host = word.split(separator: "/", omittingEmptySubsequences: false).first ?? ""
    return word.contains("/") && host.contains(".") && !host.hasPrefix(".") && !host.hasSuffix(".")
      || word.hasPrefix("www.")
  }
}

/// One byte in a pipe. Only its reader may open the file.
private struct Ticket {
  let readEnd: OwnedFileDescriptor

  init() throws {
    let pipe = try OwnedFileDescriptor.pipe()
    readEnd = pipe.readEnd
    readEnd.withRawValue { _ = fcntl($0, F_SETFL, O_NONBLOCK) }
    let written = pipe.writeEnd.withRawValue { write($0, "1", 1) }
    if written != 1 { throw Problem.failed("a pipe takes no byte: \(InputFile.reason)") }
  }

  func take() -> Bool {
    var byte: UInt8 = 0
    return readEnd.withRawValue { read($0, &byte, 1) } == 1
  }
}

extension String {
  /// `mousepad` of `org.xfce.mousepad`.
  fileprivate var lastPart: String { split(separator: ".").last.map(String.init) ?? self }
}
