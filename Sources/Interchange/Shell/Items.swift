import Baggage
import DBus
import InterchangeCore
import InterchangeTurns
import InterchangeWire
import SceneModel

// The contents of deliveries. The baggage store has the bytes and the descriptors, on a loop of its own, and the core decides about them. A
// descriptor that comes with a call belongs to the call until the call is answered or the baggage store takes the descriptor.
extension Interchange {
  // MARK: Handing in

  func dropURIs(_ reply: DeliveryReply, _ list: Text, _ type: Text, _ key: Text) throws {
    let uris = try URIList(list)
    let files = uris.files
    if files.isEmpty { return handInItems(try Interchange.payload(of: uris, type, key), [], size: list.count, reply) }
    // Before any file is looked at.
    try refuseSandbox(reply.call, "name files: it sends descriptors, or a portal's key")
    let (size, fileType) = (list.count, settings.fileType)
    aside(.fileCalls, bytes: size, for: reply) { () throws(InterchangeError) in
      // A disk may be slow, and calls are answered meanwhile.
      var types: [[UInt8]: ContentType] = [:]
      for (place, url, path) in files {
        let place = Interchange.place(place, of: url)
        types[path] = try await self.baggageStore.look(fileAt: url, at: place) { file in fileType(path, file) }
      }
      return try Interchange.payload(of: uris, type, key, types)
    } _: { payload in
      self.handInItems(payload, [], size: size, reply)
    }
  }

  private static func payload(
    of list: URIList, _ type: Text, _ key: Text, _ types: [[UInt8]: ContentType] = [:]
  ) throws(InterchangeError) -> Payload {
    do throws(Fault) {
      return Payload(
        items: try list.items(activityType: type, key: key) { types[$0] ?? FileTypes.type(ofBytes: [0]) })
    } catch {
      throw InterchangeError(payload: error)
    }
  }

  func dropText(_ reply: DeliveryReply, _ text: Text, _ directory: Text, _ info: [Text: Text]) throws {
    let payload = try Payload(text: text, directory: directory, info: info)
    handInItems(payload, [], size: payload.items.weight, reply)
  }

  func dropData(
    _ reply: DeliveryReply, _ type: Text, _ name: Text, _ activityType: Text, _ key: Text, _ data: OwnedFileDescriptor
  ) throws {
    let item = try Item(ofType: type, suggestedName: name, activityType: activityType, key: key)
    handInItems(Payload(items: [item]), [data], size: 0, reply)
  }

  func deliverItems(
    _ payload: Payload, _ descriptors: [OwnedFileDescriptor], _ reply: DeliveryReply
  ) throws {
    handInItems(payload, descriptors, size: payload.items.weight, reply)
  }

  private func handInItems(
    _ payload: Payload, _ descriptors: [OwnedFileDescriptor], size: Int, _ reply: DeliveryReply
  ) {
    let digest: Text = payload.options.token == nil ? .empty : Digest(of: Text("items \(payload.json)")).hex
    handIn(payload, bringing: descriptors, digest: digest, size: size, reply)
  }

  /// Takes contents into the baggage store, one after another.
  func pack(_ number: CallNumber, _ orders: [PackingOrder], atMost limit: Int, eachItem: Bool) {
    let descriptors = luggage.removeValue(forKey: number) ?? []
    connection.loop.task {
      let answer = await pack(orders, descriptors, Int64(limit), eachItem, for: number)
      feed(.packed(number, answer))
    }
  }

  private func pack(
    _ orders: [PackingOrder], _ descriptors: [OwnedFileDescriptor], _ limit: Int64, _ eachItem: Bool,
    for number: CallNumber
  ) async -> PackingAnswer {
    var (sizes, failures) = ([] as [Int64?], [:] as [Int: InterchangeError])
    var (rest, canonical) = (limit, [:] as [Int: Text])
    for (place, order) in orders.enumerated() {
      // The call may have been answered while the last content was taken: the baggage store has freed that content, and must take no more.
      if replies[number] == nil {
        return .failed(InterchangeError(.cancelled, "nobody waits for the answer any more"))
      }
      var size: Int64?
      do throws(InterchangeError) {
        if failures[order.item] == nil { (size, canonical[place]) = try await pack(order, descriptors, rest) }
      } catch {
        if !eachItem { return .failed(error) }
        failures[order.item] = error
      }
      switch order.source {
      case .bytes, .file(_, inPlace: false), .promise: rest = max(0, rest - max(Int64(Parcel.smallestFile), size ?? 0))
      case .file(_, inPlace: true), .descriptor: break
      }
      sizes.append(size)
    }
    return .packed(sizes, failures: failures, canonical: canonical)
  }

