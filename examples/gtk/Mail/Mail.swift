import FoundationEssentials
import StagedoorGTK
import StagedoorKit

/// Mail, with windows of three kinds.
@MainActor final class Mail: Application {
  let drafts: Drafts
  /// A setting that all windows follow at once.
  private(set) var hasLargeText = false

  init() throws {
    drafts = try Drafts()
    super.init("org.stagedoor.examples.Mail")
  }

  override func didFinishLaunching(with options: LaunchOptions) {
    restoresWindows = true
    GtkStage.addStyle(".large-text { font-size: 1.4em; }")
    addAction("compose", title: "New Message", shortcut: "<Control><Shift>n") { [unowned self] in
      try await open(Message.newActivity, from: $0)
    }
    addAction("large-text", title: "Large Text", shortcut: "<Control>l") { [unowned self] _ in
      hasLargeText.toggle()
      post(.settingsUpdated)
    }
    addAction("release", title: "Release Windows in the Background") { [unowned self] _ in releaseBackground() }
  }

  override func sceneDelegate(for session: SceneSession) -> SceneDelegate? {
    switch session.configuration.name {
    case "Message": MessageScene(self)
    case "Compose": ComposeScene(self)
    default: MailboxScene(self)
    }
  }

  /// Also for windows that were closed for good while the program did not run.
  override func didDiscard(_ sessions: Set<SessionIdentifier>) { for session in sessions { drafts.remove(session) } }

  func open(_ activity: UserActivity, from scene: Scene?) async throws {
    try await requestSceneSessionActivation(
      nil, userActivity: activity,
      options: .init(requestingScene: scene, activationToken: GtkStage.activationToken()))
  }

  /// Their sessions stay, and are given a window again when somebody selects them.
  private func releaseBackground() {
    for scene in connectedScenes where scene.activationState == .background { scene.release() }
  }
}

/// What the windows have in common: the setting, which they follow.
@MainActor class MailWindow: WindowScene {
  let mail: Mail
  init(_ mail: Mail) { self.mail = mail }

  func follow(_ scene: Scene, _ texts: Widget...) {
    let show = { [mail] in for text in texts { text.style("large-text", isOn: mail.hasLargeText) } }
    scene.observe(.settingsUpdated) { _ in show() }
    show()
  }
}

/// All messages, and one of them beside them.
@MainActor final class MailboxScene: MailWindow {
  private let page = Place(Label("Select a message", align: 0.5).style("dim-label"))
  private let view = MessageView()

  override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) {
    scene.title = "Mail"
    defaultSize = (820, 480)
    leadingItems = [
      Button(icon: "document-edit-symbolic", "New Message") { [unowned self] in open(Message.newActivity) }
    ]
    let list = List<Message> { [unowned self] in row(of: $0) }.onSelect { [unowned self] in show($0) }
    list.items = Message.all
    content = Split(Scroll(list.style("navigation-sidebar")), page, at: 300)
    follow(scene, view.text)
    list.selection = session.userInfo["selected"]?.string
    show(list.selection)
  }

  private func row(of message: Message) -> Widget {
    Column(spacing: 2, Label(message.from).style("heading"), Label(message.subject).style("dim-label")).padding(6)
      .onDrag { [DragItem(message.activity)] }
      .contextMenu { [unowned self] in
        [
          MenuItem("Open in New Window") { [unowned self] in open(message.activity) },
          MenuItem("Reply") { [unowned self] in open(message.replyActivity) },
        ]
      }
  }

  private func show(_ identifier: String?) {
    guard let message = Message.all.first(where: { $0.id == identifier }) else { return }
    scene?.userInfo["selected"] = .string(message.id)
    view.show(message)
    page.content = view
  }

  private func open(_ activity: UserActivity) {
    attempt("opening a window") { [self] in try await mail.open(activity, from: scene) }
  }
}

/// A message in a window of its own, from which there is no way back to the list.
@MainActor final class MessageScene: MailWindow {
  private let view = MessageView()

  override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) {
    defaultSize = (520, 380)
    closing = .releases
    content = view
    follow(scene, view.text)
    if let activity = options.userActivities.first ?? session.stateRestorationActivity {
      self.scene(scene, continue: activity)
    }
  }

  override func scene(_ scene: Scene, continue activity: UserActivity) {
    guard let message = Message.all.first(where: { $0.id == activity.targetContentIdentifier }) else {
      return message = "This message has been deleted."
    }
    view.show(message)
    scene.title = message.subject
    scene.userActivity = activity
    scene.activationConditions = SceneActivationConditions(can: .equals(message.id), prefers: .equals(message.id))
    trailingItems = [
      Button(icon: "mail-reply-sender-symbolic", "Reply") { [unowned self] in
        attempt("answering") { [self] in try await mail.open(message.replyActivity, from: scene) }
      }
    ]
  }
}

/// A message that is being written.
@MainActor final class ComposeScene: MailWindow {
  override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) {
    let activity = options.userActivities.first ?? session.stateRestorationActivity
    scene.title = activity?.title ?? "New message"
    scene.userActivity = activity
    defaultSize = (520, 400)
    let text = TextArea(mail.drafts.text(of: scene.id)).onChange { [unowned self] text in
      attempt("keeping the draft") { try mail.drafts.store(text, of: scene.id) }
    }
    content = Column(
      TextField(activity?.userInfo["to"]?.string ?? "", placeholder: "To").padding(6),
      TextField(activity?.userInfo["subject"]?.string ?? "", placeholder: "Subject").padding(6), Scroll(text))
    trailingItems = [Button("Send") { [unowned self] in destroy(animation: .commit) }.style("suggested-action")]
    follow(scene, text)
  }
}

@main enum Main {
  static func main() { GtkStage.run { try Mail() } }
}
