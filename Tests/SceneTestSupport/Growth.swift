import Glibc

/// How often more the work takes for four times the input: about 4 where it is linear, about 16 where it is quadratic.
///
/// The time that this thread ran, so that others on the machine do not count; of several rounds the shortest.
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