  /// The place of a file in an error for its sender, who may not have numbered the items.
  private static func place(_ place: String, of url: Text) -> String { "\(place): \(quoted(url.string))" }

  private func pack(
    _ order: PackingOrder, _ descriptors: [OwnedFileDescriptor], _ limit: Int64
  ) async throws(InterchangeError) -> (size: Int64?, canonicalURL: Text?) {
    let (number, delivery, place) = (order.number, order.delivery, order.place.string)
    switch order.source {
    case .bytes(let bytes):
      if bytes.count > limit { throw .tooLong(limit, at: place) }
      try await baggageStore.keep(bytes, as: number, of: delivery, at: place)
      return (Int64(bytes.count), nil)
    case .file(let url, inPlace: true):
      return try await baggageStore.check(fileAt: url, at: Interchange.place(place, of: url))
    case .file(let url, inPlace: false):
      let place = Interchange.place(place, of: url)
      return (try await baggageStore.copy(fileAt: url, as: number, of: delivery, atMost: limit, at: place), nil)
    case .descriptor(let index):
      guard descriptors.indices.contains(index) else {
        throw InterchangeError(.invalidPayload, "\(place): expected a descriptor of the call, got number \(index)")
      }
      return (try await baggageStore.keep(descriptors[index], as: number, of: delivery, at: place), nil)
    case .promise(let promise):
      let (data, said) = try await load(promise, within: .microseconds(PromptBook.loadingPatience))
      if let said, let announced = order.announced, said != announced {
        throw InterchangeError(.sourceGone, "\(place): the source announced \(announced) bytes and hands out \(said)")
      }
      let promised = said ?? order.announced
      let size: Int64
      do throws(InterchangeError) {
        size = try await baggageStore.copy(
          data, as: number, of: delivery, atMost: min(limit, promised ?? limit), at: place)
      } catch {
        guard let promised, promised < limit, error == .tooLong(promised, at: place) else { throw error }
        throw InterchangeError(.sourceGone, "\(place): the source announced \(promised) bytes and sends more")
      }
      // The pipe closes when the source has finished, and also when it dies.
      if let promised, size < promised {
        throw InterchangeError(.sourceGone, "\(place): the source announced \(promised) bytes but sent \(size)")
      }
      return (size, nil)
    }
  }

  // MARK: Opening

  func openItem(
    _ reply: Reply<OwnedFileDescriptor, Int64>, _ delivery: Text, _ item: UInt32, _ type: Text
  ) throws {
    let ask = Ask.openItem(try deliveryIdentifier(delivery), item: Int(item), type: type)
    let (number, opening) = (newCallNumber(), Opening())
    openings[number] = opening
    call(reply.call, ask, as: number) { answer in
      if case .opened(let size) = answer, let data = opening.data {
        reply.send(data, size)
      } else {
        self.putBack(opening)
        answer.fail(reply)
      }
    }
  }

  private func hasLeft(_ promise: Promise?) async -> Bool {
    guard let promise, let source = try? BusName(promise.source.string) else { return false }
    return (try? await connection.owner(of: source)) == .some(.none)
  }

  func releaseDelivery(_ reply: Reply<>, _ delivery: Text) throws {
    call(reply.call, .release(try deliveryIdentifier(delivery))) { $0.send(to: reply) }
  }

  func renewPromises(_ reply: Reply<>, _ token: Text) throws {
    call(reply.call, .renewPromises(token: token)) { $0.send(to: reply) }
  }

