internal import DBus
public import FoundationEssentials
internal import InterchangeWire
internal import SceneModel

extension Stagedoor {
  /// Hands in one activity in its simplest form: a type, a key, and texts.
  @discardableResult
  public func drop(
    _ activityType: String, _ targetContentIdentifier: String = "", userInfo: [String: String] = [:]
  ) async throws(StagedoorError) -> Delivery {
    try await handIn("Drop", activityType, targetContentIdentifier, userInfo)
  }

  /// Hands in files and links of a desktop, to one session. The service finds the type of each.
  ///
  /// ```swift
  /// import FoundationEssentials
  ///
  /// let stagedoor = try await Stagedoor.connect()
  /// let files = CommandLine.arguments.dropFirst().map { URL(filePath: $0) }
  /// print(try await stagedoor.drop(files).session)
  /// ```
  ///
  /// - Parameters:
  ///   - urls: URLs of files, or other URLs.
  ///   - activityType: The type of their activity; "" lets their own types decide.
  ///   - targetContentIdentifier: The key of that activity.
  @discardableResult
  public func drop(
    _ urls: [URL], as activityType: String = "", _ targetContentIdentifier: String = ""
  ) async throws(StagedoorError) -> Delivery {
    let list = urls.map(\.absoluteString).joined(separator: "\r\n")
    return try await handIn("DropURIs", list, activityType, targetContentIdentifier)
  }

  /// Hands in an activity.
  @discardableResult
  public func deliver(
    _ activity: UserActivity, _ options: DeliveryOptions = DeliveryOptions()
  ) async throws(StagedoorError) -> Delivery {
    try await deliver(Payload(activity, options))
  }

  /// Hands in items, to one session.
  @discardableResult
  public func deliver(
    _ items: [DragItem], _ options: DeliveryOptions = DeliveryOptions()
  ) async throws(StagedoorError) -> Delivery {
    try await deliver(Payload(items: items, options))
  }

  /// Hands in a payload, to one session. With ``DeliveryOptions/wait`` the call waits for the application until the deadline, and
  /// throws the application's error.
  ///
  /// A promised representation is loaded when a host opens it.
  @discardableResult
  public func deliver(_ payload: Payload) async throws(StagedoorError) -> Delivery {
    let result =
      try await payload.hasContents
      ? deliverContents(of: payload) : handIn("Deliver", payload.json(), upTo: payload.options.slack)
    // The service does not wait for this connection's own host, which may be unable to answer during a call. This library waits instead.
    if payload.options.wait == .handled, (try? await self.delivery(result.identifier).state) != .handled {
      try await finished(result.identifier, outlivesService: true)
    }
    return result
  }

  private func deliverContents(of payload: Payload) async throws(StagedoorError) -> Delivery {
    let promises = Promises(payload.items, token: payload.options.token, on: self)
    let (items, options) = try await payload.dictionaries(promises)
    let (session, outcome, delivery) = try await promises.handedIn { () async throws(StagedoorError) in
      try await answered(
        "DeliverItems", items, options, upTo: payload.options.slack,
        returning: ObjectPath.self, String.self, String.self)
    }
    return try Delivery(session.rawValue, outcome, delivery)
  }

  /// Hands in a payload that is already a document, as `docs/documents.md` describes, to one session.
  ///
  /// ```swift
  /// let stagedoor = try await Stagedoor.connect()
  /// let document = #"{"activity": {"activityType": "org.example.Cats.view"}, "options": {"disposition": "new"}}"#
  /// print(try await stagedoor.deliver(document: document).session)
  /// ```
  @discardableResult
  public func deliver(document: String) async throws(StagedoorError) -> Delivery {
    // Its options may say that the answer waits for the host.
    try await handIn("Deliver", document, upTo: nil)
  }

  /// Makes a call that is answered with a session and a delivery.
  func handIn<each Argument: BusValue>(
    _ member: MemberName, _ arguments: repeat each Argument, at path: ObjectPath = InterchangeNames.root,
    in interface: InterfaceName = InterchangeNames.interchange, upTo slack: Duration? = .zero
  ) async throws(StagedoorError) -> Delivery {
    let (session, outcome, delivery) = try await call(
      member, repeat each arguments, at: path, in: interface, upTo: slack,
      returning: ObjectPath.self, String.self, String.self)
    return try Delivery(session.rawValue, outcome, delivery)
  }

  /// The result for one item of ``deliverEach(_:_:bestEffort:)``.
  public typealias EachResult = Result<Delivery, StagedoorError>

