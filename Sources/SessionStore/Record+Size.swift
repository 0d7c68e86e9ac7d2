import SceneModel

extension Record {
  /// Roughly the bytes of the record, for a store that does not write it.
  var roughSize: Int {
    let small = 256
    switch self {
    case .delivery(let delivery):
      // The payload counts twice, because the session shows the activity of the delivery.
      return small + 2 * delivery.payload.count + delivery.decision.count
    case .event(let event): return small + event.arguments.count
    case .session:
      var body = LogBodyWriter()
      put(into: &body)
      return body.bytes.count
    case .baggage(let baggage):
      // The document has data in base64.
      return baggage.items.joined().reduce(small) { size, entry in
        guard case .data(let bytes) = entry.parcel.content else { return size + small }
        return size + small + bytes.count / 3 * 4
      }
    default: return small
    }
  }
}
