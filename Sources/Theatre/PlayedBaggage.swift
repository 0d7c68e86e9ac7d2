package import InterchangeCore
package import SceneModel

/// The baggage store of a play: its waiting calls, and the contents that it keeps.
///
/// It does nothing by itself. A ``World`` works for it by chance, and a test of the core by hand.
package struct PlayedBaggage {
  /// A call whose contents are being packed.
  package struct Packing {
    package let number: CallNumber
    package let orders: [PackingOrder]
    let eachItem: Bool
    /// The bytes that may still be taken.
    package internal(set) var rest: Int
    var sizes: [Int64?] = []
    var failures: [Int: InterchangeError] = [:]
  }

  package struct Opening {
    package let number: CallNumber
    package let delivery: UniqueIdentifier
    package let parcel: Parcel
  }

  package var packings: [Packing] = []
  package var openings: [Opening] = []
  /// The orders whose contents are kept, by delivery and number.
  package private(set) var kept: [UniqueIdentifier: [Int: PackingOrder]] = [:]
  /// The deliveries whose descriptors were lost with an earlier process.
  private(set) var bereft: Set<UniqueIdentifier> = []

  package init() {}

  package mutating func run(_ errand: Errand) {
    switch errand {
    case .pack(let number, let orders, let rest, let eachItem):
      packings.append(Packing(number: number, orders: orders, eachItem: eachItem, rest: rest))
    case .open(let number, let delivery, let parcel, _, _):
      openings.append(Opening(number: number, delivery: delivery, parcel: parcel))
    case .callOff(let number): openings.removeAll { $0.number == number }
    case .free(let deliveries):
      for delivery in deliveries { kept[delivery] = nil }
      bereft.subtract(deliveries)
    case .freeParcels(let delivery, let numbers):
      for number in numbers { kept[delivery]?[number] = nil }
      if kept[delivery]?.isEmpty ?? true {
        kept[delivery] = nil
        bereft.remove(delivery)
      }
    default: break
    }
  }

  /// Keeps the content of an order. Returns whether no other content had its number.
  package mutating func keep(_ order: PackingOrder) -> Bool {
    if case .file(_, inPlace: true) = order.source { return true }
    return kept[order.delivery, default: [:]].updateValue(order, forKey: order.number) == nil
  }

  /// The process ends, and its work and all descriptors are lost.
  package mutating func die() {
    (packings, openings) = ([], [])
    for (delivery, orders) in kept {
      let rest = orders.filter { if case .descriptor = $0.value.source { false } else { true } }
      if rest.count < orders.count { bereft.insert(delivery) }
      kept[delivery] = rest.isEmpty ? nil : rest
    }
  }

  /// Removes the contents of other deliveries that an earlier life has left, before anything is kept.
  package mutating func sweep(keeping deliveries: Set<UniqueIdentifier>) {
    kept = kept.filter { deliveries.contains($0.key) }
    bereft.formIntersection(deliveries)
  }
}
