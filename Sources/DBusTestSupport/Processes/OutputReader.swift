internal import DBus
internal import Glibc

/// Reads a child's output on a thread of its own, so that no pipe fills up.
final class OutputReader: Sendable {
  private struct State {
    var bytes: [UInt8] = []
    /// The position of the next line.
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

  /// Takes over `descriptor`.
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
      // Close before reporting the end: a waiting test may count descriptors.
      close(number)
      state.update { $0.isAtEnd = true }
    }
  }

  /// The output so far.
  var text: String { state.read { String(decoding: $0.bytes, as: UTF8.self) } }

  /// Waits for the next line; `nil` at the end of the output.
  func nextLine() async throws(CancellationError) -> String? { try await state.wait { $0.takeLine() } }

  /// Waits until every writer has closed its end.
  func ended() async throws(CancellationError) { try await state.wait { $0.isAtEnd ? () : nil } }
}