  /// Hands in items, each to the session that it belongs to, in their order.
  ///
  /// One document carries everything, so all promises are loaded into memory first. The service takes all items or none; if it takes none, the call
  /// throws. With `bestEffort` the service takes each item by itself, and the result of a refused item is its error.
  ///
  /// ```swift
  /// let stagedoor = try await Stagedoor.connect()
  /// let items = ["cat1", "cat2"].map {
  ///   DragItem(UserActivity("org.example.Cats.view", targetContentIdentifier: $0))
  /// }
  /// for result in try await stagedoor.deliverEach(items, bestEffort: true) { print(try result.get().session) }
  /// ```
  public func deliverEach(
    _ items: [DragItem], _ options: DeliveryOptions = DeliveryOptions(), bestEffort: Bool = false
  ) async throws(StagedoorError) -> [EachResult] {
    let document = try await Payload(items: items, options).json(batch: bestEffort ? .bestEffort : .allOrNothing)
    let rows = try await call("DeliverEach", document, returning: [DeliveryResult].self)
    return try rows.map { row throws(StagedoorError) in
      let (session, outcome, delivery) = row.members
      if session == .root { return .failure(StagedoorError(.init(rawValue: outcome), delivery)) }
      return .success(try Delivery(session.rawValue, outcome, delivery))
    }
  }

  /// Returns the decision that the service would make about a payload now. The call changes nothing and asks no host.
  public func explain(_ payload: Payload) async throws(StagedoorError) -> Decision {
    try await explain(document: payload.json(loads: false))
  }

  /// The same for a payload that is already a document.
  public func explain(document: String) async throws(StagedoorError) -> Decision {
    try Decision(json: try await call("Explain", document, returning: String.self))
  }
}

extension DeliveryOptions {
  /// The additional time of a call with these options: the service first fetches the promises. It ends a wait for the application itself, after days
  /// if the application passes the delivery on, and the bus ends it if the service leaves.
  fileprivate var slack: Duration? { wait == .handled ? nil : keepsPromises ? Stagedoor.silence : .zero }
}

// MARK: - Deliveries later

extension Stagedoor {
  /// The state of a delivery, and the decision that routed it.
  public func delivery(
    _ identifier: DeliveryIdentifier
  ) async throws(StagedoorError) -> (state: DeliveryState, decision: Decision) {
    let (text, decision) = try await call(
      "GetDelivery", identifier.description, returning: String.self, String.self)
    guard var state = DeliveryState(text) else { throw .unexpectedReply("unknown delivery state: \(quoted(text))") }
    if case .failed = state, let reason = try Value(document: decision)["ended"],
      let code = reason["error"]?.string
    {
      state = .failed(StagedoorError(.init(rawValue: code), reason["message"]?.string ?? ""))
    }
    return (state, try Decision(json: decision))
  }

  /// A filter for a list of deliveries. See ``deliveries(in:after:limit:)``.
  ///
  /// ```swift
  /// let stagedoor = try await Stagedoor.connect()
  /// print(try await stagedoor.deliveries(in: .failed).count)
  /// ```
  public enum DeliveryFilter: String, Sendable, Hashable, CaseIterable {
    /// All deliveries.
    case all = ""
    /// Deliveries that wait for their application.
    case held
    /// Deliveries with a decided session.
    case routed
    /// Deliveries that the application passes on.
    case forwarded
    /// Deliveries that the application has taken.
    case handled
    /// Deliveries that failed.
    case failed
    /// Deliveries that were cancelled.
    case cancelled
  }

  /// The deliveries that the service keeps, the newest first.
  public func deliveries(
    in filter: DeliveryFilter = .all, after: DeliveryIdentifier? = nil, limit: UInt32 = 0
  ) async throws(StagedoorError) -> [DeliveryRecord] {
    let rows = try await call(
      "ListDeliveries", filter.rawValue, after?.description ?? "", limit, returning: [DeliveryRow].self)
    return try rows.map { row throws(StagedoorError) in
      let (delivery, state, application, session) = row.members
      guard let identifier = DeliveryIdentifier(delivery), let state = DeliveryState(state) else {
        throw .unexpectedReply("not a delivery: \(delivery), \(state)")
      }
      return DeliveryRecord(
        identifier: identifier, state: state, application: application, session: SessionIdentifier(session.rawValue))
    }
  }

  /// Takes up the promises that an earlier run of this program handed in under a token, with the same items in the same order. From now on this run
  /// loads them.
  ///
  /// Only an application that hosts scenes can do this, and only if it hosted scenes when it handed the items in: start the ``Application`` first. After
  /// a restart of the service, no such call is necessary.
  public func renewPromises(of items: [DragItem], token: String) async throws(StagedoorError) {
    try await Promises(items, token: token, on: self).handedIn(renews: true) { () async throws(StagedoorError) in
      try await answered("RenewPromises", token)
    }
  }

  /// Cancels a delivery while it waits for its application.
  public func cancel(_ delivery: DeliveryIdentifier) async throws(StagedoorError) {
    try await call("CancelDelivery", delivery.description)
  }

  /// Hands a delivery to another window of the same application.
  @discardableResult
  public func redirect(
    _ delivery: DeliveryIdentifier, to session: SessionIdentifier
  ) async throws(StagedoorError) -> Delivery {
    let text = try await call("RedirectDelivery", delivery.description, session.path, returning: String.self)
    return try Delivery(session.description, text, delivery.description)
  }
}
