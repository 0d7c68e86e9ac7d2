import Glibc
import SceneTestSupport

/// The parser that `run` names.
private let parser: FuzzedParser = {
  guard let parser = getenv("PARSER").flatMap({ FuzzedParser(rawValue: String(cString: $0)) }) else {
    found("the variable PARSER names no parser")
  }
  return parser
}()

/// libFuzzer calls this with each input, and keeps an input that breaks a law of the parser: this ends the process.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDocument(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = Array(UnsafeBufferPointer(start: start, count: count))
  do throws(BrokenLaw) {
    var (outcome, time) = try timed(input)
    // The first round also makes tables, and in any round the machine may be busy with other work.
    for _ in 0..<3 where time > limit(for: input) { (outcome, time) = try timed(input) }
    if time > limit(for: input) { found("\(count) bytes took \(time / 1_000_000) ms") }
    // -1 tells libFuzzer not to add this input to its corpus.
    return outcome == .unfit ? -1 : 0
  } catch {
    found("\(error)")
  }
}

/// The limit in nanoseconds for writing a document in all forms and reading each again, under AddressSanitizer: about ten times
/// the time of the slowest correct input.
private func limit(for input: [UInt8]) -> UInt64 { 50_000_000 + UInt64(input.count) * 50_000 }

private func timed(_ input: [UInt8]) throws(BrokenLaw) -> (FuzzedParser.Outcome, nanoseconds: UInt64) {
  let start = threadTime()
  let outcome = try parser.check(input)
  return (outcome, threadTime() - start)
}

/// The processor time of this thread, whatever other threads do.
private func threadTime() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

private func found(_ what: String) -> Never {
  let line = Array("found: \(what)\n".utf8)
  _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
  abort()
}
