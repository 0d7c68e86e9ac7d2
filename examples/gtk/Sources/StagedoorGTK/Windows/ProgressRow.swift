internal import CGtk4
internal import StagedoorKit

/// The progress of a load, with a button that cancels it.
@MainActor final class ProgressRow: Row {
  private let what: String
  private let label = Label()
  private let bar = Widget { gtk_progress_bar_new() }

  init(_ what: String, cancel: @escaping @MainActor () -> Void) {
    self.what = what
    super.init(spacing: 12)
    append(label)
    append(bar.expand(vertically: false).align(vertically: .center))
    append(Button("Cancel", action: cancel))
    style("stage-progress")
  }

  func show(_ progress: ItemProgress) {
    let (completed, total) = (progress.completedByteCount, progress.totalByteCount)
    let amount = total.map { "\(Self.megabytes(completed)) of \(Self.megabytes($0)) MB" }
    label.text = completed == 0 ? what : "\(what): \(amount ?? "\(Self.megabytes(completed)) MB")"
    bar.opaque { bar in
      if let fraction = progress.fractionCompleted {
        gtk_progress_bar_set_fraction(bar, fraction)
      } else {
        gtk_progress_bar_pulse(bar)
      }
    }
  }

  private static func megabytes(_ bytes: Int) -> String { "\(bytes / 1_000_000).\(bytes / 100_000 % 10)" }
}
