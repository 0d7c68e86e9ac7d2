import DamagedStores
import Glibc

// libFuzzer gives one input after another, on one thread.
nonisolated(unsafe) private let store = DamagedStore()

/// libFuzzer calls this with each input: changes of a whole store, with which a service then starts. Each change has twelve bytes: its kind, its place,
/// and what is written there.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzStore(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var input = Array(UnsafeBufferPointer(start: start, count: count))[...]
  guard (try? store.fill()) != nil else { abort() }
  while input.count >= 12 {
    let change = Array(input.prefix(12))
    input = input.dropFirst(12)
    let place = Int(change[1]) << 16 | Int(change[2]) << 8 | Int(change[3])
    switch change[0] & 3 {
    case 0:
      let number = change[4...].reduce(0) { $0 << 8 | UInt64($1) }
      try? store.set(DamagedStore.numbers[place % DamagedStore.numbers.count], to: Int64(bitPattern: number))
    case 1: store.overwrite(at: place, with: change[4...], inLog: false)
    case 2: store.overwrite(at: place, with: change[4...], inLog: true)
    default: store.overwrite(at: place, with: change[4..<5], inLog: change[5] & 1 == 0)
    }
  }
  store.use()
  return 0
}
