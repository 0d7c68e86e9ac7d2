package import DBus
package import SceneModel
package actor BaggageRoom {
  package init(directory: String?, isSynced: Bool) {}
  package func keep(_ bytes: [UInt8], as number: Int, of delivery: UniqueIdentifier) async throws(InterchangeError) {}
  package func copy(fileAt url: Text, as number: Int, of delivery: UniqueIdentifier, atMost limit: Int64, place: Text) async throws(InterchangeError) -> Int64 { 0 }
  package func check(fileAt url: Text, place: Text) async throws(InterchangeError) -> Int64 { 0 }
  package func keep(_ descriptor: OwnedFileDescriptor, as number: Int, of delivery: UniqueIdentifier, place: Text) throws(InterchangeError) -> Int64? { 0 }
  package func copy(_ descriptor: OwnedFileDescriptor, as number: Int, of delivery: UniqueIdentifier, atMost limit: Int64, place: Text) async throws(InterchangeError) -> Int64 { 0 }
  package func open(_ number: Int, of delivery: UniqueIdentifier) throws(InterchangeError) -> (OwnedFileDescriptor, Int64?) { throw InterchangeError(.sourceGone, "") }
  package func open(fileAt url: Text) async throws(InterchangeError) -> (OwnedFileDescriptor, Int64?) { throw InterchangeError(.sourceGone, "") }
  package static func memoryFile(_ bytes: [UInt8]) throws(InterchangeError) -> OwnedFileDescriptor { throw InterchangeError(.sourceGone, "") }
  package func free(_ deliveries: [UniqueIdentifier]) {}
  package func free(_ parcels: [Int], of delivery: UniqueIdentifier) {}
  package func sweep(keeping: Set<UniqueIdentifier>) {}
  package func setSnapshot(of session: UniqueIdentifier, type: Text, from descriptor: OwnedFileDescriptor) async throws(InterchangeError) {}
  package func openSnapshot(of session: UniqueIdentifier) throws(InterchangeError) -> (Text, OwnedFileDescriptor) { throw InterchangeError(.sourceGone, "") }
  package func removeSnapshots(of sessions: [UniqueIdentifier]) {}
}
