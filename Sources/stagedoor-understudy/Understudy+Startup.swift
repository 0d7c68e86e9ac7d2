import DBus
import WindowEvidence

/// Startup sequences. A launcher begins one, and gives its name away as the token. The pointer looks busy until the sequence ends, for half a minute if
/// nobody ends it: a program that is started may not know of sequences, and where a window is only raised there is no such program.
extension Understudy {
  /// Ends the caller's sequence when a window of the application comes; at the latest, when no person waits any more.
  func awaitStartup(_ token: String?, of application: String) {
    guard let token else { return }
    startups[token] = application
    connection.loop.task { [busyTime] in
      await self.connection.loop.sleep(for: busyTime)
      if self.startups[token] != nil { self.endStartup(token) }
    }
  }

  func endStartup(_ token: String?) {
    guard let token else { return }
    startups[token] = nil
    display.endStartup(Bytes(token.utf8))
  }

  /// Ends the sequences that waited for a window of an application.
  func endStartups(of application: String?) {
    for (token, awaited) in startups where awaited == application { endStartup(token) }
  }
}
