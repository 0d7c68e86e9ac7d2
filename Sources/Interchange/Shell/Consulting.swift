import Baggage
import DBus
import InterchangeCore
import TextRules

// The rules that cannot be asked at once: the disk has to be asked for them, or the text takes long. Both happen on a thread of the baggage store.
extension Interchange {
  /// The time for all paths of a payload.
  private static let diskPatience = Duration.milliseconds(50)

  func consult(_ number: CallNumber, _ consulting: Consulting) {
    connection.loop.task { feed(.consulted(number, await answer(consulting))) }
  }

  func answer(_ consulting: Consulting) async -> Consultation {
    let types = types
    let first = await baggageStore.work { consulting.answer(types) }
    guard case .asks(let paths)? = first else { return first ?? .exhausted }
    let disk = await baggageStore.ask(paths, within: Interchange.diskPatience, settings.askDisk)
    return await baggageStore.work { consulting.answer(types, disk: disk) } ?? .exhausted
  }
}
