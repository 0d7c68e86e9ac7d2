package import SceneModel
import TextRules

// A delivery keeps its decision in a short form. Most are never read, so the document is written only when somebody asks for it.
extension Decision {
  /// The short form of a decision that was not refused.
  package var stored: Text {
    let why = explanation
    var form = ShortForm()
    form.put(outcome.name)
    form.put(why.application ?? .empty)
    form.put(why.applicationReason?.rawValue)
    form.put(why.configuration ?? .empty)
    form.put(why.configurationReason?.rawValue)
    if let session = why.session { form.put(session) } else { form.put(Text.empty) }
    form.put(why.sessionReason?.rawValue)
    form.put(why.keySource.map { Text($0.rawValue) } ?? .empty)
    form.put(why.key)
    form.put(why.contentType ?? .empty)
    form.put(why.routingActivity?.item)
    if let place = why.routingActivity {
      form.put(place.activity)
      form.put(place.activityType)
    }
    if case .made(let rule, _)? = why.rules {
      form.put(rule.name)
      form.put(rule.file)
      form.put(rule.line)
    }
    return form.text()
  }

  /// The document of a stored decision; `nil` for a damaged one. Earlier versions stored the document itself.
  package static func document(ofStored stored: Text) -> Text? {
    if stored.hasPrefix("{") { return stored }
    var form = ShortFormReader(stored)
    guard let outcome = form.text(), let why = Explanation(&form) else { return nil }
    return JSONObjectWriter.text { why.write(to: &$0, outcome: outcome) }
  }
}

extension Explanation {
  fileprivate init?(_ form: inout ShortFormReader) {
    self.init()
    guard let application = form.text(), let applicationReason = form.optionalNumber(),
      let configuration = form.text(), let configurationReason = form.optionalNumber(),
      let session = form.text(), let sessionReason = form.optionalNumber(),
      let keySource = form.text(), let key = form.text(), let contentType = form.text(),
      let item = form.optionalNumber()
    else { return nil }
    self.application = application.isEmpty ? nil : application
    self.applicationReason = applicationReason.flatMap { ApplicationReason(rawValue: $0) }
    self.configuration = configuration.isEmpty ? nil : configuration
    self.configurationReason = configurationReason.flatMap { ConfigurationReason(rawValue: $0) }
    self.session = UniqueIdentifier(session)
    self.sessionReason = sessionReason.flatMap { SessionReason(rawValue: $0) }
    self.keySource = KeySource(rawValue: keySource.string)
    self.key = key
    self.contentType = contentType.isEmpty ? nil : contentType
    if let item {
      guard let activity = form.number(), let type = form.text() else { return nil }
      routingActivity = RoutingActivity(item: item, activity: activity, activityType: type)
    }
    if let name = form.text() {
      guard let file = form.text(), let line = form.number() else { return nil }
      rules = .made(RuleReference(name: name, file: file, line: line))
    }
  }
}
