internal import DBus
internal import Glibc

/// Reads what a child writes, on a thread of its own, so that no pipe is ever full.
final class OutputReader: Sendable {
  private struct State {
    var bytes: [UInt8] = []
    /// Where the next line begins.
    var position = 0
    var isAtEnd = false

    mutating func takeLine() -> String?? {
      let rest = bytes[position...]
      if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        position = end + 1
        return .some(String(decoding: rest[..<end], as: UTF8.self))
      }
      if !isAtEnd { return nil }
      position = bytes.count
      return .some(rest.isEmpty ? nil : String(decoding: rest, as: UTF8.self))
    }
  }

  private let state = Awaitable(State())

  /// Takes `descriptor` over.
  init(_ descriptor: OwnedFileDescriptor) throws(SystemCallError) {
    let state = state
    try OwnThread.start {
      let number = descriptor.release()
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        let count = read(number, &buffer, buffer.count)
        if count < 0 && errno == EINTR { continue }
        if count <= 0 { break }
        state.update { $0.bytes += buffer[..<count] }
      }
      // First: who heard of the end may count descriptors.
      close(number)
      state.update { $0.isAtEnd = true }
    }
  }

  /// All that came so far.
  var text: String { state.read { String(decoding: $0.bytes, as: UTF8.self) } }

  /// Waits for the next line; `nil` where there will be none.
  func nextLine() async throws(CancellationError) -> String? { try await state.wait { $0.takeLine() } }

  /// Waits until everyone who could write has closed their end.
  func ended() async throws(CancellationError) { try await state.wait { $0.isAtEnd ? () : nil } }
}
