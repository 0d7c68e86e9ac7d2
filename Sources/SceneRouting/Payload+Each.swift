package import SceneModel

// `DeliverEach` hands in several items at once: ten photographs that are dropped together, and are ten windows. Each item is decided as
// if it had come alone, in payload order, with the options of the payload and in the state that the items before it left. All of them
// share the steps of one decision.

extension Payload {
  /// Each item as a payload of its own, with the options of all of them.
  package var split: [Payload] { items.map { Payload(items: [$0], options: options) } }

  /// - Throws: for options and payloads that have no meaning where each item is routed on its own.
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
