import InterchangeCore
import InterchangeTurns
import SceneModel

// The contents of deliveries and drags: the baggage store, the sources of promises, and the peers that drag and open.
extension World {
  // MARK: Acts

  func performOfItems(_ kind: Act.Kind) {
    // The real program would need the same files and descriptors.
    if setting.isFaultless { return }
    switch kind {
    case .carries: carry()
    case .carriesUnderToken: carryUnderToken()
    case .promises: promise()
    case .renews: renew()
    case .baggageWorks: for _ in 0..<(1 + chance.below(3)) { baggageWorks() }
    case .opens: open(releases: false)
    case .releases: open(releases: true)
    case .dragBegins: beginDrag()
    default: dragGoesOn()
    }
  }

  private func carry() {
    let caller = caller()
    var payload = payload(caller, isPlain: false)
    load(&payload.items, isPrivate: payload.options.isPrivate, from: caller)
    payload.options.keepPromises = chance.once(in: 3)
    sizePromises(&payload)
    if chance.once(in: 4) { payload.options.wait = .handled }
    call(caller, .deliver(payload, digest: .empty, size: 60 + chance.below(600)))
  }

  /// A call with one of a few tokens, whose contents the baggage store must take: the answer to an earlier call may come in between.
  private func carryUnderToken() {
    let caller = caller()
    let number = chance.below(3)
    var payload = Payload(UserActivity(activityType: "org.theatre.open", targetContentIdentifier: "packed"))
    if let type = ContentType("image/png") {
      payload.items[0].representations = [Representation(type: type, .file("file:///packed.png"))]
    }
    payload.options.token = Text("packed-\(number)")
    payload.options.statedDeadline = 60
    call(caller, .deliver(payload, digest: Text("packed document \(number)"), size: 100))
  }

  /// A promise under one of a few tokens, mostly of a program that hosts an application and may take it up again.
  private func promise() {
    let (place, number) = (sender(), chance.below(3))
    var payload = Payload(UserActivity(activityType: "org.theatre.open", targetContentIdentifier: "promised"))
    if let type = ContentType("image/png") {
      payload.items[0].representations = [Representation(type: type, .promise(Text("/promises/\(number)")))]
    }
    let token = use(of: Text("promise-\(number)"), by: connections[place].caller)
    payload.options.token = token.token
    payload.options.statedDeadline = 60
    promisers[token, default: []].formUnion(own(connections[place].caller))
    call(place, .deliver(payload, digest: Text("promised document \(number)"), size: 100))
  }

  private func renew() {
    let place = sender()
    // Mostly one that somebody waits for.
    let asked = baggage.openings.compactMap {
      if case .promise(let promise) = $0.parcel.content { promise } else { nil }
    }
    let number = chance.once(in: 4) ? nil : chance.any(of: asked)?.path.string.last?.wholeNumberValue
    let token = use(of: Text("promise-\(number ?? chance.below(3))"), by: connections[place].caller)
    let own = own(connections[place].caller)
    call(place, .renewPromises(token: token.token), mayOpen: !own.isDisjoint(with: promisers[token] ?? []))
  }

  private func sender() -> Int {
    if chance.once(in: 3) { return caller() }
    let place = chance.any(of: programs.map(\.connection).filter { connections[$0].isThere }) ?? caller()
    // The last announcement may give it an application.
    endTurn()
    return place
  }

  /// The applications that a caller hosts, or that its sandbox names.
  private func own(_ caller: Caller) -> Set<Text> {
    if caller.isSandboxed { return caller.application.isEmpty ? [] : [caller.application] }
    return Set(setting.applications.map(\.identifier).filter { prompter.book.isHost(caller, of: $0) })
  }

  func use(of token: Text, by owner: Caller) -> TokenUse {
    TokenUse(token: token, owner: owner.isSandboxed && owner.application.isEmpty ? "?" : owner.application)
  }

  private func load(_ items: inout [Item], isPrivate: Bool, from caller: Int) {
    let mark = isPrivate ? "s3cr3t-" : ""
    for place in items.indices {
      for type in ["image/png", "text/html", "text/plain"] where chance.once(in: 2) {
        guard let type = ContentType(Text(type)) else { continue }
        if items[place].representations.contains(where: { $0.type == type }) { continue }
        let content: Representation.Content =
          switch chance.below(7) {
          case 0: .text(Text("\(mark)text"))
          case 1: .data([UInt8](repeating: 1, count: Allowance.smallParcel + 1))
          case 2, 3: .descriptor(chance.below(3))
          case 4: .file(Text("file:///\(mark)\(chance.below(3)).png"))
          default: .promise(Text("/promises/\(chance.below(3))"))
          }
        var representation = Representation(type: type, content)
        if case .file = content { representation.openInPlace = chance.once(in: 3) }
        if chance.once(in: 6) {
          representation = Representation(type: type, .text(Text("0wn\(connections[caller].name)*")))
          representation.visibility = .ownProcess
        }
        items[place].representations.append(representation)
      }
    }
  }

