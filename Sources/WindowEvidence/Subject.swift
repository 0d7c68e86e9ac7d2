/// A path, a name or a title. Names of files may have any bytes, and two spellings of one letter are two names.
package typealias Bytes = [UInt8]

/// The file that somebody opens, as its path names it and as the disk knows it.
package struct File: Hashable, Sendable {
  /// Absolute, without `.` and `..`.
  package var path: Bytes
  /// Other absolute paths that are known to lead to the same file, such as the path with its links resolved.
  package var otherPaths: Set<Bytes>
  package var node: Node
  /// The time at which the file was made, in microseconds since 1970; `nil` if the file system does not tell.
  package var birth: Int64?

  package init(path: Bytes, otherPaths: Set<Bytes> = [], node: Node, birth: Int64? = nil) {
    (self.path, self.otherPaths, self.node, self.birth) = (path, otherPaths, node, birth)
  }

  package var name: Bytes { File.name(of: path) }

  package var paths: Set<Bytes> { otherPaths.union([path]) }

  package static func name(of path: Bytes) -> Bytes {
    path.lastIndex(of: UInt8(ascii: "/")).map { Bytes(path[($0 + 1)...]) } ?? path
  }

  package static func directory(of path: Bytes) -> Bytes {
    guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return [] }
    return slash == 0 ? Bytes("/".utf8) : Bytes(path[..<slash])
  }

  /// The path without what the kernel writes behind that of a file which is there no more.
  package static func unmarked(_ path: Bytes) -> Bytes {
    let mark = Bytes(" (deleted)".utf8)
    return path.suffix(mark.count) == mark[...] ? Bytes(path.dropLast(mark.count)) : path
  }

  static func path(of name: Bytes, in directory: Bytes) -> Bytes {
    directory + (directory.last == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]) + name
  }
}

/// A file of a disk, under whatever name.
package struct Node: Hashable, Sendable {
  package var device: UInt64
  package var inode: UInt64

  package init(device: UInt64, inode: UInt64) { (self.device, self.inode) = (device, inode) }
}

/// The application that the person has chosen for the file.
package struct Application: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case editor
    /// It shows the content that the file had when it was opened.
    case viewer
    case player
    /// Its titles are written by strangers: a browser, a terminal, a mail or chat program.
    case quoting
  }

  /// What the application does when it is run again with a file that it shows.
  package enum Habit: Hashable, Sendable {
    /// It brings its window or tab to the front.
    case findsFile
    /// It does that by the file's path, and a window of its shows one file.
    case findsWindow
    /// It opens a second window. Each of its processes shows one document.
    case oneProcessForEach
    case unknown
  }

  /// The name of its desktop file, without `.desktop`.
  package var identifier: String
  /// Every name by which its titles may call it, such as `Mousepad`, `gedit`, `GVIM`.
  package var names: Set<Bytes>
  package var kind: Kind
  package var habit: Habit
  /// Whether it writes the whole title itself. Some viewers and all players write there what the document says of itself.
  package var writesOwnTitles: Bool
  /// Whether its titles have the file's directory behind its name.
  package var writesDirectories: Bool

  package init(
    identifier: String, names: Set<Bytes>, kind: Kind = .editor, habit: Habit = .unknown, writesOwnTitles: Bool? = nil,
    writesDirectories: Bool = false
  ) {
    (self.identifier, self.names, self.kind, self.habit) = (identifier, names, kind, habit)
    self.writesOwnTitles = writesOwnTitles ?? (kind == .editor)
    self.writesDirectories = writesDirectories
  }
}

/// A process, as far as the kernel shows it.
package struct Process: Hashable, Sendable {
  package var number: Int32
  /// Its start in microseconds since 1970, by the present clock, as the birth of a file is.
  package var started: Int64
  /// Its start by the kernel's own count, which no change of the clock moves: it tells two processes of one number apart.
  package var ticks: Int64
  /// The files behind its descriptors from 3 on; `nil` if they cannot be read.
  package var held: [HeldFile]?
  /// Its arguments, without options. The working directory may have changed since a relative one was given.
  package var arguments: [Bytes]

  package init(number: Int32, started: Int64, ticks: Int64, held: [HeldFile]? = [], arguments: [Bytes] = []) {
    (self.number, self.started, self.ticks) = (number, started, ticks)
    (self.held, self.arguments) = (held, arguments)
  }

  package struct HeldFile: Hashable, Sendable {
    package var node: Node
    /// Its path now; the kernel says ` (deleted)` behind the path of a file that has none.
    package var path: Bytes

    package init(_ node: Node, path: Bytes) { (self.node, self.path) = (node, path) }
  }
}

/// A display's number of a window.
package typealias WindowNumber = UInt32

/// A window on the screen, with everything that is known about it.
package struct Window: Hashable, Sendable {
  package var number: WindowNumber
  /// The identifier of the application that it belongs to; `nil` if nobody knows.
  package var application: String?
  package var title: Bytes
  /// The number of its process; `nil` on a display that does not tell, and on another machine.
  package var processNumber: Int32?
  /// The process, where somebody has looked at it: a window of another application need not be understood, but counts.
  package var process: Process?
  /// Whether its program runs on this machine.
  package var isLocal: Bool
  /// Whether it is a window of its own, and no dialog or tool of another.
  package var isMain: Bool
  /// What has been seen of the window since it appeared; `nil` if it was there before anyone looked.
  package var history: History?
  /// The path of what a player plays, by its own word.
  package var playing: Bytes?
  /// Whether its application's own service names its process as the one that shows the file.
  package var isNamedByService: Bool

  package init(
    _ number: WindowNumber, application: String?, title: Bytes, processNumber: Int32? = nil, process: Process? = nil,
    isLocal: Bool = true,
    isMain: Bool = true, history: History? = nil, playing: Bytes? = nil, isNamedByService: Bool = false
  ) {
    (self.number, self.application, self.title) = (number, application, title)
    (self.processNumber, self.process) = (processNumber ?? process?.number, process)
    (self.isLocal, self.isMain, self.history, self.playing) = (isLocal, isMain, history, playing)
    self.isNamedByService = isNamedByService
  }

  /// The titles of a window that was watched since it appeared.
  package struct History: Hashable, Sendable {
    /// The path with which we started its program; `nil` if somebody else did.
    package var startedWith: Bytes?
    /// The start of its process by the kernel's count, as it was then.
    package var processStarted: Int64?
    /// All titles that it has had.
    package var titles: [Bytes]
    /// Whether each change of the title was seen, and no other window of the process. Two changes that came at once, or one that wrote the same title
    /// again, hide what was between; a dialog may save the document elsewhere or open its twin, which leaves the title as it is.
    package var isComplete: Bool

    package init(startedWith: Bytes? = nil, processStarted: Int64? = nil, titles: [Bytes], isComplete: Bool = true) {
      (self.startedWith, self.processStarted, self.titles) = (startedWith, processStarted, titles)
      self.isComplete = isComplete
    }

    /// More titles than this are not remembered.
    private static let maximum = 64

    /// Notes the title after a number of changes.
    package mutating func note(_ title: Bytes, changes: Int) {
      if changes == 1, title != titles.last, titles.count < History.maximum {
        titles.append(title)
      } else {
        isComplete = false
      }
    }
  }
}
