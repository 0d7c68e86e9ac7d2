// Measures the pure modules by themselves, without a bus and without a disk. `Benchmarks/run` builds and runs it.
//
//     mind-benchmark decisions KEYS SIZE[,SIZE…] ROUNDS COUNT    nanoseconds: a line for each measure, size and round
//     mind-benchmark memory KEYS SIZE                            bytes for each session
//     mind-benchmark worst                                       the most expensive decisions: milliseconds, steps
//     mind-benchmark expressions                                 nanoseconds: texts against expressions
//     mind-benchmark json FILE COUNT                             nanoseconds for each document
//
// KEYS is "short" (photo-7) or "long" (file:///home/user/Pictures/2026/photo-7.png).

import Glibc

@main
enum MindBenchmark {
  static func main() throws {
    let words = CommandLine.arguments.dropFirst()
    let rest = Array(words.dropFirst())
    switch (words.first, rest.count) {
    case ("decisions", 4):
      let sizes = rest[1].split(separator: ",").map { number($0) }
      Decisions(Keys(rest[0]), sizes: sizes, count: number(rest[3])).run(rounds: number(rest[2]))
    case ("memory", 2): Memory.measure(Keys(rest[0]), size: number(rest[1]))
    case ("worst", 0): Worst.measure()
    case ("expressions", 0): try Expressions.measure()
    case ("json", 2): Documents.measure(file: rest[0], count: number(rest[1]))
    default: preconditionFailure("usage: see the first lines of this file")
    }
  }

  private static func number(_ word: some StringProtocol) -> Int {
    guard let number = Int(word), number > 0 else { preconditionFailure("\(word) is no number") }
    return number
  }
}

/// Prints one line with a result, for the program that makes the table.
func report(_ measure: String, _ size: Int, _ value: Double) { print(measure, size, value, separator: "\t") }

/// The nanoseconds of processor time for one of `count` runs, whatever other programs run.
@inline(never)
func nanoseconds(_ count: Int, _ body: () -> Void) -> Double {
  let start = processorTime
  body()
  return Double(processorTime - start) / Double(count)
}

private var processorTime: Int {
  var now = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now)
  return now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// Generates the same numbers each time, so that two runs measure the same.
struct Numbers: RandomNumberGenerator {
  private var state: UInt64 = 2026

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
    return bits ^ bits >> 31
  }
}