  /// Opens a parcel for a caller.
  func open(
    _ number: CallNumber, _ delivery: UniqueIdentifier, _ parcel: Parcel, for sandbox: Text?, within patience: Duration
  ) {
    guard let opening = openings[number] else { return }
    switch parcel.content {
    case .promise(let promise): opening.promise = promise
    case .held(let number): opening.held = (number, delivery)
    case .data, .kept, .file: break
    }
    opening.task = connection.loop.task {
      let answer: OpeningAnswer
      do throws(InterchangeError) {
        let (data, size) = try await open(parcel, of: delivery, for: sandbox, within: patience)
        opening.data = data
        answer = .opened(size: size)
      } catch {
        answer = await hasLeft(opening.promise) ? .sourceLeft(error) : .failed(error)
      }
      if case .sourceLeft = answer {
        // The call may wait for another source, and then begins anew.
        opening.task = nil
        feed(.opened(number, answer))
      } else if openings.removeValue(forKey: number) != nil {
        feed(.opened(number, answer))
      } else {
        putBack(opening)
      }
    }
  }

  private func open(
    _ parcel: Parcel, of delivery: UniqueIdentifier, for sandbox: Text?, within patience: Duration
  ) async throws(InterchangeError) -> (OwnedFileDescriptor, Int64?) {
    let place = "the item"
    switch parcel.content {
    case .data(let bytes): return (try BaggageStore.memoryFile(bytes), Int64(bytes.count))
    case .kept(let number), .held(let number):
      return try await baggageStore.open(number, of: delivery, for: sandbox, at: place)
    case .file(let url): return try await baggageStore.open(fileAt: url, of: delivery, for: sandbox, at: place)
    case .promise(let promise):
      let (data, size) = try await load(promise, within: patience)
      do throws(InterchangeError) {
        let place = "the descriptor from the source of \(promise.type)"
        return (try await baggageStore.open(data, of: delivery, for: sandbox, at: place), size ?? parcel.size)
      } catch  where error.name == .invalidPayload {
        // The host's call is right; the source's answer is not.
        throw InterchangeError(.sourceGone, error.message)
      }
    }
  }

  /// Nobody has got what was opened: a pipe can be opened again.
  private func putBack(_ opening: Opening) {
    guard let data = opening.data, let held = opening.held else { return }
    opening.data = nil
    connection.loop.task { await baggageStore.putBack(data, held.number, of: held.delivery) }
  }

  /// Nobody waits for the content any more. The source of a promise may stop its work.
  func callOff(_ number: CallNumber) {
    guard let opening = openings.removeValue(forKey: number) else { return }
    opening.task?.cancel()
    if let promise = opening.promise { cancelLoad(of: promise) }
  }

  private func cancelLoad(of promise: Promise) {
    do throws(CodingError) {
      try ItemSource(promise, on: connection)?.cancelLoad()
    } catch {
      log.debug("\(promise.source) could not be told that nobody waits for what it promised: \(error)")
    }
  }

  /// Nobody will ask for these promises again. Their sources are told in portions, so that others have their turns in between.
  func endPromises(_ promises: [Promise]) {
    releases.add(promises)
    if releases.isTelling { return }
    releases.isTelling = true
    connection.loop.task { await tellReleases() }
  }

  private func tellReleases() async {
    defer { releases.isTelling = false }
    while !isClosed, let source = releases.nextSource {
      guard let name = try? BusName(source.string), await isReady(name, isTold: releases.isTold(source)) else {
        releases.forget(source)
        continue
      }
      for promise in releases.take(Releases.atOnce, of: source) {
        do throws(CodingError) {
          try ItemSource(promise, on: connection)?.release()
        } catch {
          log.debug("\(promise.source) could not be told that its promise is over: \(error)")
        }
      }
    }
  }

  /// A source that has left need not be told. One that was told of many promises must have read that before it is told of more.
  private func isReady(_ source: BusName, isTold: Bool) async -> Bool {
    do throws(CallError) {
      if !isTold { return try await connection.owner(of: source) != nil }
      try await connection.call(to: source, at: "/", "org.freedesktop.DBus.Peer", "Ping", timeout: .seconds(5))
      return true
    } catch {
      return false
    }
  }

