package import SceneModel

// `DeliverEach` hands in several items at once: ten photographs that are dropped together become ten windows. Each item is decided as if it had come
// alone, in the order of the payload, with the payload's options, and in the state that the earlier items left. All items share the steps of one
// decision.

extension Payload {
  /// Each item as a payload of its own, with the options of the whole.
  package var split: [Payload] { items.map { Payload(items: [$0], options: options) } }

  /// - Throws: For options and payloads that have no meaning when each item is routed by itself.
  package func refuseWhatIsNotForEach() throws(Fault) {
    let options = Place.document.key("options")
    if items.isEmpty {
      throw .expected("items, each of which is routed on its own", got: "none", at: Place.document.key("items"))
    }
    if self.options.session != nil {
      throw .expected("no session, as each item finds its own", got: "one", at: options.key("session"))
    }
    if self.options.wait == .handled {
      throw .expected("\"routed\", as each item has a host of its own", got: "\"handled\"", at: options.key("wait"))
    }
  }
}