  /// Some senders know how long their promised data is. The name of the item repeats it.
  private func sizePromises(_ payload: inout Payload) {
    // Promises that are kept are as long as they prove to be.
    if payload.options.keepPromises { return }
    for item in payload.items.indices {
      for (place, promised) in payload.items[item].representations.enumerated() {
        guard case .promise = promised.content else { continue }
        payload.items[item].representations[place].promisedSize = 1_000 + Int64(place)
        payload.items[item].suggestedName = Text("\(promised.type.spelling) \(1_000 + place)")
      }
    }
  }

  /// The host of a delivery opens its contents, or somebody does who may not.
  private func open(releases: Bool) {
    guard let delivery = chance.once(in: 8) ? dragged.keys.min() : delivery(),
      let stored = disk.undisturbed({ (try? prompter.delivery(delivery)) ?? nil })
    else { return }
    let host = programs.first { program in
      program.application == stored.application
        && prompter.book.isHost(connections[program.connection].caller, of: stored.application)
    }
    let place = chance.once(in: 4) ? caller() : host?.connection ?? caller()
    // The last announcement may give it a host.
    endTurn()
    guard broken == nil, connections.indices.contains(place), connections[place].isThere else { return }
    let mayOpen = mayOpen(connections[place].caller, stored.application)
    if releases { return call(place, .release(delivery), mayOpen: mayOpen) }
    let type: Text = chance.one(of: ["", "", "text/plain", "text/html", "image/*", "public.data"])
    call(place, .openItem(delivery, item: chance.below(2), type: type), mayOpen: mayOpen)
  }

  private func mayOpen(_ caller: Caller, _ application: Text) -> Bool {
    do throws(InterchangeError) {
      try prompter.book.requireHost(caller, of: application)
      return true
    } catch {
      return false
    }
  }

  // MARK: Drags

  /// A drag, as those who take part in it know it.
  struct Dragged {
    let ticket: Text
    let source: Int
    let outlivesSource: Bool
    /// The connections that may hear of it.
    var parties: Set<Text>
    var isOver = false
    /// With which it was dropped.
    var operation: Text?
  }

  private func beginDrag() {
    let caller = caller()
    var payload = payload(caller, isPlain: true)
    (payload.options.token, payload.options.wait) = (nil, .routed)
    if chance.once(in: 2) { payload.options.allowedOperations = [.copy, .move] }
    payload.options.keepPromises = chance.once(in: 3)
    load(&payload.items, isPrivate: false, from: caller)
    sizePromises(&payload)
    let ticket = Text("ticket-\(callNumber)")
    call(caller, .beginDrag(payload, ticket: ticket, outlivesSource: chance.once(in: 4), size: 60 + chance.below(600)))
  }

  private func dragGoesOn() {
    guard let drag = chance.any(of: dragged.keys.sorted()), let known = dragged[drag] else { return }
    let isByStranger = chance.once(in: 5) || !connections[known.source].isThere
    let place = isByStranger ? caller() : known.source
    switch chance.below(8) {
    case 0: call(place, .cancelDrag(drag))
    case 1: call(caller(), .openDrag(ticket: known.ticket))
    case 2:
      var items = [Item()]
      load(&items, isPrivate: false, from: place)
      if items[0].representations.isEmpty { return }
      call(place, .addItems(items, to: drag, size: 100))
    case 3, 4: call(place, .propose(drag, on: chance.once(in: 4) ? nil : chance.any(of: seen)))
    default:
      call(
        place,
        .drop(
          drag, on: chance.once(in: 4) ? nil : chance.any(of: seen),
          operation: chance.one(of: ["copy", "copy", "move", "link"])))
    }
  }

  func told(of drag: UniqueIdentifier, _ news: DragNews, _ listeners: [Text]) {
    tell("     ~ drag \(drag): \(news) to \(listeners)")
    guard let known = dragged[drag] else {
      return breaks(.drags, "of the drag \(drag) nobody knows, and it says \(news)")
    }
    // A host that was asked for a proposal may no longer be a host, or may have left.
    let others = connections.filter { connection in
      connection.isThere && !programs.contains { connections[$0.connection].name == connection.name }
    }
    let strangers = Set(others.map(\.name)).subtracting(known.parties)
    if let stranger = listeners.first(where: strangers.contains) {
      breaks(.drags, "\(stranger) has no part in the drag \(drag), and is told \(news)")
    }
    guard case .ended = news else { return }
    if known.isOver { breaks(.drags, "the drag \(drag) ended twice") }
    if connections[known.source].isThere, !listeners.contains(connections[known.source].name) {
      breaks(.drags, "the source of the drag \(drag) is not told that it ended")
    }
    dragged[drag]?.isOver = true
    if dragged.count > 60 { dragged = dragged.filter { !$0.value.isOver } }
  }

  // MARK: The baggage store

