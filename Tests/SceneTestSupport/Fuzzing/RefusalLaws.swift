import SceneModel

/// The laws of a refusal: it names the fault on one line, and a place that exists.
enum RefusalLaws {
  static func check(_ fault: Fault, of document: FuzzedDocument) throws(BrokenLaw) {
    try checkSentence(fault.reason)
    let place = fault.place
    if place.isEmpty { return }
    if place.hasPrefix("byte ") {
      guard let offset = Int(place.dropFirst(5)), (0...document.bytes.count).contains(offset) else {
        throw BrokenLaw("there is no \(place) in \(document.bytes.count) bytes")
      }
    } else if place.hasPrefix("line ") {
      try check(lineAndColumn: place, in: document.bytes)
    } else {
      guard let tree = document.tree else { throw BrokenLaw("a path, \(place), into what could not be taken apart") }
      if !leads(Array(place.utf8)[...], into: tree, isFirst: true) { throw BrokenLaw("\(place) is not in \(tree)") }
    }
  }

  static func check(_ error: PredicateError, of source: Text) throws(BrokenLaw) {
    try checkSentence(error.reason)
    if error.reason.utf8.count > 400 { throw BrokenLaw("a message that nobody reads to its end: \(error)") }
    let last = source.string.unicodeScalars.count + 1
    if !(1...last).contains(error.column) { throw BrokenLaw("column \(error.column) of \(last): \(error.reason)") }
  }

  /// A message may only be so long: each piece of a caller's text is cut if it is long.
  static func checkSentence(_ reason: String) throws(BrokenLaw) {
    let breaks = reason.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x2028 || $0.value == 0x2029 }
    if reason.isEmpty || breaks || reason.utf8.count > 2000 || reason.hasSuffix(".") {
      throw BrokenLaw("not a sentence without its full stop: \(reason)")
    }
  }

  private static func check(lineAndColumn place: String, in bytes: [UInt8]) throws(BrokenLaw) {
    let numbers = place.dropFirst(5).split(separator: ", column ").compactMap { Int($0) }
    let text = String(decoding: bytes, as: UTF8.self).unicodeScalars
    let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r" }
    // A carriage return by itself ends a line in XML but not in JSON, so this takes the larger column.
    guard numbers.count == 2, (1...lines.count).contains(numbers[0]), (1...(text.count + 1)).contains(numbers[1]) else {
      throw BrokenLaw("there is no \(place) in \(lines.count) lines")
    }
  }

  // MARK: Paths

  /// Whether the path leads to something in the tree, or to something that could stand there.
  private static func leads(_ path: ArraySlice<UInt8>, into tree: Value, isFirst: Bool) -> Bool {
    if path.isEmpty { return true }
    switch tree {
    case .array(let elements):
      guard path.first == UInt8(ascii: "["), let end = path.firstIndex(of: UInt8(ascii: "]")),
        let index = Int(String(decoding: path[(path.startIndex + 1)..<end], as: UTF8.self)),
        elements.indices.contains(index)
      else { return false }
      return leads(path[(end + 1)...], into: elements[index], isFirst: false)
    // The elements of a set have no places of their own.
    case .set(let set): return set.elements.contains { leads(path, into: $0, isFirst: isFirst) }
    case .dictionary(let entries):
      if isMissingKey(path, isFirst) { return true }
      return entries.entries.contains { entry in
        // The content of a tag has the place of the tag.
        if entries.count == 1, entry.key.hasPrefix("$"), leads(path, into: entry.value, isFirst: isFirst) {
          return true
        }
        let step = Array(Place.document.key(entry.key).description.utf8)
        let written = isFirst || step.first == UInt8(ascii: "[") ? step : [UInt8(ascii: ".")] + step
        return path.starts(with: written)
          && leads(path.dropFirst(written.count), into: entry.value, isFirst: false)
      }
    default: return false
    }
  }

  /// Whether the last step is a key that a reader knows.
  private static func isMissingKey(_ path: ArraySlice<UInt8>, _ isFirst: Bool) -> Bool {
    let known = [
      "type", "activityType", "CFBundleIdentifier", "UIApplicationSceneManifest", "UISceneConfigurations",
      "UISceneConfigurationName",
    ]
    return known.contains { path.elementsEqual(Array(((isFirst ? "" : ".") + $0).utf8)) }
  }
}
