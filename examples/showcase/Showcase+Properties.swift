import DBus

extension Showcase {
  /// One property of each kind.
  nonisolated func declareProperties(in interface: inout Interface) {
    interface.property("Version", constant: Self.version)
    // The binding stores and announces this value.
    interface.property("Mood", stored: mood, writable: true)
    // The service stores this value, after a check.
    interface.property(
      "Volume", on: self, get: { showcase, _ in showcase.volume },
      set: { showcase, _, value in
        guard (0...1).contains(value) else { throw ShowcaseError.volumeOutOfRange(value) }
        showcase.volume = value
      })
    // The value is long, so a change is announced without it.
    interface.property(
      "Announcements", emits: .invalidates, on: self, get: { showcase, _ in showcase.announcements })
  }
}

/// A string on the bus that has one of these values.
enum Mood: String, BusValue {
  case calm, merry, tired
}
