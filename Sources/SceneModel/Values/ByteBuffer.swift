/// Bytes that are written one after another. It owns its memory alone: an array would check before each piece whether it is shared.
///
/// Public, because the compiler inlines nothing in other modules that is `package`.
public struct ByteBuffer: ~Copyable {
  @usableFromInline var start: UnsafeMutableRawPointer
  // Most documents and entries that the service writes are shorter.
  @usableFromInline var capacity = 512
  @usableFromInline var length = 0

  /// How many bytes there are.
  @inlinable public var count: Int { length }

  /// Begins without bytes.
  public init() { start = .allocate(byteCount: capacity, alignment: 1) }

  deinit { start.deallocate() }

  /// Valid until the next change.
  public var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: length) }

  /// Removes the bytes, and keeps the memory.
  public mutating func removeAll() { length = 0 }

  /// Adds so many bytes, and returns their place. The caller writes all of them.
  @inlinable @inline(__always)
  public mutating func extend(by size: Int) -> UnsafeMutableRawPointer {
    if capacity - length < size { grow(by: size) }
    defer { length += size }
    return start + length
  }

  /// Adds a byte.
  @inlinable @inline(__always)
  public mutating func append(_ byte: UInt8) { extend(by: 1).storeBytes(of: byte, as: UInt8.self) }

  /// Adds a copy of bytes, which are not those of this buffer.
  @inlinable
  public mutating func append(_ raw: UnsafeRawBufferPointer) {
    guard let source = raw.baseAddress else { return }
    extend(by: raw.count).copyMemory(from: source, byteCount: raw.count)
  }

  /// Writes over earlier bytes.
  public mutating func store(_ number: UInt32, at place: Int) {
    precondition(place >= 0 && place + 4 <= length)
    start.storeBytes(of: number.littleEndian, toByteOffset: place, as: UInt32.self)
  }

  @usableFromInline @inline(never)
  mutating func grow(by size: Int) {
    capacity = max(2 * capacity, length + size)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 1)
    larger.copyMemory(from: start, byteCount: length)
    start.deallocate()
    start = larger
  }
}
