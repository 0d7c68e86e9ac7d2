import Baggage
import DBus
import InterchangeCore
import InterchangeTurns
import SceneModel

// Snapshots, the pictures of windows, which hosts set and window switchers show.
extension Interchange {
  func forgetSnapshot(of session: UniqueIdentifier) {
    connection.loop.task {
      do throws(InterchangeError) {
        try await baggageStore.removeSnapshots(of: [session])
      } catch {
        log.warning("the snapshot of a session that is gone could not be removed: \(error.message)")
      }
    }
  }

  func setSnapshot(_ reply: Reply<>, _ type: Text, _ data: OwnedFileDescriptor) throws {
    let session = try storedSession(at: reply.call.path)
    try storedBook.requireHost(callers.caller(of: reply.call), of: session.application)
    guard let found = ContentType(type), let image = ContentType("image/*", as: .asked),
      types.conforms(found, to: image)
    else {
      throw InterchangeError(
        .invalidArgs, "type: expected the type of a picture such as image/png, got \(quoted(type.string))")
    }
    aside(.pictureCalls, bytes: 0, for: reply) { () throws(InterchangeError) in
      try await self.storeSnapshot(of: session, type, data)
    } _: {
      reply.send()
    }
  }

  private func storeSnapshot(
    of session: Session, _ type: Text, _ data: OwnedFileDescriptor
  ) async throws(InterchangeError) {
    try await baggageStore.setSnapshot(
      of: session.identifier, type: type, isPrivate: session.isPrivate, from: data)
    // The session may have been discarded meanwhile, or have become public.
    let now = try storedSession(session.identifier)
    if now?.keepsPicture(isPrivate: session.isPrivate) != true {
      try await baggageStore.removeSnapshots(of: [session.identifier])
    }
  }

  func openSnapshot(_ reply: Reply<String, OwnedFileDescriptor>) throws {
    let session = try storedSession(at: reply.call.path)
    let caller = callers.caller(of: reply.call)
    guard caller.mayTouch(session.application) else { throw InterchangeError.noSession(at: reply.call.path) }
    let isHost = storedBook.isHost(caller, of: session.application)
    if session.isPrivate || session.hasSecrets, !isHost {
      throw InterchangeError(.noSuchItem, "the session has no snapshot for others than its host")
    }
    let (identifier, sandbox) = (session.identifier, caller.isSandboxed ? caller.application : nil)
    connection.loop.task {
      do throws(InterchangeError) {
        let (type, isPrivate, data) = try await baggageStore.openSnapshot(of: identifier, for: sandbox)
        // The session may have changed meanwhile.
        let now = try storedSession(identifier)
        if isPrivate, !isHost || now?.isPrivate != true {
          throw InterchangeError(.noSuchItem, "the session has no snapshot that may be shown")
        }
        reply.send(type.string, data)
      } catch {
        reply.fail(error)
      }
    }
  }
}

extension Session {
  /// Whether a picture of the window stays. A picture that was private goes when the window shows something public; an earlier service may have ended
  /// before it removed that picture.
  func keepsPicture(isPrivate: Bool) -> Bool { self.isPrivate || !isPrivate }
}
