import StagedoorGTK

/// What people read of a message.
@MainActor final class MessageView: Column {
  private let subject = Label(wraps: true).style("title-2")
  private let sender = Label().style("dim-label")
  let text = Label(wraps: true)

  init() {
    super.init(spacing: 12)
    for part in [subject, sender, text] { append(part) }
    padding(18)
  }

  func show(_ message: Message) {
    subject.text = message.subject
    sender.text = "from \(message.from)"
    text.text = message.text
  }
}
