package import SceneModel
package import SceneRouting
package import TextRules

// The shell's questions to the core, which change nothing. The shell ends its turn before it asks, so every answer is stored.
extension PromptBook {
  // MARK: Applications

  package func manifest(of application: Text) -> Manifest? { memory.routing.manifest(of: application) }

  /// The file of an application's manifest; "" for a registered manifest.
  package func manifestFile(of application: Text) -> Text { memory.manifests[application]?.file ?? .empty }

  package func isHostAttached(to application: Text) -> Bool { memory.hosts[application] != nil }

  /// In the order of their identifiers.
  package var applications: [Text] { memory.manifests.values.keys.sorted() }

  /// A content type counts under each of its names.
  package func preferredApplication(for type: Text) -> Text? {
    memory.preferences[type] ?? otherNames(of: type).first.flatMap { memory.preferences[$0] }
  }

  /// The types with a preference that are this content type under another name.
  func otherNames(of type: Text) -> [Text] {
    func named(_ type: Text) -> ContentType? {
      ContentType(type, as: .asked).flatMap {
        $0.form == .identifier && !types.isDescribed($0) ? nil : types.canonical($0)
      }
    }
    guard let asked = named(type) else { return [] }
    return memory.preferences.values.keys.filter { $0 != type && named($0) == asked }.sorted()
  }

  /// In the order of the types.
  package var preferredApplications: [(type: Text, application: Text)] {
    memory.preferences.values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// The applications that take an activity type or a content type. A payload without further options would go to the first. If the core lacks data,
  /// learn it and ask again.
  package func handlers(of type: Text) throws(Halt) -> [Text] {
    do throws(Stop) {
      return try memory.routing.handlers(of: type)
    } catch {
      switch error {
      case .needs(let need): throw .lacks(.routing([need]))
      case .refused(let refusal): throw .refused(InterchangeError(refusal))
      }
    }
  }

  /// Whether a call with these options is answered like an earlier one under its token. If the core lacks data, learn it and ask again.
  package mutating func isRepeated(_ options: PayloadOptions, _ digest: Text, _ caller: Caller) throws(Halt) -> Bool {
    defer { forgetWhatWasRead() }
    return try firstAnswer(options, digest, caller) != nil
  }

  /// Whether sessions were found whose configuration their manifest has lost: the next moment discards them.
  package var hasOrphans: Bool { !memory.orphaned.isEmpty }

  package func knowsAll(of application: Text) -> Bool { memory.routing.knows(.allSessions(of: application)) }

  /// Whether an application is known: it has a manifest, or had one when its sessions were made.
  package func hasHeard(of application: Text) -> Bool {
    memory.routing.manifest(of: application) != nil || memory.sessionCounts[application] != nil
  }

  // MARK: Sessions and deliveries

  /// A session, if the memory has it whole.
  package func rememberedSession(_ identifier: UniqueIdentifier) -> Session? { memory.sessions[identifier] }

  package func knows(_ identifier: UniqueIdentifier) -> Bool { memory.routing.contains(identifier) }

  package func application(of session: UniqueIdentifier) -> Text? { memory.routing.application(of: session) }

  package func recentDelivery(_ identifier: UniqueIdentifier) -> StoredDelivery? { memory.recent[identifier] }

  /// The connection that may see the hidden parts of an open delivery.
  package func confidant(of delivery: UniqueIdentifier) -> Text? { memory.deliveries[delivery]?.confidant }

  /// The deliveries with contents.
  package var carrying: Set<UniqueIdentifier> { Set(memory.baggage.values.keys) }

  /// The deliveries whose end calls wait for, with these calls.
  package var waitedFor: [(identifier: UniqueIdentifier, calls: [CallNumber])] {
    memory.waiters.values.map { ($0.key, $0.value) }
  }

  /// Whether the core must hear when a connection leaves: it has charges, waits for an answer, takes part in a drag, is the source of contents, or is
  /// or was a host. A sandbox is charged by its application, however many connections it has.
  package func matters(_ connection: Text) -> Bool {
    ledger.isCharged(.connection(connection)) || memory.waitingFor.count(of: connection) > 0
      || memory.unread.count(of: connection) > 0 || memory.hosts.values.values.contains { $0.connection == connection }
      || memory.dragsOf.count(of: connection) > 0
      || memory.packings.values.values.contains { $0.concerns(connection) }
  }

  /// Whether a connection is a host that is being asked something.
  package func isAsked(_ connection: Text) -> Bool {
    memory.hosts.values.values.contains { $0.connection == connection && ($0.running > 0 || !$0.hearing.isEmpty) }
  }

  /// Whether the answer to this question to a host counts. A host that has left in the turn that asks it is not asked.
  package func awaits(_ errand: ErrandNumber) -> Bool { memory.errands[errand] != nil }

  // MARK: Access

  package func isHost(_ caller: Caller, of application: Text) -> Bool {
    caller.connection != nil && memory.hosts[application]?.connection == caller.connection
  }

  package func requireHost(_ caller: Caller, of application: Text) throws(InterchangeError) {
    do throws(Halt) {
      try refuseOthersThanHost(of: application, caller)
    } catch {
      if case .refused(let error) = error { throw error }
    }
  }

  // MARK: Explaining

  /// Decides where a payload would go now, and why. If the core lacks data, learn it and ask again.
  ///
  /// - Parameter consultation: What the rules say; `nil` if they are not asked.
  package mutating func explain(
    _ payload: Payload, consultation: Consultation? = nil, from caller: Caller, at moment: Moment
  ) throws(Halt) -> Decision {
    try refuseForeignRights(payload, caller)
    var (payload, rules) = (payload, nil as RulesAnswer?)
    switch consultation {
    case nil: break
    case .rule(let found, let made):
      (payload, rules) = (made, .made(found, made))
      try refuseForeignRights(payload, caller)
    case .some(.none(let failures)): rules = .passed(failures)
    case .exhausted, .asks: throw .refused(.rulesTakeTooLong)
    }
    let request = Request(
      payload, from: sender(caller, payload.options), newSession: newIdentifier(), listsCandidates: true)
    let decision = try SceneRouting.decide(memory.routing, request, at: moment.time).decision()
    return decision.withRefusal(ending: blame(of: rules, caller)).explained { explanation in
      // A sandbox reads the sessions of its own application only, and does not learn how many others have.
      if !caller.mayTouch(explanation.application ?? .empty) {
        (explanation.candidates, explanation.candidatesLeftOut) = ([], 0)
      }
      // The rules are the person's: a sandbox does not read them.
      if !caller.isSandboxed { explanation.rules = rules }
    }
  }
}
