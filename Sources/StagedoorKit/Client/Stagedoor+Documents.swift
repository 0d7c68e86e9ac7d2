public import DBus
internal import InterchangeWire

extension Stagedoor {
  /// Hands in a payload that is a document already, as `docs/documents.md` says, to one session.
  ///
  /// ```swift
  /// let stagedoor = try await Stagedoor.connect()
  /// let document = #"{"activity": {"activityType": "org.example.Cats.view"}, "options": {"disposition": "new"}}"#
  /// print(try await stagedoor.deliver(document: document).session)
  /// ```
  ///
  /// - Parameters:
  ///   - document: The payload in JSON.
  ///   - slack: How much longer than ``timeout`` the answer may take: the deadline, where the options wait for the application.
  @discardableResult
  public func deliver(document: String, slack: Duration = .zero) async throws(StagedoorError) -> Delivery {
    let (session, outcome, delivery) = try await call(
      "Deliver", document, upTo: slack, returning: ObjectPath.self, String.self, String.self)
    return try Delivery(session.rawValue, outcome, delivery)
  }

  /// Says what would be done with a payload that is a document already. Nothing is changed and nobody is asked.
  ///
  /// ```swift
  /// let stagedoor = try await Stagedoor.connect()
  /// let document = #"{"activity": {"activityType": "org.example.Cats.view"}}"#
  /// print(try await stagedoor.explain(document: document).reason)
  /// ```
  public func explain(document: String) async throws(StagedoorError) -> Decision {
    try Decision(json: try await call("Explain", document, returning: String.self))
  }

  /// Hands in what can be read from a descriptor: a file, or a pipe that is still being filled. The service reads it.
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
  ///   - data: Where the data comes from.
  ///   - type: What it is: a MIME type or a uniform type identifier.
  ///   - suggestedName: What it would be called as a file.
  ///   - activities: What could be done with it, each an activity document.
  ///   - options: The options by their names, but for those that follow.
  ///   - deadline: The seconds that the application may take.
  ///   - isPrivate: Nothing of it is shown to anyone but its sender and its host.
  ///   - slack: How much longer than ``timeout`` the answer may take.
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
