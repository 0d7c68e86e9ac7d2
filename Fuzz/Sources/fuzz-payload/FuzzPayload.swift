import Fuzzing
import SceneTestSupport

/// libFuzzer calls this with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPayload(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt { fuzz(.payload, start, count) }
