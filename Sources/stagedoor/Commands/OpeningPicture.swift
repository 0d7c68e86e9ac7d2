import SceneModel
import ServiceSupport

/// What the understudy would do with a file, as a picture: the application, every window with what speaks for and against it, and the verdict.
enum OpeningPicture {
  static func text(_ report: Value, _ screen: Screen) -> String {
    var lines = [
      screen.styled(Printed.text(report["path"]), .heading), "|",
      "+- application    \(Printed.text(report["application"]))",
    ]
    for note in report["notes"]?.elements ?? [] { lines += wrapped(Printed.text(note), behind: "|    ", screen) }
    let windows = report["windows"]?.elements ?? []
    let shown = report["window"]?.string
    lines.append(windows.isEmpty ? "+- no window" : "+- windows")
    for window in windows { lines += rows(window, isShown: window["window"]?.string == shown, screen) }
    lines += ["|"] + end(report, shown, screen)
    return lines.map { $0 + "\n" }.joined()
  }

  private static func rows(_ window: Value, isShown: Bool, _ screen: Screen) -> [String] {
    let level = Printed.text(window["level"]), identifier = "\(WindowsCommand.mark)\(Printed.text(window["window"]))"
    let head = "|  \(isShown ? ">" : " ") "
    let used = head.columns + 7 + 2 + identifier.columns + 2
    let title = Printed.text(window["title"]).fitted(max(10, screen.width - used))
    let row =
      "\(head)\(screen.styled(level.padded(7), Style(of: level)))  \(screen.styled(identifier, .identifier))  \(title)"
    return [row]
      + (["for", "against"] as [Text]).flatMap { side in
        (window[side]?.elements ?? []).flatMap { wrapped("\(side): \(Printed.text($0))", behind: "|        ", screen) }
      }
  }

  private static func end(_ report: Value, _ shown: String?, _ screen: Screen) -> [String] {
    let verdict = Printed.text(report["verdict"])
    let window = shown.map { " \(WindowsCommand.mark)\($0.printable)" } ?? ""
    let meaning =
      switch verdict {
      case "raise": "this window comes to the front"
      case "run again" where shown != nil: "the application is run with the file, and this window comes to the front"
      case "run again": "the application is run with the file, and finds its own window"
      default: "the application is started with the file"
      }
    let lines = "\(verdict)\(window): \(meaning)"
    return wrapped(lines, behind: "=> ", then: "   ", screen)
  }

  private static func wrapped(
    _ text: String, behind start: String, then next: String? = nil, _ screen: Screen
  ) -> [String] {
    text.wrapped(max(20, screen.width - start.columns)).behind(start, then: next)
  }
}
