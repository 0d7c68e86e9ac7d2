import DesktopFiles
import Glibc
import ServiceSupport

/// Where it is written what is installed and configured.
struct InstalledPlaces {
  /// The directories of data, the user's first.
  var data = Directories.data()
  /// Those of settings, the user's first.
  var configuration = Directories.configuration()
}

/// What is installed and configured, as of one moment: applications, types of files, and what is known of applications.
struct Installed {
  let applications: Applications
  let files: InstalledFileTypes
  let habits: Habits
  /// Where all this was read from, and where the links in these directories lead.
  let directories: [String]

  init(in places: InstalledPlaces) {
    files = InstalledFileTypes(in: places.data)
    applications = Applications(in: places.data, configuration: places.configuration)
    let own = places.configuration.prefix(1).map { "\($0)/stagedoor" }
    habits = Habits(in: own.first)
    let all = Array(applications.directories) + own + places.data.map { "\($0)/mime" }
    let linked = Set(all.flatMap { SmallFile.directories(linkedFrom: $0, where: Installed.isRead) })
    directories = (all + linked).sorted()
  }

  /// Whether a file of such a name is read. A name without an ending may be a directory of desktop files.
  static func isRead(_ name: String) -> Bool {
    name.hasSuffix(".desktop") || name.hasSuffix("mimeapps.list") || name == "understudy.conf" || name == "globs2"
      || name == "subclasses" || name == "aliases" || !name.contains(".")
  }
}

/// Reads what is installed again when it has changed.
///
/// If the kernel has no room for its notices, everything is read again at each question.
struct InstalledFollower {
  private let places: InstalledPlaces
  private(set) var now: Installed
  private(set) var notices: DirectoryNotices?
  private var problems: [String] = []

  init(in places: InstalledPlaces) {
    self.places = places
    now = Installed(in: places)
    notices = DirectoryNotices(where: Installed.isRead)
    if notices == nil { problems = [String(cString: strerror(errno))] } else { read() }
  }

  /// Whether each change is told.
  var isWatched: Bool { problems.isEmpty }

  /// What a person can mend.
  var complaints: [String] {
    let lead = "what is installed is read again at each question, because the kernel does not tell its changes: "
    return now.habits.complaints + problems.prefix(1).map { lead + $0 }
  }

  /// Watches before it reads, so that no change stays unseen, also in directories that it finds by reading.
  mutating func read() {
    var watched: [String]
    repeat {
      watched = now.directories
      if let found = notices?.watch(watched) { problems = found }
      now = Installed(in: places)
    } while now.directories != watched
  }
}
