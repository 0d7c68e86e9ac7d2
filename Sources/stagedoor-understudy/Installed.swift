import DesktopFiles
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
  /// Where all this was read from.
  let directories: [String]

  init(in places: InstalledPlaces) {
    files = InstalledFileTypes(in: places.data)
    applications = Applications(in: places.data, configuration: places.configuration)
    let own = places.configuration.prefix(1).map { "\($0)/stagedoor" }
    habits = Habits(in: own.first)
    directories = Array(applications.directories) + own + places.data.map { "\($0)/mime" }
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

  init(in places: InstalledPlaces) {
    self.places = places
    now = Installed(in: places)
    notices = DirectoryNotices(where: Installed.isRead)
    if notices != nil { read() }
  }

  /// Watches before it reads, so that no change stays unseen.
  mutating func read() {
    _ = notices?.watch(now.directories)
    now = Installed(in: places)
  }
}
