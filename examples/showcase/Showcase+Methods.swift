import DBus

extension Showcase {
  /// One method for each way to answer.
  nonisolated func declareMethods(in interface: inout Interface) {
    interface.method("DoNothing") {}

    interface.method("Divide", in: "dividend", "divisor", out: "quotient", "remainder") {
      (dividend: Int32, divisor: Int32) in
      if divisor == 0 { throw ShowcaseError.divisionByZero }
      // One quotient does not fit into 32 bits: the smallest number divided by -1.
      let (quotient, overflows) = dividend.dividedReportingOverflow(by: divisor)
      if overflows { throw ErrorReply(.invalidArgs, "the quotient does not fit into 32 bits") }
      return (quotient, dividend.remainderReportingOverflow(dividingBy: divisor).partialValue)
    }

    interface.method("Fail", in: "reason") { (reason: String) throws -> Void in
      throw ShowcaseError.asAsked(reason: reason)
    }

    // Asynchronous: the service answers other calls meanwhile, and cancels this one if its caller leaves.
    interface.method("Rest", in: "milliseconds", out: "thanks") { (milliseconds: UInt32) async throws -> String in
      try await Task.sleep(for: .milliseconds(milliseconds))
      return "that was good"
    }

    interface.method("WhoAmI", out: "sender", "user_id") { (call: Call) async throws -> (String, UInt32) in
      let credentials = try await call.credentials()
      return (call.sender?.rawValue ?? "a peer", credentials.userID ?? .max)
    }
  }

  /// A signal, the method that emits it, and a method that answers after the signal.
  nonisolated func declareAnnouncements(in interface: inout Interface) {
    let announced = interface.signal("Announced", "text", "count", of: String.self, UInt32.self)

    interface.method("Announce", in: "text", out: "waited", on: self) { (showcase, call, text: String) -> UInt32 in
      showcase.remember(text)
      let waiting = showcase.waiting
      showcase.waiting = []
      for reply in waiting { reply.send(text) }
      call.connection.propertyInvalidated("Announcements", of: "org.stagedoor.Showcase1", at: call.path)
      try call.connection.emit(announced, from: call.path, text, UInt32(waiting.count))
      return UInt32(waiting.count)
    }

    // Deferred: the reply is kept, and a later call of another caller sends it.
    interface.method("WaitForAnnouncement", out: "text", on: self) {
      (showcase: isolated Showcase, reply: Reply<String>) in
      if showcase.waiting.count >= Self.maximumWaiting { throw ShowcaseError.tooManyWait(limit: Self.maximumWaiting) }
      showcase.waiting.append(reply)
    }
  }

  private func remember(_ text: String) {
    if announcements.count == Self.maximumAnnouncements { announcements.removeFirst() }
    announcements.append(text)
  }
}
