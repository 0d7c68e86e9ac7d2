import DBus
import Glibc
import Testing

/// Descriptors are closed once, by their owner. Tests that count all open ones do so in a process of their own.
@Suite struct FileDescriptorTests {
  private func isOpen(_ number: Int32) -> Bool { fcntl(number, F_GETFD) >= 0 }

  private func number(_ descriptor: OwnedFileDescriptor) -> Int32 { descriptor.withRawValue { $0 } }

  @Test func `what was released is the caller's to close`() throws {
    let pipe = try OwnedFileDescriptor.pipe()
    let number = pipe.readEnd.release()
    #expect(number >= 0 && isOpen(number))
    #expect(pipe.readEnd.release() == -1)
    #expect(self.number(pipe.readEnd) == -1)
    pipe.readEnd.close()
    #expect(isOpen(number))
    #expect(Glibc.close(number) == 0)
  }

  @Test func `an end that is closed is the end for the other`() throws {
    let pipe = try OwnedFileDescriptor.pipe()
    pipe.writeEnd.close()
    pipe.writeEnd.close()
    var byte: UInt8 = 0
    #expect(pipe.readEnd.withRawValue { read($0, &byte, 1) } == 0)
  }

  @Test func `pipes and duplicates are closed on exec`() throws {
    let pipe = try OwnedFileDescriptor.pipe()
    let copy = try pipe.readEnd.withRawValue { try OwnedFileDescriptor(duplicating: $0) }
    for descriptor in [pipe.readEnd, pipe.writeEnd, copy] {
      #expect(descriptor.withRawValue { fcntl($0, F_GETFD) } == FD_CLOEXEC)
    }
    #expect(number(copy) != number(pipe.readEnd))
  }

  @Test func `a descriptor that goes through a message is another of the same file`() throws {
    let pipe = try OwnedFileDescriptor.pipe()
    let message = try Message.signal(from: "/a", "a.b", "C", pipe.writeEnd, Variant(pipe.writeEnd))
    #expect(message.signature == "hv")
    let (sent, variant) = try message.values(as: OwnedFileDescriptor.self, Variant.self)
    let inVariant = try OwnedFileDescriptor(variant)
    pipe.writeEnd.close()
    for descriptor in [sent, inVariant] {
      #expect(descriptor.withRawValue { fcntl($0, F_GETFD) } == FD_CLOEXEC)
      #expect(descriptor.withRawValue { write($0, "x", 1) } == 1)
    }
    var bytes = [UInt8](repeating: 0, count: 8)
    #expect(pipe.readEnd.withRawValue { read($0, &bytes, 8) } == 2)
  }

  @Test func `descriptors come back from every container`() throws {
    let pipe = try OwnedFileDescriptor.pipe()
    func isSame(_ other: OwnedFileDescriptor) -> Bool {
      var (own, others) = (stat(), stat())
      _ = pipe.readEnd.withRawValue { fstat($0, &own) }
      return other.withRawValue { fstat($0, &others) } == 0 && own.st_ino == others.st_ino
    }
    let message = try Message.signal(
      from: "/a", "a.b", "C", [pipe.readEnd], ["k": pipe.readEnd], [pipe.readEnd: UInt8(1)],
      Structure(UInt8(1), pipe.readEnd))
    let values = try message.values(
      as: [OwnedFileDescriptor].self, [String: OwnedFileDescriptor].self, [OwnedFileDescriptor: UInt8].self,
      Structure<UInt8, OwnedFileDescriptor>.self)
    #expect(isSame(values.0[0]))
    #expect(try isSame(#require(values.1["k"])))
    #expect(try isSame(#require(values.2.keys.first)))
    #expect(isSame(values.3.members.1))
    #expect(try message.variants().map(\.contentSignature) == ["ah", "a{sh}", "a{hy}", "(yh)"])
  }

  @Test func `a variant keeps its descriptor, and gives a duplicate`() throws {
    let pipe = try OwnedFileDescriptor.pipe()
    let variant = Variant(pipe.readEnd)
    let copy = try OwnedFileDescriptor(variant)
    #expect(copy != pipe.readEnd && number(copy) != number(pipe.readEnd))
    copy.close()
    #expect(isOpen(number(pipe.readEnd)))
    #expect(variant == .fileDescriptor(pipe.readEnd))
  }

  @Test func `what is closed cannot be sent, duplicated or taken out of a variant`() throws {
    let pipe = try OwnedFileDescriptor.pipe()
    pipe.readEnd.close()
    let closed = CodingError.fileDescriptorUnavailable(EBADF)
    #expect(codingError(of: pipe.readEnd) == closed)
    #expect(codingError(of: [pipe.writeEnd, pipe.readEnd]) == closed)
    #expect(codingError(of: Variant(pipe.readEnd)) == closed)
    #expect(throws: closed) { _ = try OwnedFileDescriptor(Variant(pipe.readEnd)) }
    #expect(throws: closed) { _ = try OwnedFileDescriptor(duplicating: -1) }
    #expect(codingError(of: OwnedFileDescriptor(owning: -1)) == closed)
  }

  @Test func `16 descriptors go into a message, and 17 do not`() throws {
    let pipe = try OwnedFileDescriptor.pipe()
    let most = [OwnedFileDescriptor](repeating: pipe.readEnd, count: 16)
    #expect(try signal(most).values(as: [OwnedFileDescriptor].self).count == 16)
    #expect(codingError(of: most + [pipe.readEnd]) == .tooManyFileDescriptors)
    #expect(codingError(of: [most, [pipe.readEnd]]) == .tooManyFileDescriptors)
    #expect(codingError(of: Structure(most, Variant(pipe.readEnd))) == .tooManyFileDescriptors)
    let error = codingError { try Message.signal(from: "/", "a.b", "C", most, pipe.readEnd) }
    #expect(error == .tooManyFileDescriptors)
  }

  @Test func `bytes of a message with descriptors are none without them`() throws {
    let pipe = try OwnedFileDescriptor.pipe()
    let bytes = try signal(pipe.readEnd).bytes(serial: 1)
    #expect(codingError { try Message(bytes: bytes) } == MessageTests.noMessage)
  }
}
