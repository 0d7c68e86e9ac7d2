extension Stagedoor {
  /// The list of sessions, the oldest first, page by page.
  package func sessionPages(
    of application: String? = nil, atMost limit: UInt32? = nil
  ) -> Pages<SessionSummary, SessionIdentifier> {
    Pages(limit, \.session) { after, limit throws(StagedoorError) in
      try await sessionList(of: application, after: after, limit: limit)
    }
  }

  /// The list of deliveries, the newest first, page by page.
  package func deliveryPages(
    in filter: DeliveryFilter = .all, atMost limit: UInt32? = nil
  ) -> Pages<DeliveryRecord, DeliveryIdentifier> {
    Pages(limit, \.identifier) { after, limit throws(StagedoorError) in
      try await deliveries(in: filter, after: after, limit: limit)
    }
  }
}

/// The pages of a long list.
package struct Pages<Row, Identifier>: AsyncSequence, AsyncIteratorProtocol {
  package typealias Failure = StagedoorError

  private var rest: UInt32
  /// The rows so far. The list goes on behind the last one that is still there.
  private var listed: [Identifier] = []
  private let identifier: (Row) -> Identifier
  private let page: (_ after: Identifier?, _ limit: UInt32) async throws(StagedoorError) -> [Row]

  fileprivate init(
    _ limit: UInt32?, _ identifier: @escaping (Row) -> Identifier,
    page: @escaping (_ after: Identifier?, _ limit: UInt32) async throws(StagedoorError) -> [Row]
  ) {
    (rest, self.identifier, self.page) = (limit ?? .max, identifier, page)
  }

  package func makeAsyncIterator() -> Self { self }

  package mutating func next() async throws(StagedoorError) -> [Row]? {
    if rest == 0 { return nil }
    let rows = try await following()
    if rows.isEmpty { return nil }
    rest -= Swift.min(rest, UInt32(rows.count))
    listed += rows.map(identifier)
    return rows
  }

  package mutating func next(isolation actor: isolated (any Actor)?) async throws(StagedoorError) -> [Row]? {
    try await next()
  }

  private mutating func following() async throws(StagedoorError) -> [Row] {
    while true {
      do throws(StagedoorError) {
        // A row has a few hundred bytes.
        return try await page(listed.last, Swift.min(1000, rest))
      } catch  where !listed.isEmpty && [.noSuchSession, .noSuchDelivery].contains(error.code) {
        // It was destroyed meanwhile, and with it its place in the list.
        listed.removeLast()
      }
    }
  }
}
