package import SceneModel
package import SceneRouting

// What the shell asks of the core, which changes nothing. What is answered is stored: the shell ends its turn before it asks.
extension PromptBook {
  // MARK: Applications

  package func manifest(of application: Text) -> Manifest? { memory.routing.manifest(of: application) }

  /// Where its manifest is installed; "" for one that was registered.
  package func manifestFile(of application: Text) -> Text { memory.manifests[application]?.file ?? .empty }

  package func isHostAttached(to application: Text) -> Bool { memory.hosts[application] != nil }

  /// In the order of their identifiers.
  package var applications: [Text] { memory.manifests.values.keys.sorted() }

  package func preferredApplication(for type: Text) -> Text? { memory.preferences[type] }

  /// In the order of the types.
  package var preferredApplications: [(type: Text, application: Text)] {
    memory.preferences.values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// Who takes an activity type or a content type, the application first that a payload without further options would go to. Where the
  /// core lacks something, learn it and ask again.
  package func handlers(of type: Text) throws(Lack) -> Result<[Text], InterchangeError> {
    do throws(Stop) {
      return .success(try memory.routing.handlers(of: type))
    } catch {
      switch error {
      case .needs(let need): throw .routing([need])
      case .refused(let refusal): return .failure(InterchangeError(refusal))
      }
    }
  }

  /// Sessions were found whose configuration their manifest has lost: the next moment discards them.
  package var hasOrphans: Bool { !memory.orphaned.isEmpty }

  package func knowsAll(of application: Text) -> Bool { memory.routing.knows(.allSessions(of: application)) }

  /// Whether anything is known of an application: it has a manifest, or had one when its sessions were made.
  package func hasHeard(of application: Text) -> Bool {
    memory.routing.manifest(of: application) != nil || memory.sessionCounts[application] != nil
  }

  // MARK: Sessions and deliveries

  /// A session that is remembered whole.
  package func rememberedSession(_ identifier: UniqueIdentifier) -> Session? { memory.sessions[identifier] }

  package func knows(_ identifier: UniqueIdentifier) -> Bool { memory.routing.contains(identifier) }

  package func application(of session: UniqueIdentifier) -> Text? { memory.routing.application(of: session) }

  package func recentDelivery(_ identifier: UniqueIdentifier) -> StoredDelivery? { memory.recent[identifier] }

  /// The connection that may see what others may not of an open delivery.
  package func confidant(of delivery: UniqueIdentifier) -> Text? { memory.deliveries[delivery]?.confidant }

  /// The deliveries that carry something.
  package var carrying: Set<UniqueIdentifier> { Set(memory.baggage.values.keys) }

  /// The drags that are not over.
  package var dragging: Set<UniqueIdentifier> { Set(memory.drags.values.filter { !$0.value.state.isOver }.keys) }

  /// The deliveries and drags whose contents are being packed.
  package var packing: Set<UniqueIdentifier> { Set(memory.packings.values.values.flatMap(\.deliveries)) }

  /// Deliveries for which somebody waits, with the calls.
  package var waitedFor: [(identifier: UniqueIdentifier, calls: [CallNumber])] {
    memory.waiters.values.map { ($0.key, $0.value) }
  }

  /// Whether it matters that a connection leaves: it is charged for something, or is the source of a drag.
  package func isCharged(_ connection: Text) -> Bool {
    ledger.isCharged(.connection(connection)) || isSource(connection)
  }

  /// A sandbox is charged by its application, however many connections it has.
  private func isSource(_ connection: Text) -> Bool {
    memory.drags.values.values.contains { $0.endsWith(connection) && !$0.state.isOver }
      || memory.packings.values.values.contains { $0.failure(without: connection) != nil }
  }

  // MARK: Who may

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

  /// What a payload would come to now, and why. Where the core lacks something, learn it and ask again.
  package mutating func explain(
    _ payload: Payload, from caller: Caller, at moment: Moment
  ) throws(Lack) -> Result<Decision, InterchangeError> {
    do throws(Halt) {
      try refuseFiles(payload, caller)
      let request = Request(payload, from: sender(caller), newSession: newIdentifier(), listsCandidates: true)
      switch SceneRouting.decide(memory.routing, request, at: moment.time) {
      case .decided(var decision):
        // A sandbox reads its own application's sessions only, and does not learn how many others have.
        if !caller.mayTouch(decision.explanation.application ?? .empty) {
          (decision.explanation.candidates, decision.explanation.candidatesLeftOut) = ([], 0)
        }
        return .success(decision)
      case .needs(let need): throw .lacks(.routing([need]))
      }
    } catch {
      switch error {
      case .lacks(let lack): throw lack
      case .refused(let refusal): return .failure(refusal)
      }
    }
  }
}
