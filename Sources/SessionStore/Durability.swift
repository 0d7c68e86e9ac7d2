/// What an acknowledged change survives.
package enum Durability: String, CaseIterable, Sendable {
  /// A power cut: the change is on the disk before anyone is answered.
  case full
  /// The end of the process, however it comes. A power cut may lose the last changes, but keeps everything before them.
  case normal
  /// Nothing: there is no file.
  case memory
}
