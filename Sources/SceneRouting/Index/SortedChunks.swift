/// Elements in order, in chunks of a few hundred: an insertion moves no more than one chunk, however many elements there are.
///
/// Each call passes the order, because it often depends on a table beside the elements.
struct SortedChunks<Element: Sendable>: Sendable {
  typealias Order = (Element, Element) -> Bool

  /// No chunk is empty.
  private var chunks: [[Element]] = []
  private(set) var count = 0

  /// The elements that fit into a page or two. A chunk that grows beyond this is cut in half.
  private static var capacity: Int { 256 }

  var first: Element? { chunks.first?.first }

  struct Position {
    fileprivate var chunk: Int
    fileprivate var offset: Int
  }

  mutating func insert(_ element: Element, by precedes: Order) {
    count += 1
    if chunks.isEmpty {
      chunks.append([element])
      return
    }
    let position = lowerBound { precedes($0, element) }
    let chunk = Swift.min(position.chunk, chunks.count - 1)
    let offset = position.chunk == chunks.count ? chunks[chunk].count : position.offset
    chunks[chunk].insert(element, at: offset)
    if chunks[chunk].count > Self.capacity {
      let upper = Array(chunks[chunk][(Self.capacity / 2)...])
      chunks[chunk].removeSubrange((Self.capacity / 2)...)
      chunks.insert(upper, at: chunk + 1)
    }
  }

  /// Removes the element that neither precedes nor follows `element`, if there is one.
  mutating func remove(_ element: Element, by precedes: Order) {
    let position = lowerBound { precedes($0, element) }
    guard let found = self[position], !precedes(element, found) else { return }
    count -= 1
    chunks[position.chunk].remove(at: position.offset)
    if chunks[position.chunk].isEmpty { chunks.remove(at: position.chunk) }
  }

  subscript(position: Position) -> Element? {
    position.chunk < chunks.count ? chunks[position.chunk][position.offset] : nil
  }

  /// The first position whose element is not `isBefore`: all elements before it are.
  func lowerBound(_ isBefore: (Element) -> Bool) -> Position {
    var (low, high) = (0, chunks.count)
    while low < high {
      let middle = (low + high) / 2
      // A chunk is before if its last element is.
      if isBefore(chunks[middle][chunks[middle].count - 1]) { low = middle + 1 } else { high = middle }
    }
    guard low < chunks.count else { return Position(chunk: low, offset: 0) }
    let chunk = low
    (low, high) = (0, chunks[chunk].count)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(chunks[chunk][middle]) { low = middle + 1 } else { high = middle }
    }
    return Position(chunk: chunk, offset: low)
  }
}

extension SortedChunks {
  /// The number of elements that are `isBefore`: they come first.
  func countInFront(_ isBefore: (Element) -> Bool) -> Int {
    let position = lowerBound(isBefore)
    return chunks[..<position.chunk].reduce(position.offset) { $0 + $1.count }
  }

  var backwards: some Sequence<Element> { chunks.lazy.reversed().flatMap { $0.reversed() } }
}

extension SortedChunks: Sequence {
  struct Iterator: IteratorProtocol {
    fileprivate let chunks: SortedChunks
    fileprivate var position: Position

    mutating func next() -> Element? {
      guard let element = chunks[position] else { return nil }
      position.offset += 1
      if position.offset == chunks.chunks[position.chunk].count {
        position = Position(chunk: position.chunk + 1, offset: 0)
      }
      return element
    }
  }

  func makeIterator() -> Iterator { Iterator(chunks: self, position: Position(chunk: 0, offset: 0)) }
}
