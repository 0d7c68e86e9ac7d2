internal import DBus
internal import Glibc

/// What a new process is made of.
struct Spawn {
  /// A path; nothing is looked up.
  var executable: String
  /// All of them, the name of the program first.
  var arguments: [String]
  var environment: [String: String]
  /// The child's descriptors: what stands at index 0 becomes its standard input, and so on. It gets none of our others,
  /// since they are closed on exec.
  var descriptors: [OwnedFileDescriptor]
  /// Whether it gets a session of its own: signals from the terminal do not reach it there, and it has no terminal.
  var isDetached = true

  /// `POSIX_SPAWN_SETSID`, which the Glibc module hides.
  private static let newSession: Int32 = 0x80

  /// Starts the process with the signals as a shell leaves them. Returns its identifier.
  func start() throws(SystemCallError) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    // Copies high up, so that putting one in its place never overwrites the next.
    var copies: [Int32] = []
    defer { for copy in copies { close(copy) } }
    for (index, descriptor) in descriptors.enumerated() {
      let copy = descriptor.withRawValue { fcntl($0, F_DUPFD_CLOEXEC, 64) }
      guard copy >= 0 else { throw SystemCallError("fcntl") }
      copies.append(copy)
      posix_spawn_file_actions_adddup2(&actions, copy, Int32(index))
    }

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

    var pid: pid_t = 0
    let code = withCStrings(arguments) { arguments in
      withCStrings(environment.map { "\($0.key)=\($0.value)" }) { environment in
        posix_spawn(&pid, executable, &actions, &attributes, arguments, environment)
      }
    }
    guard code == 0 else { throw SystemCallError("posix_spawn of \(executable)", code) }
    return pid
  }

  private func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
  ) -> Result {
    var pointers = strings.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    return pointers.withUnsafeMutableBufferPointer { buffer in
      // A terminated array has a first element.
      guard let start = buffer.baseAddress else { preconditionFailure("an array with an element has an address") }
      return body(start)
    }
  }
}
