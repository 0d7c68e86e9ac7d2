package import Glibc

/// Starts a program that receives every signal, whatever signals this process ignores or blocks.
package enum Spawn {
  package enum Distance: Sendable {
    /// The process group of the caller.
    case caller
    /// A process group of its own: the terminal's Ctrl-C does not reach it.
    case group
    /// A session of its own, without a terminal.
    case session

    fileprivate var flag: Int32 {
      switch self {
      case .caller: 0
      case .group: Int32(POSIX_SPAWN_SETPGROUP)
      case .session: 0x80  // POSIX_SPAWN_SETSID, which Swift cannot import
      }
    }
  }

  /// - Parameters:
  ///   - environment: "NAME=value"; `nil` for the environment of this process.
  ///   - describe: sets up the descriptors of the program.
  package static func start(
    _ words: [String], environment: [String]? = nil, in distance: Distance,
    _ describe: (inout posix_spawn_file_actions_t) -> Void
  ) -> (process: pid_t, error: Int32) {
    start(words.map { Array($0.utf8) }, environment: environment?.map { Array($0.utf8) }, in: distance, describe)
  }

  package static func start(
    _ words: [[UInt8]], environment: [[UInt8]]? = nil, in distance: Distance,
    _ describe: (inout posix_spawn_file_actions_t) -> Void
  ) -> (process: pid_t, error: Int32) {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    describe(&actions)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    let flags = Int32(POSIX_SPAWN_SETSIGDEF) | Int32(POSIX_SPAWN_SETSIGMASK) | distance.flag
    posix_spawnattr_setflags(&attributes, Int16(flags))
    func terminated(_ text: [UInt8]) -> [CChar] { text.map { CChar(bitPattern: $0) } + [0] }
    let program = terminated(words[0])
    var arguments = words.map { strdup(terminated($0)) } + [nil]
    var variables = (environment ?? []).map { strdup(terminated($0)) } + [nil]
    defer { for text in arguments + variables { free(text) } }
    var process = pid_t()
    let error =
      environment == nil
      ? posix_spawnp(&process, program, &actions, &attributes, &arguments, environ)
      : posix_spawnp(&process, program, &actions, &attributes, &arguments, &variables)
    return (process, error)
  }
}
