import FoundationEssentials
import StagedoorGTK
import StagedoorKit

/// Mail, with windows of three kinds.
@MainActor final class Mail: Application {
  static let identifier = "org.stagedoor.examples.Mail"
  let drafts: Drafts
  let mailbox: Mailbox
  /// A setting that all windows follow at once.
  private(set) var hasLargeText = false

  init() throws {
    let folder = try GtkStage.dataFolder(of: Self.identifier)
    (drafts, mailbox) = (try Drafts(in: folder), try Mailbox(in: folder))
    super.init(Self.identifier)
  }

  override func didFinishLaunching(with options: LaunchOptions) {
    restoresWindows = true
    GtkStage.addStyle(".large-text { font-size: 1.4em; }")
    addAction("compose", title: "New Message", shortcut: "<Control>m") { (window: MailWindow) in
      window.open(Message.newActivity)
    }
    addAction("large-text", title: "Large Text", shortcut: "<Control>l") { (mail: Mail) in
      mail.hasLargeText.toggle()
      mail.post(.settingsUpdated)
    }
    addAction("release", title: "Release Windows in the Background") { (mail: Mail) in mail.releaseBackground() }
  }

  override func sceneDelegate(for session: SceneSession) -> SceneDelegate? {
    switch session.configuration.name {
    case "Message": MessageScene(self)
    case "Compose": ComposeScene(self)
    default: MailboxScene(self)
    }
  }

  /// The library calls this also for sessions that were closed for good while the program did not run.
  override func didDiscard(_ sessions: Set<SessionIdentifier>) { for session in sessions { drafts.remove(session) } }

  /// Releases the windows in the background. Their sessions stay, and get a window again when somebody selects them.
  private func releaseBackground() {
    for scene in connectedScenes where scene.activationState == .background { scene.release() }
  }

  /// Sends a message. This example has no network: the list then shows the message as sent.
  func send(_ draft: Draft) throws {
    try mailbox.send(draft)
    post(.mailboxUpdated)
  }
}

/// The common parts of the windows: a message to read, and the setting that they follow.
@MainActor class MailWindow: WindowScene {
  let mail: Mail
  private let (subject, sender) = (Label(wraps: true).style("title-2"), Label().style("dim-label"))
  let text = Label(wraps: true)
  private(set) lazy var page = Column(spacing: 12, subject, sender, text).padding(18)
  init(_ mail: Mail) { self.mail = mail }

  func follow(_ scene: Scene, with text: Widget) {
    let show = { [mail] in text.style("large-text", isOn: mail.hasLargeText) }
    scene.observe(.settingsUpdated) { _ in show() }
    show()
  }

  func read(_ identifier: String?) -> Message? {
    guard let message = mail.mailbox.message(identifier) else { return nil }
    (subject.text, sender.text, text.text) = (message.subject, message.correspondent, message.text)
    return message
  }
}

/// The list of messages, and the selected message beside it.
@MainActor final class MailboxScene: MailWindow {
  private let place = Place(Label("Select a message", align: .center).style("dim-label"))
  private let list = List<Message> { $0.row }.onSelect { (message, window: MailboxScene) in window.show(message) }

  override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) {
    scene.title = "Mail"
    defaultSize = (820, 480)
    leadingItems = [
      Button(icon: "document-edit-symbolic", "New Message") { (window: MailWindow) in window.open(Message.newActivity) }
    ]
    content = Split(Scroll(list.style("navigation-sidebar")), place, at: 300)
    follow(scene, with: text)
    scene.observe(.mailboxUpdated) { _ in self.list.items = self.mail.mailbox.messages }
    list.items = mail.mailbox.messages
    list.selection = session.userInfo["selected"]?.string
    show(list.selection)
  }

  private func show(_ identifier: String?) {
    guard let message = read(identifier) else { return }
    scene?.userInfo["selected"] = .string(message.id)
    place.content = page
  }
}

extension Message {
  @MainActor fileprivate var row: Widget {
    Column(spacing: 2, Label(wasSent ? "To \(person)" : person).style("heading"), Label(subject).style("dim-label"))
      .padding(6)
      .onDrag { [DragItem(activity)] }
      .contextMenu { (window: MailboxScene) in
        [
          MenuItem("Open in New Window") { window.open(activity) },
          MenuItem("Reply") { window.open(replyActivity) },
        ]
      }
  }
}

/// A message in a window of its own, from which there is no way back to the list.
@MainActor final class MessageScene: MailWindow {
  override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) {
    defaultSize = (520, 380)
    closing = .releases
    content = page
    follow(scene, with: text)
    if let activity = options.userActivities.first ?? session.stateRestorationActivity {
      self.scene(scene, continue: activity)
    }
  }

  override func scene(_ scene: Scene, continue activity: UserActivity) {
    guard let message = read(activity.targetContentIdentifier) else {
      return self.message = "This message has been deleted."
    }
    scene.title = message.subject
    scene.userActivity = activity
    scene.activationConditions = .only(message.id)
    trailingItems = [
      Button(icon: "mail-reply-sender-symbolic", "Reply") { (window: MessageScene) in window.open(message.replyActivity)
      }
    ]
  }
}

/// A window for writing a message.
@MainActor final class ComposeScene: MailWindow {
  private let (to, subject) = (TextField(placeholder: "To"), TextField(placeholder: "Subject"))
  private let body = TextArea()

  override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) {
    let activity = options.userActivities.first ?? session.stateRestorationActivity
    scene.title = activity?.title ?? "New message"
    scene.userActivity = activity
    defaultSize = (520, 400)
    content = Column(to.padding(6), subject.padding(6), Scroll(body))
    trailingItems = [Button("Send") { (window: ComposeScene) in window.send() }.style("suggested-action")]
    follow(scene, with: body)
    (to.text, subject.text) = (activity?.userInfo["to"]?.string ?? "", activity?.userInfo["subject"]?.string ?? "")
    attempt("Reading the draft") {
      guard let draft = try mail.drafts.draft(of: scene.id) else { return }
      (to.text, subject.text, body.text) = (draft.to, draft.subject, draft.text)
    }
    for input in [to, subject, body] { input.onChange { (_, window: ComposeScene) in window.store() } }
  }

  private var draft: Draft { Draft(to: to.text, subject: subject.text, text: body.text) }

  private func store() {
    guard let scene else { return }
    attempt("Keeping the draft") { try mail.drafts.store(draft, of: scene.id) }
  }

  private func send() {
    if to.text.isEmpty {
      message = "Type the name of a recipient."
      return to.focus()
    }
    attempt("Sending the message") {
      try mail.send(draft)
      // The draft is deleted with the session.
      destroy(animation: .commit)
    }
  }
}

@main enum Main {
  static func main() { GtkStage.run { try Mail() } }
}
