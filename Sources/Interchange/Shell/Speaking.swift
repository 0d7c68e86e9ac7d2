import DBus
import InterchangeCore
import InterchangeWire
import SceneModel

// Carries out the sayings of a stored step.
extension Interchange {
  func say(_ saying: Saying) {
    switch saying {
    case .answer(let number, let reply): answer(number, reply)
    case .event(let event): tell(event)
    case .applicationAppeared(let application):
      connection.objectAdded(at: InterchangeNames.path(ofApplication: application))
    case .applicationChanged(let application, let properties):
      let path = InterchangeNames.path(ofApplication: application)
      for property in properties {
        connection.propertyChanged(
          MemberName(unchecked: property.rawValue), of: InterchangeNames.application, at: path)
      }
    case .applicationWent(let application):
      connection.objectRemoved(at: InterchangeNames.path(ofApplication: application), [InterchangeNames.application])
    case .sessionAppeared(let session): connection.objectAdded(at: InterchangeNames.path(ofSession: session))
    case .sessionChanged(let session, let fields, let withheld):
      let path = InterchangeNames.path(ofSession: session)
      for field in fields {
        connection.propertyChanged(MemberName(unchecked: field.name), of: InterchangeNames.session, at: path)
      }
      for field in withheld {
        connection.propertyInvalidated(MemberName(unchecked: field.name), of: InterchangeNames.session, at: path)
      }
    case .sessionWent(let session):
      connection.objectRemoved(at: InterchangeNames.path(ofSession: session), [InterchangeNames.session])
      forgetSnapshot(of: session)
    case .drag(let drag, let news, let listeners): tell(of: drag, news, to: listeners)
    case .notification(let application, let name, let userInfo): post(application, name, userInfo)
    case .log(.error, let line): log.error(line.string)
    case .log(.warning, let line): log.warning(line.string)
    case .log(.info, let line): log.info(line.string)
    }
  }

  /// Descriptors that came with the call and that nobody has taken go with it.
  func answer(_ number: CallNumber, _ answer: CallAnswer) {
    if !luggage.isEmpty { luggage[number] = nil }
    replies.removeValue(forKey: number)?(answer)
    // An errand after the answer calls off an opening that is under way.
    if !openings.isEmpty, openings[number]?.task == nil { openings[number] = nil }
  }

  private func tell(_ event: Event) {
    observer?(event)
    if case .routed(let outcome, _, _, _, let delivery) = event.kind {
      log.info("\(delivery): \(outcome) \(event.session)")
    }
    guard let signals else { return }
    do throws(CodingError) {
      try connection.emit(event, signals)
    } catch {
      log.error("the signal \(event.name) could not be sent: \(error)")
    }
  }

  private func post(_ application: Text, _ name: Text, _ userInfo: Text) {
    let path = InterchangeNames.path(ofApplication: application)
    do throws(CodingError) {
      try connection.emit(notificationPosted, from: path, name.string, userInfo.string)
    } catch {
      log.error("the signal NotificationPosted could not be sent: \(error)")
    }
  }
}
