@preconcurrency import Glibc
import ServiceSupport
import Theatre

/// Plays one seed after another until the time is over, or the scripts in the files. If a law breaks, the command tells the story of the shortest
/// play that breaks it, and ends with status 1.
@main
struct TheatreCommand {
  private static let seconds = Option(
    name: "seconds", value: .number("NUMBER"), help: "play for this long; 10 seconds by default")
  private static let seed = Option(
    name: "seed", value: .number("NUMBER"), help: "begin with this seed, and not with the time")
  private static let plays = Option(
    name: "plays", value: .number("NUMBER", to: UInt64(Int.max)), help: "play at most this many")
  private static let acts = Option(
    name: "acts", value: .number("NUMBER", to: UInt64(Int.max)), help: "the acts of a play; 4000 by default")
  private static let story = Option(name: "story", help: "tell each act")
  private static let whole = Option(name: "whole", help: "do not shorten a play that breaks a law")
  private static let transcript = Option(name: "transcript", help: "print a play without faults as calls and answers")
  private static let usage = Usage(
    "theatre",
    arguments: [
      Argument(
        kind: ValueKind(placeholder: "FILE", completion: .files), help: "a script to play again", isOptional: true,
        isRepeated: true)
    ], options: [seconds, seed, plays, acts, story, whole, transcript, .help])

  private let given: GivenWords
  private var files: [String] { given.arguments }
  private var length: Int { number(TheatreCommand.acts).map { Int($0) } ?? 4000 }
  private var teller: ((String) -> Void)? { given.has(TheatreCommand.story) ? { print($0) } : nil }

  private func number(_ option: Option) -> UInt64? { given[option].flatMap { UInt64($0) } }

  static func main() {
    do {
      let command = TheatreCommand(given: try usage.read(CommandLine.arguments.dropFirst()))
      if command.given.ending != nil {
        var page = HelpPage(usage.synopsis, Screen(color: nil))
        page.paragraph("Plays the service in simulated worlds, each decided by a seed, until a law breaks.")
        page.arguments(usage.arguments)
        page.options(usage.options)
        print(page.text, terminator: "")
        exit(0)
      }
      exit(try command.run())
    } catch let misuse as Misuse {
      fputs("theatre: \(misuse)\n", stderr)
      exit(2)
    } catch {
      print("\(error)")
      exit(3)
    }
  }

  private func run() throws -> Int32 {
    if !files.isEmpty { return try playFiles() }
    if given.has(TheatreCommand.transcript) {
      print(try Transcript(seed: number(TheatreCommand.seed) ?? 1, length: length).text, terminator: "")
      return 0
    }
    let seconds = Double(number(TheatreCommand.seconds) ?? 10)
    let plays = number(TheatreCommand.plays).map { Int($0) } ?? .max
    var seed = number(TheatreCommand.seed) ?? UInt64(clockOf(CLOCK_REALTIME) * 1000)
    let (start, begun) = (clockOf(CLOCK_PROCESS_CPUTIME_ID), clockOf(CLOCK_MONOTONIC))
    print("the first seed is \(seed)")
    var (count, steps, hours) = (0, 0, 0.0)
    while count < plays, count == 0 || clockOf(CLOCK_MONOTONIC) - begun < seconds {
      note(seed)
      fflush(nil)
      let script = Script(seed: seed, length: length)
      let play = try Play(script, teller: teller)
      count += 1
      steps += play.steps
      hours += Double(play.played) / 3_600_000_000
      if let breach = play.breach {
        let took = clockOf(CLOCK_MONOTONIC) - begun
        print("seed \(seed), play \(count), after \(rounded(took)) s: \(breach)")
        if !given.has(TheatreCommand.whole) { try tell(script, breach) }
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
      let bytes = SmallFile.read(file, limit: 1 << 24)
      guard let bytes, let script = Script(text: String(decoding: bytes, as: UTF8.self)) else {
        print("\(file): is no script")
        return 2
      }
      note(script.seed)
      let play = try Play(script, teller: teller)
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
