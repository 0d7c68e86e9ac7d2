import CGtk4
import Foundation
import StagedoorGTK
import StagedoorKit

/// `stagedoor drag`: a small window from which people who work in a terminal drag files to other windows.
@MainActor struct DragWindow {
  let files: [URL]
  let endsAfterDrop: Bool

  /// A row for each file, and one for all of them.
  var content: Widget {
    let all = files.count > 1 ? [row("All \(files.count) files", Self.icon(of: "text-x-generic"), files)] : []
    let rows = Column(spacing: 0)
    for row in all + files.map({ row($0.lastPathComponent, picture(of: $0), [$0]) }) { rows.append(row) }
    return Scroll(rows.padding(6))
  }

  private func row(_ name: String, _ picture: Widget, _ files: [URL]) -> Widget {
    Row(spacing: 12, picture, Label(name).expand(vertically: false)).padding(6)
      .help(files.map { $0.path(percentEncoded: false) }.joined(separator: "\n"))
      .onDrag(icon: picture) { files.map { DragItem(itemProvider: ItemProvider(file: $0, openInPlace: true)) } }
      .onDragEnd { operation in if endsAfterDrop, operation != .cancel { exit(EXIT_SUCCESS) } }
  }

  private func picture(of file: URL) -> Widget {
    let type = ItemProvider(file: file, openInPlace: true).registeredTypes.first ?? ""
    if type.hasPrefix("image/") { return Picture(.file(file), file.lastPathComponent, within: (48, 48)) }
    return Self.icon(of: type.replacing("/", with: "-"))
  }

  private static func icon(of name: String) -> Widget {
    let icon = Widget { gtk_image_new_from_icon_name(name) }
    icon.raw { gtk_image_set_pixel_size(OpaquePointer($0), 48) }
    return icon
  }
}

/// The words after `stagedoor drag`.
struct Arguments {
  var files: [URL] = []
  var endsAfterDrop = false

  static let usage = """
    usage: stagedoor drag [--once] FILE…
    Opens a small window from which the files can be dragged to any other window.
      -1, --once  end after the first drop
      -h, --help  print this text
    """

  init(_ words: ArraySlice<String>) {
    var takesOptions = true
    for word in words {
      switch word {
      case "--" where takesOptions: takesOptions = false
      case "-1" where takesOptions, "--once" where takesOptions: endsAfterDrop = true
      case "-h" where takesOptions, "--help" where takesOptions:
        print(Self.usage)
        exit(EXIT_SUCCESS)
      case _ where takesOptions && word.hasPrefix("-"): Self.fail("there is no option \(word)\n\(Self.usage)")
      default: files.append(Self.file(word))
      }
    }
    if files.isEmpty { Self.fail("name the files to drag\n\(Self.usage)") }
  }

  private static func file(_ path: String) -> URL {
    var isFolder: ObjCBool = false
    if !FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) { fail("there is no file \(path)") }
    if isFolder.boolValue { fail("\(path) is a folder: name files") }
    return URL(filePath: path).standardizedFileURL
  }

  /// A wrong use of the command has the same status as in `stagedoor` itself.
  private static func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("stagedoor drag: \(message)\n".utf8))
    exit(2)
  }
}

@main enum Main {
  static func main() {
    let arguments = Arguments(CommandLine.arguments.dropFirst())
    let rows = arguments.files.count + (arguments.files.count > 1 ? 1 : 0)
    GtkStage.runWindow(titled: "Drag", size: (340, min(70 + 72 * rows, 600))) {
      DragWindow(files: arguments.files, endsAfterDrop: arguments.endsAfterDrop).content
    }
  }
}
