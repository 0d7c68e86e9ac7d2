internal import CFiles
internal import DBus
internal import Glibc

/// The settings of a new process.
struct Spawn {
  /// The path of the program; PATH is not searched.
  var executable: String
  /// All arguments, the name of the program first.
  var arguments: [String]
  var environment: [String: String]
  /// The child's descriptors: the one at index 0 becomes its standard input, and so on. The child gets no other descriptors of this
  /// process, and none that this process inherited.
  var descriptors: [OwnedFileDescriptor]
  /// Whether the child gets a session of its own, without a terminal and without signals from the terminal.
  var isDetached = true

  /// `POSIX_SPAWN_SETSID`, which the Glibc module hides.
  private static let newSession: Int32 = 0x80

  /// Starts the process with default signal handling, as a shell does. Returns its identifier.
  ///
  /// The process has copies of the descriptors, and this one closes its own: they would keep pipes open.
  func start() throws(SystemCallError) -> pid_t {
    defer { for descriptor in descriptors { descriptor.close() } }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    // The copies have high numbers, so moving one into its place never overwrites the next.
    var copies: [Int32] = []
    defer { for copy in copies { close(copy) } }
    for (index, descriptor) in descriptors.enumerated() {
      let copy = descriptor.withRawValue { fcntl($0, F_DUPFD_CLOEXEC, 64) }
      guard copy >= 0 else { throw SystemCallError("fcntl") }
      copies.append(copy)
      posix_spawn_file_actions_adddup2(&actions, copy, Int32(index))
    }
    posix_spawn_file_actions_addclosefrom_np(&actions, Int32(descriptors.count))

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    let flags = (isDetached ? Self.newSession : 0) | Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)
    posix_spawnattr_setflags(&attributes, Int16(flags))

    var words = arguments.map { strdup($0) } + [nil]
    var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for text in words + variables { free(text) } }
    var pid: pid_t = 0
    let code = posix_spawn(&pid, executable, &actions, &attributes, &words, &variables)
    guard code == 0 else { throw SystemCallError("posix_spawn of \(executable)", code) }
    return pid
  }
}
