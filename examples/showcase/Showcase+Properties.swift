import DBus

extension Showcase {
  /// Each kind of property.
  nonisolated func declareProperties(in interface: inout Interface) {
    interface.property("Version", constant: Self.version)
    // Kept and announced by the binding.
    interface.property("Mood", stored: mood, writable: true)
    // Kept here, and checked before it is.
    interface.property(
      "Volume", on: self, get: { showcase, _ in showcase.volume },
      set: { showcase, _, value in
        guard (0...1).contains(value) else { throw ShowcaseError.volumeOutOfRange(value) }
        showcase.volume = value
      })
    // Long, so a change only says that there was one.
    interface.property(
      "Announcements", emits: .invalidates, on: self, get: { showcase, _ in showcase.announcements })
  }
}
