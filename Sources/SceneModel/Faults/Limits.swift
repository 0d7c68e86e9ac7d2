/// How large things may be. Each limit stands here once, with its reason.
package enum Limits {
  /// Bytes of a payload: a photograph in base64 fits. The bus itself would take 128 MiB, of which we would hold several copies;
  /// what is larger comes as a file or a descriptor.
  package static let payload = 16 << 20

  /// Bytes of a manifest: Xcode's largest are some ten thousand, and all of them are kept in memory.
  package static let manifest = 1 << 20

  /// How deep a document may nest. Readers descend by calling themselves, on whatever stack they were given, and a message of
  /// the bus nests no deeper.
  package static let depth = 64

  /// How deep a `userInfo` may nest, tags and all: it is kept and told inside other documents, which are a few levels themselves.
  package static let userInfoDepth = depth - 8

  /// Values in one document. Each can be written in two bytes, and takes some fifty when it is read.
  package static let values = 100_000

  /// Items of a payload, and representations and activities of an item: each is listed to every watcher of a drag.
  package static let items = 1_000
  package static let perItem = 100

  /// Representations of a payload, in all of its items: each is a row of what the service keeps.
  package static let representations = 10_000

  /// Content types that a payload is routed past: each is looked up, and a sender who means something puts it in front.
  package static let routedTypes = 100

  /// Bytes of an activity type, a content type, or the name of a configuration: as long as a name on the bus may be, since they are
  /// spelled in the same way and sent along with every signal.
  package static let name = 255

  /// Bytes of a key, a title, or any URL: a path of the greatest length that Linux takes, with each byte percent-encoded.
  package static let text = 3 * 4096 + 512

  /// Configurations of a manifest, in all roles: routing keeps a set of them in one machine word.
  package static let configurations = 64

  /// Sessions without a scene that are kept of an application whose manifest does not say how many: more than anyone puts away by hand.
  package static let keptSessions = 10_000

  /// Activity types or content types that a manifest declares, or that all its configurations take: each of these is held against each
  /// of those, whenever it is read.
  package static let types = 1_000

  /// Faults that a manifest's author is told at once: whoever has more starts with these.
  package static let faults = 100

  /// Steps that a decision may take, at most some four nanoseconds each, so that nobody waits longer than 20 milliseconds for another's. Some
  /// ten thousand conditions that no index finds can be asked about a usual key, and some hundred about the longest.
  package static let conditionSteps = 1 << 22

  /// Bytes of a predicate, and how deep it may nest: what `docs/predicates.md` promises.
  package static let predicate = 4096
  package static let predicateDepth = 64
}
