import InterchangeCore
import SceneModel

// The story of a play, for people.
extension World {
  func short(_ identifier: UniqueIdentifier) -> String { String("\(identifier)".prefix(8)) }

  func brief(_ cue: Cue) -> String {
    switch cue {
    case .began: "the service begins"
    case .call(let number, _, let ask): "call \(number): \(brief(ask))"
    case .ownership(let number, let isOwner, _):
      "call \(number): the caller \(isOwner ? "owns" : "does not own") the name"
    case .hostAnswered(let errand, let answer): "errand \(errand): \(answer)"
    case .hostLeft(let application, let connection): "\(connection) hosts \(application) no more"
    case .callerLeft(let connection): "\(connection) has left"
    case .delivery(let errand, let delivery):
      "errand \(errand): delivery \(delivery.map { short($0.identifier) } ?? "none")"
    case .launch(let application, let number, let news): "start \(number) of \(application): \(news)"
    case .installed(let installed, let broken): "installed: \(installed.keys.sorted()), kept: \(broken.sorted())"
    case .declared(let manifest): "declared: \(manifest.identifier)"
    case .packed(let number, let answer): "call \(number): its contents are \(answer)"
    case .consulted(let number, let answer): "call \(number): the rules say \(answer)"
    case .opened(let number, let answer): "call \(number): its item is \(answer)"
    case .moment: "the moment \(uptime)"
    case .refused(let cue, let error): "\(brief(cue)), refused: \(error.message)"
    }
  }

  func brief(_ ask: Ask) -> String {
    switch ask {
    case .deliver(let payload, let digest, let size): "Deliver \(payload.json) \(digest) \(size) B"
    case .deliverEach(let payload, let digest, let size): "DeliverEach \(payload.json) \(digest) \(size) B"
    case .activate(let session, _, _): "Activate \(short(session))"
    case .newSession(let application, let configuration): "NewSession \(application) \(configuration)"
    case .adopt(let application, let configuration, let activity, _):
      "AdoptSession \(application) \(configuration) \(activity?.json ?? .empty)"
    case .cancel(let delivery): "Cancel \(short(delivery))"
    case .redirect(let delivery, let session): "Redirect \(short(delivery)) to \(short(session))"
    case .register(let manifest, let size): "Register \(manifest.identifier) \(size) B"
    case .unregister(let application): "Unregister \(application)"
    case .prefer(let application, let type): "Prefer \(application ?? "nothing") for \(type)"
    case .attach(let application, let shown, let unknown, _):
      "Attach \(application), which shows \(shown.map { short($0) } + unknown.map(\.string))"
    case .putOff(let delivery, let seconds): "DeferDelivery \(short(delivery)) \(seconds)"
    case .finish(let delivery, let error, _): "FinishDelivery \(short(delivery)) \(error)"
    case .refresh(let session): "Refresh \(short(session))"
    case .destroy(let session, let animation): "Destroy \(short(session)) \(animation)"
    case .setState(let session, let state): "SetState \(short(session)) \(state)"
    case .disconnect(let session): "Disconnect \(short(session))"
    case .write(let session, let writing): "write \(short(session)) \(writing.property)"
    case .post(let application, let name, _): "Post \(application) \(name)"
    case .openItem(let delivery, let item, let type): "OpenItem \(short(delivery)) \(item) \(type)"
    case .release(let delivery): "ReleaseDelivery \(short(delivery))"
    case .renewPromises(let token): "RenewPromises \(token)"
    case .beginDrag(let payload, _, _, _): "BeginDrag \(payload.json)"
    case .openDrag(let ticket): "OpenDrag \(ticket)"
    case .addItems(let items, let drag, _): "AddItems \(short(drag)): \(items.count)"
    case .cancelDrag(let drag): "Cancel the drag \(short(drag))"
    case .propose(let drag, let session): "Propose \(short(drag)) on \(session.map { short($0) } ?? "the edge")"
    case .drop(let drag, let session, let operation):
      "DropOn \(short(drag)) on \(session.map { short($0) } ?? "the edge"): \(operation)"
    }
  }

  func brief(_ answer: CallAnswer) -> String {
    switch answer {
    case .done: "done"
    case .delivered(let delivered):
      "\(delivered.outcome) \(short(delivered.session)), delivery \(short(delivered.delivery))"
    case .deliveredEach(let items): "\(items.count) items"
    case .outcome(let outcome): outcome.string
    case .application(let application): application.string
    case .adopted(let session): "adopted as \(short(session))"
    case .attached(let application, let discarded): "attached to \(application), gone are \(discarded)"
    case .opened(let size): "\(size) bytes"
    case .dragBegun(let drag, let ticket): "drag \(short(drag)) with the ticket \(ticket)"
    case .dragOpened(let drag): "drag \(short(drag))"
    case .operation(let operation): operation.string
    case .refused(let error): "\(error.name): \(error.message)"
    }
  }

  func brief(_ errand: Errand) -> String {
    switch errand {
    case .ask(let number, _, let owner, _, let question, let within):
      "errand \(number): ask \(owner) within \(within / 1000) ms: \(brief(question))"
    case .read(let number, let delivery): "errand \(number): read \(short(delivery))"
    case .findOwner(let number, let name, _, let connection, _):
      "call \(number): does \(connection) own \(name)?"
    case .launch(let application, let number, _): "start \(number) of \(application) by the bus"
    case .run(let application, let number, _, _): "start \(number) of \(application) by its command"
    case .forgetLaunch(let application, let number): "forget start \(number) of \(application)"
    case .pack(let number, let orders, _, _):
      "call \(number): pack \(orders.count) contents of \(Set(orders.map { short($0.delivery) }).sorted())"
    case .consult(let number, _): "call \(number): ask the rules"
    case .open(let number, let delivery, _, _, _): "call \(number): open a parcel of \(short(delivery))"
    case .callOff(let number): "call \(number): nobody waits for its item"
    case .endPromises(let promises): "nobody asks for \(promises.map(\.path)) any more"
    case .forgetPicture(let session): "forget the picture of \(short(session))"
    case .free(let deliveries): "free what \(deliveries.map { short($0) }) carried"
    case .freeParcels(let delivery, let numbers): "free the parcels \(numbers) of \(short(delivery))"
    }
  }

  func brief(_ question: HostQuestion) -> String {
    let subject =
      switch question {
      case .connect(let session, let configuration, _): "\(short(session)) \(configuration)"
      case .discarded(let sessions): "\(sessions.map { short($0) })"
      default: question.session.map { short($0) } ?? ""
      }
    return "\(question.member) \(subject)"
  }
}
