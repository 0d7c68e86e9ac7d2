import SceneModel
import SceneRouting

extension Stage {
  /// Drops an activity.
  mutating func drop(
    _ type: Text, key: Text? = nil, _ disposition: PayloadOptions.Disposition = .auto, to application: Text? = nil,
    in configuration: Text? = nil, role: Text? = nil, asking requesting: String? = nil, on session: String? = nil,
    by sender: Sender = Sender()
  ) -> Happening {
    drop(
      items: [item(activity(type, key))], disposition, to: application, in: configuration, role: role,
      asking: requesting, on: session, by: sender)
  }

  /// Drops any payload.
  ///
  /// - Parameters:
  ///   - application: The application that the payload names; likewise `configuration`, `role` and `session`.
  ///   - requesting: The window that the user acted in.
  mutating func drop(
    items: [Item], _ disposition: PayloadOptions.Disposition = .auto, to application: Text? = nil,
    in configuration: Text? = nil, role: Text? = nil, asking requesting: String? = nil, on session: String? = nil,
    by sender: Sender = Sender()
  ) -> Happening {
    var options = PayloadOptions()
    options.disposition = disposition
    options.application = application
    options.configuration = configuration
    options.role = role
    options.requestingSession = requesting.map { Text("\(identifier($0))") }
    options.session = session.map { Text("\(identifier($0))") }
    return drop(Payload(items: items, options: options), by: sender)
  }

  mutating func drop(_ payload: Payload, by sender: Sender = Sender()) -> Happening {
    play { Request(payload, from: sender, newSession: $0) }
  }

  /// Drops a document in the form that its sender writes.
  mutating func drop(json: String, by sender: Sender = Sender()) throws -> Happening {
    drop(try Payload(json: Text(json), ReadingRules(types: Stage.types)), by: sender)
  }

  // MARK: Why

  private var explanation: Explanation? { decision?.explanation }

  /// Why the decision chose that session, or a new one.
  var because: SessionReason? { explanation?.sessionReason }
  var application: Text? { explanation?.application }
  var whyApplication: ApplicationReason? { explanation?.applicationReason }
  var configuration: Text? { explanation?.configuration }
  var whyConfiguration: ConfigurationReason? { explanation?.configurationReason }
  var key: Text? { explanation.flatMap { $0.keySource == nil ? nil : $0.key } }
  var whyKey: KeySource? { explanation?.keySource }
  var routing: RoutingActivity? { explanation?.routingActivity }

  /// The message of a refusal.
  var message: String? {
    guard case .refused(let refusal) = decision?.outcome else { return nil }
    return refusal.message
  }
}

// MARK: - Things to drop

func activity(_ type: Text, _ key: Text? = nil, visibility: Visibility = .all) -> UserActivity {
  UserActivity(activityType: type, targetContentIdentifier: key, visibility: visibility)
}

func item(_ activities: UserActivity..., as representations: Representation...) -> Item {
  Item(activities: activities, representations: representations)
}

func text(_ type: Text, _ text: Text = "miaow", visibility: Visibility = .all) -> Representation {
  Representation(type: contentType(type), .text(text), visibility: visibility)
}

func file(_ url: Text, _ type: Text = "image/png", visibility: Visibility = .all) -> Representation {
  Representation(type: contentType(type), .file(url), visibility: visibility)
}

func contentType(_ text: Text) -> ContentType {
  guard let type = ContentType(text) else { preconditionFailure("\(text) is no type") }
  return type
}
