import Glibc

/// How many times longer the work takes for four times the input: about 4 if it is linear, about 16 if it is quadratic.
///
/// It measures the time that this thread ran, so that other work on the machine does not count, and takes the shortest of several rounds.
package func growth<Input>(from small: Input, to large: Input, _ work: (Input) -> Void) -> Double {
  func shortest(_ input: Input) -> UInt64 {
    (0..<5).map { _ in
      let start = threadTime()
      work(input)
      return threadTime() - start
    }.min() ?? 0
  }
  return Double(shortest(large)) / Double(max(1, shortest(small)))
}

private func threadTime() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
