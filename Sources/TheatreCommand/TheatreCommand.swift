import Glibc
import Theatre

/// `theatre [--seconds N] [--seed N] [--plays N] [--acts N] [--story] [--transcript] [FILE…]`
///
/// Plays one seed after another until the time is over, or the scripts in the files. If a law breaks, the command tells the story of the shortest
/// play that breaks it, and ends with status 1.
@main
struct TheatreCommand {
  private var seconds = 10.0
  private var seed: UInt64?
  private var plays = Int.max
  private var acts = 4_000
  private var tellsStory = false
  private var shortens = true
  private var writesTranscript = false
  private var files: [String] = []

  static func main() {
    do {
      var command = TheatreCommand()
      guard command.read(CommandLine.arguments.dropFirst()) else {
        print(
          "usage: theatre [--seconds N] [--seed N] [--plays N] [--acts N] [--story] [--whole] [--transcript] [FILE…]")
        exit(2)
      }
      exit(try command.run())
    } catch {
      print("\(error)")
      exit(3)
    }
  }

  private mutating func read(_ arguments: ArraySlice<String>) -> Bool {
    var arguments = arguments
    while let argument = arguments.popFirst() {
      switch argument {
      case "--story": tellsStory = true
      case "--whole": shortens = false
      case "--transcript": writesTranscript = true
      case "--seconds", "--seed", "--plays", "--acts":
        guard let number = arguments.popFirst().flatMap({ UInt64($0) }) else { return false }
        switch argument {
        case "--seconds": seconds = Double(number)
        case "--seed": seed = number
        case "--plays": plays = Int(number)
        default: acts = Int(number)
        }
      default:
        if argument.hasPrefix("-") { return false }
        files.append(argument)
      }
    }
    return true
  }

  private func run() throws -> Int32 {
    if !files.isEmpty { return try playFiles() }
    if writesTranscript {
      print(try Transcript(seed: seed ?? 1, length: acts).text, terminator: "")
      return 0
    }
    var seed = seed ?? UInt64(clockOf(CLOCK_REALTIME) * 1000)
    let (start, begun) = (clockOf(CLOCK_PROCESS_CPUTIME_ID), clockOf(CLOCK_MONOTONIC))
    print("the first seed is \(seed)")
    var (count, steps, hours) = (0, 0, 0.0)
    while count < plays, count == 0 || clockOf(CLOCK_MONOTONIC) - begun < seconds {
      note(seed)
      fflush(nil)
      let script = Script(seed: seed, length: acts)
      let play = try Play(script, teller: tellsStory ? { print($0) } : nil)
      count += 1
      steps += play.steps
      hours += Double(play.played) / 3_600_000_000
      if let breach = play.breach {
        let took = clockOf(CLOCK_MONOTONIC) - begun
        print("seed \(seed), play \(count), after \(rounded(took)) s: \(breach)")
        if shortens { try tell(script, breach) }
        return 1
      }
      seed += 1
    }
    let took = clockOf(CLOCK_PROCESS_CPUTIME_ID) - start
    print(
      "\(count) plays, \(steps) steps, \(Int(hours)) hours, \(rounded(took)) s: \(Int(Double(steps) / max(took, 0.001) * 60)) steps a minute"
    )
    return 0
  }

  private func tell(_ script: Script, _ breach: Breach) throws {
    let short = try Play.shortened(script, breaking: breach.law)
    _ = try Play(short, teller: { print($0) })
    print("\nIt is kept by these \(short.acts.count) acts:\n\(short.text)")
  }

  private func playFiles() throws -> Int32 {
    var isWell = true
    for file in files {
      guard let script = contents(of: file).flatMap({ Script(text: $0) }) else {
        print("\(file): is no script")
        return 2
      }
      note(script.seed)
      let play = try Play(script, teller: tellsStory ? { print($0) } : nil)
      if let breach = play.breach {
        print("\(file): \(breach)")
        isWell = false
      }
    }
    return isWell ? 0 : 1
  }

  /// A trap ends the process before it can name the seed, and a play that does not end prints nothing.
  private func note(_ seed: UInt64) {
    Last.seed = seed
    alarm(300)
    for signal in [SIGILL, SIGTRAP, SIGSEGV, SIGABRT, SIGALRM] {
      Glibc.signal(signal) { number in
        let what = number == SIGALRM ? "does not end" : "trapped"
        var line = Array("the play of this seed \(what): ".utf8) + Array(String(Last.seed).utf8) + [10]
        write(2, &line, line.count)
        Glibc.signal(number, SIG_DFL)
        raise(number)
      }
    }
  }

  private func contents(of file: String) -> String? {
    guard let stream = fopen(file, "r") else { return nil }
    defer { fclose(stream) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = fread(&buffer, 1, buffer.count, stream), count > 0 { bytes += buffer.prefix(count) }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func clockOf(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  private func rounded(_ seconds: Double) -> Double { (seconds * 10).rounded() / 10 }
}

enum Last {
  // One thread writes it, and the same thread's signal handler reads it.
  nonisolated(unsafe) static var seed: UInt64 = 0
}