  /// The baggage store does the next work for one of its waiting calls.
  ///
  /// - Parameter obeys: Whether nothing fails, and no source is silent.
  func baggageWorks(obeys: Bool = false) {
    if baggage.packings.isEmpty, baggage.openings.isEmpty { return }
    let place = chance.below(baggage.packings.count + baggage.openings.count)
    if place < baggage.packings.count { pack(place, obeys) } else { open(place - baggage.packings.count, obeys) }
  }

  private func pack(_ place: Int, _ obeys: Bool) {
    let (number, orders) = (baggage.packings[place].number, baggage.packings[place].orders)
    let order = orders[baggage.packings[place].sizes.count]
    func fail(_ name: InterchangeError.Name, _ why: String) {
      let error = InterchangeError(name, "\(order.place): \(why)")
      if baggage.packings[place].eachItem, calls[number] != nil {
        baggage.packings[place].failures[order.item] = error
        return took(nil)
      }
      baggage.packings.remove(at: place)
      feed(.packed(number, .failed(error)))
    }
    func took(_ size: Int64?) {
      baggage.packings[place].sizes.append(size)
      guard baggage.packings[place].sizes.count == orders.count else { return }
      let task = baggage.packings.remove(at: place)
      feed(.packed(number, .packed(task.sizes, failures: task.failures)))
    }
    // The call was answered while the last of its contents was taken.
    if calls[number] == nil { return fail(.cancelled, "nobody waits for it") }
    if baggage.packings[place].failures[order.item] != nil { return took(nil) }
    if case .promise(let promise) = order.source {
      if !isThere(promise.source) { return fail(.sourceGone, "its source has left") }
      if !obeys, chance.once(in: 6) { return }
    }
    if !obeys, chance.once(in: 10) {
      return fail(chance.one(of: [.storageFailed, .invalidPayload, .sourceGone]), "it cannot be taken")
    }
    if case .file(_, inPlace: true) = order.source {
      took(1_000)
    } else {
      let size = chance.one(of: [10, 1_000, 100_000])
      if size > baggage.packings[place].rest { return fail(.limitsExceeded, "it is too large") }
      let isDescriptor = if case .descriptor = order.source { true } else { false }
      baggage.packings[place].rest -= size
      if !baggage.keep(order) {
        breaks(.baggage, "content \(order.number) of the delivery \(order.delivery) takes the place of another")
      }
      took(isDescriptor && size == 10 ? nil : Int64(size))
    }
  }

  private func open(_ place: Int, _ obeys: Bool) {
    let task = baggage.openings[place]
    var (failure, hasLeft) = (nil as InterchangeError?, false)
    switch task.parcel.content {
    case .data: break
    case .file: if !obeys, chance.once(in: 4) { failure = InterchangeError(.invalidPayload, "it is gone") }
    case .kept(let number), .held(let number):
      if baggage.kept[task.delivery]?[number] == nil {
        failure = InterchangeError(.sourceGone, "the service began anew")
        if !baggage.bereft.contains(task.delivery) {
          breaks(.baggage, "content \(number) of the delivery \(task.delivery) is not there")
        }
      }
    case .promise(let promise):
      if !isThere(promise.source) {
        // The question whether it is there is on its way. Another connection may take its promises up meanwhile.
        if !obeys, !chance.once(in: 8) { return }
        (failure, hasLeft) = (InterchangeError(.sourceGone, "its source has left"), true)
      } else if !obeys {
        // The source is slow, or fails.
        if chance.once(in: 3) { return }
        if chance.once(in: 4) { failure = InterchangeError(.routing("org.theatre.Error"), "no") }
      }
    }
    baggage.openings.remove(at: place)
    feed(
      .opened(task.number, failure.map { hasLeft ? .sourceLeft($0) : .failed($0) } ?? .opened(size: task.parcel.size)))
  }

  /// Nobody else gets a parcel for its sender alone.
  func checkOpening(_ number: CallNumber, _ parcel: Parcel) {
    guard case .data(let bytes) = parcel.content, let sent = calls[number] else { return }
    let text = Text(String(decoding: bytes.prefix(100), as: UTF8.self))
    if text.holds("0wn"), !text.holds("0wn\(sent.caller.connection ?? "?")*") {
      breaks(.secrets, "\(sent.caller.connection ?? "?") opens \(text)")
    }
  }

  func checkBaggage() {
    for (drag, known) in dragged where !known.isOver && !known.outlivesSource && !connections[known.source].isThere {
      let source = connections[known.source]
      let isTold = !news.contains { if case .callerWent(source.name) = $0 { true } else { false } }
      if isTold, !prompter.hasBacklog, prompter.book.viewOfDrag(drag, for: source.caller)?.state == "dragging" {
        breaks(.drags, "the source of the drag \(drag) has left, and it goes on")
      }
    }
    let needed = prompter.book.carrying.union(prompter.book.dragging).union(prompter.book.packing)
    if let delivery = baggage.kept.keys.first(where: { !needed.contains($0) }) {
      breaks(.baggage, "the baggage store keeps what \(delivery) carried, and nobody can open or free it")
    }
  }
}
