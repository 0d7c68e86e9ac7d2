import SceneModel

/// An accepted payload can be written and read again unchanged, in every form.
enum PayloadLaws {
  private static let rules = ReadingRules(types: FuzzedParser.types)

  static func check(_ input: [UInt8]) throws(BrokenLaw) -> FuzzedParser.Outcome {
    let document = FuzzedDocument(input)
    let payload: Payload
    do throws(Fault) {
      switch document.form {
      case .json(nil): return .unfit
      case .json(let text?): payload = try Payload(json: text, rules)
      case .propertyList: payload = try Payload(propertyList: input, rules)
      }
    } catch {
      try RefusalLaws.check(error, of: document)
      return .refused
    }
    try checkForms(of: payload)
    // A written payload has no unknown key.
    var strict = payload
    strict.options.isStrict = true
    try checkJSON(of: strict)
    return .taken
  }

  private static func checkForms(of payload: Payload) throws(BrokenLaw) {
    try checkJSON(of: payload)
    for format in PropertyList.Format.allCases {
      let written = payload.propertyList(format)
      do throws(Fault) {
        let again = try Payload(propertyList: written, rules)
        if again != payload { throw Fault(at: .document, "another payload came back: \(again.json)") }
      } catch {
        // A tag for which JSON has a word of its own nests deeper, and takes more room.
        if error.kind != .limit { throw BrokenLaw("\(format): \(error): \(payload.json)") }
      }
    }
  }

  private static func checkJSON(of payload: Payload) throws(BrokenLaw) {
    let written = payload.json
    let again: Payload
    do throws(Fault) {
      again = try Payload(json: written, rules)
    } catch {
      throw BrokenLaw("what was written is refused: \(error): \(written)")
    }
    if again != payload { throw BrokenLaw("another payload came back: \(again.json), not \(written)") }
    if again.json != written { throw BrokenLaw("the same payload was written as \(again.json), then \(written)") }
  }
}
