import Fuzzing
import SceneTestSupport

/// libFuzzer calls this with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPredicate(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt { fuzz(.predicate, start, count) }
