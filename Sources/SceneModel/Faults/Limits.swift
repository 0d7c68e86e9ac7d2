/// The greatest sizes of documents and their parts. Each limit is defined here once, with its reason.
package enum Limits {
  /// The bytes of a payload: a photograph in base64 fits. The bus itself would take 128 MiB, but the service would hold several copies; larger
  /// contents come as a file or a descriptor.
  package static let payload = 16 << 20

  /// The bytes of a manifest: Xcode's largest have some ten thousand, and the service keeps all manifests in memory.
  package static let manifest = 1 << 20

  /// The levels of a document. A reader calls itself for each level, on a stack of unknown size, and a message of the bus nests no deeper.
  package static let depth = 64

  /// The levels of a `userInfo`, tags included: the service keeps and sends it inside other documents, which have a few levels themselves.
  package static let userInfoDepth = depth - 8

  /// The values in one document. Each can be written in two bytes, and takes some fifty when it is read.
  package static let values = 100_000

  /// The items of a payload, and, below, the representations and activities of an item: every watcher of a drag receives the list.
  package static let items = 1_000
  package static let perItem = 100

  /// The representations of a payload, in all its items: the service keeps a row for each.
  package static let representations = 10_000

  /// The content types of a payload that routing looks at: it looks up each, and a sender puts the important type first.
  package static let routedTypes = 100

  /// The bytes of an activity type, a content type, or the name of a configuration: as many as a name on the bus may have, because they have the same
  /// spelling and come with every signal.
  package static let name = 255

  /// The bytes of a key, a title, or a URL: a path of the greatest length in Linux, with each byte percent-encoded.
  package static let text = 3 * 4096 + 512

  /// The configurations of a manifest, in all roles: routing keeps a set of them in one machine word.
  package static let configurations = 64

  /// The sessions without a scene that an application keeps if its manifest gives no number: nobody closes more windows by hand.
  package static let keptSessions = 10_000

  /// The activity types or content types that a manifest declares, or that all its configurations take: reading a manifest compares each type of a
  /// configuration with each declared type.
  package static let types = 1_000

  /// The faults of a manifest that are reported at once: an author with more starts with these.
  package static let faults = 100

  /// The steps of a decision, each about four nanoseconds at most, so that nobody waits longer than 20 milliseconds for another's decision. This is
  /// enough to evaluate some ten thousand conditions without an index for a usual key, and some hundred for the longest key.
  package static let conditionSteps = 1 << 22

  /// The bytes of a predicate, and, below, its levels, as `docs/predicates.md` promises.
  package static let predicate = 4096
  package static let predicateDepth = 64
}
