public import FoundationEssentials
internal import SceneModel

// The form of a payload on a clipboard, or in a toolkit's own drag.
extension Payload {
  /// The MIME type of an encoded payload.
  public static let contentType = "application/vnd.stagedoor.payload+json"

  /// Returns the payload as bytes, including the data that its providers load. Each value of a `userInfo` keeps its type: a date comes back
  /// as a date, a set as a set.
  ///
  /// ```swift
  /// import FoundationEssentials
  ///
  /// func copy(_ cat: UserActivity) async throws -> (type: String, bytes: Data) {
  ///   (Payload.contentType, try await Payload(cat).encoded())
  /// }
  ///
  /// func paste(_ bytes: Data) throws -> UserActivity? {
  ///   try Payload(decoding: bytes).items.first?.itemProvider.userActivities.first
  /// }
  /// ```
  ///
  /// - Parameter visibility: Who can read the bytes. The bytes leave out everything that fewer readers may see.
  public func encoded(visibleTo visibility: Visibility = .all) async throws(StagedoorError) -> Data {
    let visible: Set<Visibility> =
      switch visibility {
      case .all: [.all]
      case .application: [.all, .application]
      case .ownProcess: [.all, .application, .ownProcess]
      }
    return Data(try await json(visibleTo: visible).utf8)
  }

  /// Reads a payload from bytes that ``encoded(visibleTo:)`` made, or a payload document with the options of ``DeliveryOptions``; others but
  /// `asStranger`, which is refused, are left out. ``StagedoorError/Code/invalidPayload`` names the place of a fault.
  public init(decoding data: Data) throws(StagedoorError) {
    guard let text = String(validating: data, as: UTF8.self) else {
      throw .invalidPayload(at: .document, "expected UTF-8")
    }
    let model: SceneModel.Payload
    do throws(Fault) { model = try SceneModel.Payload(json: Text(text), ReadingRules.plain) } catch {
      throw StagedoorError(payload: error)
    }
    // A payload from elsewhere would get the rights of this program.
    if model.options.isFromStranger {
      throw .invalidPayload(
        at: Place.document.key("options").key("asStranger"), "expected none; deliver(document:) takes it")
    }
    let items = try model.items.map { item throws(StagedoorError) in DragItem(itemProvider: try ItemProvider(item)) }
    self.init(items: items, DeliveryOptions(model.options))
  }
}

extension ItemProvider {
  fileprivate init(_ item: Item) throws(StagedoorError) {
    self.init()
    suggestedName = item.suggestedName?.string
    for activity in item.activities { registerObject(UserActivity(activity)) }
    for representation in item.representations {
      let source: Source
      switch representation.content {
      case .data(let bytes): source = .data(Data(bytes))
      case .text(let text): source = .text(text.string)
      case .file(let url): source = .file(try Self.url(url), openInPlace: representation.openInPlace)
      // The reader of documents produces none of these.
      case .descriptor, .promise, .stored: continue
      }
      add(representation.type.spelling.string, Visibility(representation.visibility), source)
    }
  }

  private static func url(_ text: Text) throws(StagedoorError) -> URL {
    guard let url = URL(string: text.string) else {
      throw .invalidPayload(at: .document, "expected a file URL, got \(quoted(text.string))")
    }
    return url
  }
}

extension DeliveryOptions {
  fileprivate init(_ model: PayloadOptions) {
    self.init()
    disposition = Disposition(rawValue: model.disposition.rawValue) ?? .auto
    session = (model.session?.string).flatMap { SessionIdentifier($0) }
    application = model.application?.string
    configuration = model.configuration?.string
    role = (model.role?.string).map { SessionRole(rawValue: $0) }
    requestingSession = (model.requestingSession?.string).flatMap { SessionIdentifier($0) }
    presentationStyle = PresentationStyle(rawValue: model.presentationStyle.rawValue) ?? .automatic
    token = model.token?.string
    if model.deadline != PayloadOptions.defaultDeadline { deadline = .seconds(model.deadline) }
    wait = Wait(rawValue: model.wait.rawValue) ?? .routed
    activationToken = model.activationToken?.string
    isPrivate = model.isPrivate
    keepsPromises = model.keepPromises
    isStrict = model.isStrict
  }
}
