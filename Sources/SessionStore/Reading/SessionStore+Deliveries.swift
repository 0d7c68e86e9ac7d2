package import SceneModel

extension SessionStore {
  /// A delivery; `nil` if it does not exist, or if its row does not parse, which is reported. A spent delivery has no documents.
  package func delivery(_ identifier: UniqueIdentifier) throws(StoreError) -> StoredDelivery? {
    var found = try wholeDelivery(identifier)
    if let delivery = found, delivery.isSpent(at: now) { found?.forgetDocuments() }
    return found
  }

  private func wholeDelivery(_ identifier: UniqueIdentifier) throws(StoreError) -> StoredDelivery? {
    let change = tail.deliveries[identifier]
    if case .whole(let delivery, _) = change { return delivery }
    var query = try database().query("SELECT \(StoredDelivery.columns) FROM delivery WHERE identifier = ?")
    query.put(identifier)
    guard try query.step() else { return nil }
    do throws(Malformed) {
      var delivery = try StoredDelivery(from: &query, rules)
      if case .changed(let progress, let previous) = change {
        delivery.advance(to: progress)
        if let previous { delivery.previous = previous }
      }
      return delivery
    } catch {
      passOver("the delivery \(identifier)", error)
      return nil
    }
  }

  /// The deliveries of a token, in the order in which they were made: one delivery, or those of one batch.
  package func deliveries(token: Text, sender: Text) throws(StoreError) -> [UniqueIdentifier] {
    var found: [UniqueIdentifier] = []
    var query = try database().query(
      "SELECT identifier FROM delivery WHERE token = ? AND sender = ? AND token IS NOT NULL ORDER BY number")
    query.put(token)
    query.put(sender)
    while try query.step() {
      guard let identifier = try? query.identifier() else { continue }
      if case .whole = tail.deliveries[identifier] { continue }
      found.append(identifier)
    }
    return found + (tail.tokens[Tail.TokenKey(token: token, sender: sender)] ?? [])
  }

  /// Some of the deliveries, newest first. A page is only empty after the last.
  ///
  /// - Parameters:
  ///   - state: `nil` for all states.
  ///   - application: `nil` for all applications.
  ///   - after: The delivery before the page.
  /// - Returns: `nil` if `after` does not exist.
  package func deliveries(
    in state: DeliveryState? = nil, of application: Text? = nil, after: UniqueIdentifier? = nil, limit: Int
  ) throws(StoreError) -> [DeliverySummary]? {
    var start = Int64.max
    if let after {
      guard let number = try numbered(after)?.number else { return nil }
      start = number
    }
    var query = try database().query(
      """
      SELECT number, \(DeliverySummary.columns) FROM delivery
        WHERE \(state == nil ? "" : "state = ? AND") \(application == nil ? "" : "application = ? AND") number < ?
        ORDER BY number DESC
      """)
    if let state { query.put(Text(state.rawValue)) }
    if let application { query.put(application) }
    query.put(start)
    let changed = try deliveriesOfTail {
      $0.number < start && (state == nil || $0.summary.progress.state == state)
        && (application == nil || $0.summary.application == application)
    }
    return try merge(&query, changed.sorted { $0.number > $1.number }, limit) { $0.number > $1.number }
  }

  /// The open deliveries, in the order in which they came.
  package func openDeliveries() throws(StoreError) -> [DeliverySummary] {
    let changed = try deliveriesOfTail { $0.summary.progress.isOpen }.sorted { $0.number < $1.number }
    // Mostly there is none, and preparing the long statement takes a tenth of the time in which a store is opened.
    if try database().number("SELECT 1 FROM delivery WHERE is_open") == nil { return changed.map(\.summary) }
    var query = try database().query(
      "SELECT number, \(DeliverySummary.columns) FROM delivery WHERE is_open ORDER BY number")
    return try merge(&query, changed, .max) { $0.number < $1.number }
  }

  // MARK: Rows and the tail

  struct Numbered {
    let number: Int64
    var summary: DeliverySummary
  }

  func numbered(_ identifier: UniqueIdentifier) throws(StoreError) -> Numbered? {
    switch tail.deliveries[identifier] {
    case .whole(let delivery, let number): return Numbered(number: number, summary: delivery.summary)
    case let change:
      var query = try database().query("SELECT number, \(DeliverySummary.columns) FROM delivery WHERE identifier = ?")
      query.put(identifier)
      guard try query.step(), var row = read(&query) else { return nil }
      row.summary.goOn(change)
      return row
    }
  }

  private func read(_ query: inout Query) -> Numbered? {
    do throws(Malformed) {
      return Numbered(number: try query.integer(), summary: try DeliverySummary(from: &query))
    } catch {
      passOver("delivery number \(query.number(at: 0))", error)
      return nil
    }
  }

  /// Looks up each delivery, of which there is at most a batch. Deliveries before the page's start are skipped.
  private func deliveriesOfTail(_ isWanted: (Numbered) -> Bool) throws(StoreError) -> [Numbered] {
    var found: [Numbered] = []
    for identifier in tail.deliveries.keys {
      if let one = try numbered(identifier), isWanted(one) { found.append(one) }
    }
    return found
  }

  private func merge(
    _ query: inout Query, _ changed: [Numbered], _ limit: Int, by comesFirst: (Numbered, Numbered) -> Bool
  ) throws(StoreError) -> [DeliverySummary] {
    var page: [DeliverySummary] = []
    var changed = changed[...]
    while page.count < limit, try query.step() {
      guard var row = read(&query), tail.deliveries[row.summary.identifier] == nil else { continue }
      row.summary.goOn()
      while page.count < limit, let other = changed.first, comesFirst(other, row) {
        page.append(changed.removeFirst().summary)
      }
      if page.count < limit { page.append(row.summary) }
    }
    page += changed.prefix(max(0, limit - page.count)).map(\.summary)
    return page
  }
}
