public import DBus
internal import InterchangeWire

extension Stagedoor {
  /// Hands in a payload that is already a document, as `docs/documents.md` describes, to one session.
  ///
  /// ```swift
  /// let stagedoor = try await Stagedoor.connect()
  /// let document = #"{"activity": {"activityType": "org.example.Cats.view"}, "options": {"disposition": "new"}}"#
  /// print(try await stagedoor.deliver(document: document).session)
  /// ```
  ///
  /// - Parameters:
  ///   - document: The payload in JSON.
  ///   - slack: The time that the answer may take in addition to ``timeout``: the deadline, if the options wait for the application.
  @discardableResult
  public func deliver(document: String, slack: Duration = .zero) async throws(StagedoorError) -> Delivery {
    let (session, outcome, delivery) = try await call(
      "Deliver", document, upTo: slack, returning: ObjectPath.self, String.self, String.self)
    return try Delivery(session.rawValue, outcome, delivery)
  }

  /// Returns what the service would do with a payload that is already a document. The call changes nothing and asks no host.
  ///
  /// ```swift
  /// let stagedoor = try await Stagedoor.connect()
  /// let document = #"{"activity": {"activityType": "org.example.Cats.view"}}"#
  /// print(try await stagedoor.explain(document: document).reason)
  /// ```
  public func explain(document: String) async throws(StagedoorError) -> Decision {
    try Decision(json: try await call("Explain", document, returning: String.self))
  }

  /// Hands in the data of a descriptor: a file, or a pipe that is still being filled. The service reads neither; the receiving application does.
  ///
  /// ```swift
  /// import DBus
  ///
  /// let stagedoor = try await Stagedoor.connect()
  /// let input = try OwnedFileDescriptor(duplicating: 0)
  /// try await stagedoor.deliver(reading: input, as: "text/plain", suggestedName: "notes.txt")
  /// ```
  ///
  /// - Parameters:
  ///   - data: The descriptor.
  ///   - type: The type of the data: a MIME type or a uniform type identifier.
  ///   - suggestedName: A name for a file with the data.
  ///   - activities: The activities of the item, each as a document.
  ///   - options: The options by their names, except the two that follow.
  ///   - deadline: The seconds that the application may take.
  ///   - isPrivate: Whether the content is shown to its sender and its host only.
  ///   - slack: The time that the answer may take in addition to ``timeout``.
  @discardableResult
  public func deliver(
    reading data: OwnedFileDescriptor, as type: String, suggestedName: String? = nil,
    activities: [String] = [], options: [String: String] = [:], deadline: Double? = nil, isPrivate: Bool = false,
    slack: Duration = .zero
  ) async throws(StagedoorError) -> Delivery {
    let representation: [String: Variant] = ["type": .string(type), "fd": .fileDescriptor(data)]
    var item: [String: Variant] = [:]
    item["representations"] = Variant([representation])
    if !activities.isEmpty { item["activities"] = Variant(activities) }
    if let suggestedName { item["suggestedName"] = .string(suggestedName) }
    var wishes: [String: Variant] = options.mapValues { .string($0) }
    if let deadline { wishes["deadline"] = .double(deadline) }
    if isPrivate { wishes["private"] = .boolean(true) }
    let (session, outcome, delivery) = try await call(
      "DeliverItems", [item], wishes, upTo: slack, returning: ObjectPath.self, String.self, String.self)
    return try Delivery(session.rawValue, outcome, delivery)
  }
}
