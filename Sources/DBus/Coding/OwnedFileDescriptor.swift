internal import CDBus
internal import Glibc

/// A file descriptor that is closed exactly once: with ``close()``, or when its last reference is destroyed.
///
/// ```swift
/// let pipe = try OwnedFileDescriptor.pipe()
/// let message = try Message.signal(from: "/log", "org.example.Log", "Opened", pipe.readEnd)
/// // The message has a duplicate of its own; both ends are closed when `pipe` is destroyed.
/// print(message.signature)  // h
/// ```
public final class OwnedFileDescriptor: Sendable {
  private let descriptor: Lock<Int32>

  /// Takes ownership of `descriptor`: nobody else may close it.
  public init(owning descriptor: Int32) { self.descriptor = Lock(descriptor) }

  /// A duplicate of a descriptor that somebody else keeps.
  public convenience init(duplicating descriptor: Int32) throws(CodingError) {
    self.init(owning: try Self.duplicate(descriptor))
  }

  private static func duplicate(_ descriptor: Int32) throws(CodingError) -> Int32 {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    if copy < 0 { throw .fileDescriptorUnavailable(errno) }
    return copy
  }

  deinit { close() }

  /// Lends the number to `body`. The descriptor stays open until `body` returns. After ``close()`` the number is -1.
  ///
  /// `body` must not close or release this descriptor: it would wait for itself.
  public func withRawValue<Result, Failure: Error>(
    _ body: (Int32) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try descriptor.withLock { (number) throws(Failure) in try body(number) }
  }

  /// Hands over the number, which the caller must close. After ``close()``, and the second time, it is -1.
  public func release() -> Int32 { descriptor.withLock { exchange(&$0, with: -1) } }

  /// Closes the descriptor now. A second call does nothing.
  public func close() {
    let number = release()
    if number >= 0 { Glibc.close(number) }
  }

  /// A pipe, both ends closed on exec.
  public static func pipe() throws(CodingError) -> (readEnd: OwnedFileDescriptor, writeEnd: OwnedFileDescriptor) {
    var ends: [Int32] = [-1, -1]
    if pipe2(&ends, O_CLOEXEC) < 0 { throw .fileDescriptorUnavailable(errno) }
    return (OwnedFileDescriptor(owning: ends[0]), OwnedFileDescriptor(owning: ends[1]))
  }
}

extension OwnedFileDescriptor: BasicBusValue {
  /// Two are equal if they are the same object.
  public static func == (left: OwnedFileDescriptor, right: OwnedFileDescriptor) -> Bool { left === right }

  /// Hashes the identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  /// "h": a file descriptor.
  public static var signature: Signature { Signature(unchecked: "h") }

  /// Reads a file descriptor, which the receiver owns from now on.
  public static func read(from reader: inout MessageReader) throws(CodingError) -> OwnedFileDescriptor {
    OwnedFileDescriptor(owning: try reader.fileDescriptor())
  }

  /// Appends a duplicate, which the message owns.
  public func write(to writer: inout MessageWriter) throws(CodingError) {
    try withRawValue { (number) throws(CodingError) in try writer.fileDescriptor(number) }
  }

  /// A duplicate of the file descriptor that a variant holds.
  public convenience init(_ variant: Variant) throws(CodingError) {
    guard case .fileDescriptor(let other) = variant else {
      throw .typeMismatch(expected: "h", found: variant.contentSignature)
    }
    self.init(owning: try other.withRawValue { (number) throws(CodingError) in try Self.duplicate(number) })
  }

  /// This file descriptor as the content of a variant.
  public var variant: Variant { .fileDescriptor(self) }
}
