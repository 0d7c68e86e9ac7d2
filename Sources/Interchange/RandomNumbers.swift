import Glibc

/// Random numbers of the kernel's, of which it is asked for many at a time: asking costs as much for one.
struct RandomNumbers: RandomNumberGenerator {
  /// 256 bytes: as many as there are at once.
  private static let stock = 32

  private var numbers: [UInt64] = []

  mutating func next() -> UInt64 {
    if numbers.isEmpty { fetch() }
    return numbers.popLast() ?? .random(in: .min ... .max)
  }

  private mutating func fetch() {
    numbers = Array(unsafeUninitializedCapacity: Self.stock) { buffer, count in
      let length = Self.stock * MemoryLayout<UInt64>.size
      count = buffer.baseAddress.map { getentropy($0, length) == 0 } ?? false ? Self.stock : 0
    }
  }
}