  /// Asks the source for a promised content.
  private func load(
    _ promise: Promise, within patience: Duration
  ) async throws(InterchangeError) -> (OwnedFileDescriptor, Int64?) {
    guard let source = ItemSource(promise, on: connection) else {
      throw InterchangeError(.sourceGone, "the promise of \(promise.type) names no object that could be asked")
    }
    do throws(CallError) {
      return try await insisting("\(promise.source), which has promised something,", within: patience) {
        (rest) async throws(CallError) in
        try await source.load(within: rest)
      }
    } catch {
      switch error {
      case .timedOut:
        cancelLoad(of: promise)
        throw InterchangeError(.sourceGone, "the source did not hand out \(promise.type) within \(patience)")
      case .replied(let reply) where reply.saysNobodyIsThere:
        throw InterchangeError(.sourceGone, "the source of \(promise.type) has left the bus")
      case .replied(let reply):
        throw InterchangeError(.routing(Text(reply.name.rawValue)), "the source of \(promise.type): \(error.short)")
      default: throw InterchangeError(.sourceGone, "the source of \(promise.type) cannot be asked: \(error.short)")
      }
    }
  }

  /// The baggage store frees its contents of these deliveries.
  func free(_ deliveries: [UniqueIdentifier]) { connection.loop.task { await baggageStore.free(deliveries) } }

  func free(_ parcels: [Int], of delivery: UniqueIdentifier) {
    connection.loop.task { await baggageStore.free(parcels, of: delivery) }
  }

  /// Removes the contents and the snapshots of deliveries and sessions that no longer exist.
  func sweepBaggage(keeping deliveries: Set<UniqueIdentifier>) async {
    do throws(InterchangeError) {
      try await baggageStore.sweep(keeping: deliveries)
    } catch {
      log.warning("the spool of an earlier run could not be swept: \(error.message)")
    }
    do throws(InterchangeError) {
      try await baggageStore.sweepSnapshots { await self.isKept($0, isPrivate: $1) }
    } catch {
      log.warning("the snapshots of an earlier run could not be swept: \(error.message)")
    }
  }

  private func isKept(_ session: UniqueIdentifier, isPrivate: Bool) -> Bool {
    do throws(InterchangeError) {
      return try storedSession(session)?.keepsPicture(isPrivate: isPrivate) ?? false
    } catch {
      // A session that cannot be read now keeps a public picture until the next start.
      return !isPrivate
    }
  }
}

/// An opening for a call. The table of openings holds it until it is opened or called off; then the reply of the call holds it until it is sent.
final class Opening {
  var task: Task<Void, Never>?
  /// The promise, if its source is asked.
  var promise: Promise?
  /// The content, if the baggage store holds its descriptor.
  var held: (number: Int, delivery: UniqueIdentifier)?
  var data: OwnedFileDescriptor?
}

/// The promises whose sources are to be told that nobody will ask for them again.
struct Releases {
  /// The sources that are told in one turn of the loop.
  static let atOnce = 256

  private var waiting: [Text: ArraySlice<Promise>] = [:]
  /// The sources with waiting promises that were told of others.
  private var told: Set<Text> = []
  /// The sources, in the order in which their promises ended.
  private var sources: [Text] = []
  var isTelling = false

  mutating func add(_ promises: [Promise]) {
    guard let source = promises.first?.source else { return }
    // All of them are usually of one source.
    let own = promises.allSatisfy { $0.source == source } ? promises : promises.filter { $0.source == source }
    if waiting[source] == nil { sources.append(source) }
    waiting[source, default: []] += own
    if own.count < promises.count { add(promises.filter { $0.source != source }) }
  }

  var nextSource: Text? { sources.first }

  /// Takes some of a source's promises. The source then waits until the others have had their turn.
  mutating func take(_ count: Int, of source: Text) -> ArraySlice<Promise> {
    guard let all = waiting[source] else { return [] }
    forget(source)
    if all.count > count {
      waiting[source] = all.dropFirst(count)
      sources.append(source)
      told.insert(source)
    }
    return all.prefix(count)
  }

  func isTold(_ source: Text) -> Bool { told.contains(source) }

  mutating func forget(_ source: Text) {
    if waiting.removeValue(forKey: source) != nil { sources.removeAll { $0 == source } }
    told.remove(source)
  }
}

extension [Item] {
  /// Roughly the bytes of the call.
  var weight: Int {
    reduce(0) { sum, item in
      item.representations.reduce(sum + 256) { sum, representation in
        switch representation.content {
        case .data(let bytes): sum + bytes.count
        case .text(let text): sum + text.count
        default: sum + 64
        }
      }
    }
  }
}
