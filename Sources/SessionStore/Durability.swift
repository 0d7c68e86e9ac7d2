/// What an acknowledged change survives.
package enum Durability: String, CaseIterable, Sendable {
  /// A power cut: the disk has it before anyone is answered.
  case full
  /// The end of the process, however it comes; a power cut may take the last of them, and leaves what came before.
  case normal
  /// Nothing: there is no file.
  case memory
}
