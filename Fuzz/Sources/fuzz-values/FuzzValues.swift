import Fuzzing
import SceneTestSupport

/// libFuzzer calls this with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzValues(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt { fuzz(.values, start, count) }
