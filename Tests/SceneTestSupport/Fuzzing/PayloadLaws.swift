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
      // JSON has words of its own for some tags: these nest deeper, and take more room.
      try BrokenLaw.check(
        payload, as: "\(format)", mayNotFit: true, write: { $0.propertyList(format) }
      ) { (bytes) throws(Fault) in try Payload(propertyList: bytes, rules) }
    }
  }

  private static func checkJSON(of payload: Payload) throws(BrokenLaw) {
    try BrokenLaw.check(payload, as: "JSON", mayNotFit: false, write: \.json) { (json) throws(Fault) in
      try Payload(json: json, rules)
    }
  }
}
