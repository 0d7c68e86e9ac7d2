/// Serving calls: find the object, check the access, check the types, call the handler.
extension Connection {
  /// From now on the bus is asked who a sender is before its first call is looked at, and ``Call/knownCredentials`` is there for
  /// every access check. A sender that cannot be identified, as one that has left already, is answered `AccessDenied`; where
  /// strangers are admitted, its calls come without credentials, and each access check decides what a stranger may.
  ///
  /// Calls of a sender that wait for the answer keep their order.
  public nonisolated func identifyCallers(admittingStrangers: Bool = false) {
    onLoop {
      $0.callers.identifies = true
      $0.callers.admitsStrangers = admittingStrangers
    }
  }

  /// From now on `observer` is shown every call before it is carried out: those that will be refused, too. For logs.
  ///
  /// ```swift
  /// let connection = try await Connection.session()
  /// connection.observeCalls { call in
  ///   print("\(call.sender ?? "a peer") calls \(call.member) at \(call.path) with \((try? call.variants()) ?? [])")
  /// }
  /// ```
  public nonisolated func observeCalls(_ observer: @escaping @Sendable (Call) -> Void) {
    onLoop { $0.callers.observer = observer }
  }

  /// From now on `observer` hears of everyone who leaves the bus, on the loop. Callers have to be identified for it.
  package nonisolated func observeDepartures(_ observer: @escaping @Sendable (BusName) -> Void) {
    onLoop { $0.callers.departed = observer }
  }

  func serve(_ message: consuming Message) {
    let call = Call(message, on: self, isFromBus: uniqueName != nil)
    guard callers.identifies else { return dispatch(call) }
    let sender = call.sender
    if let waiting = callers.waiting[sender] {
      guard waiting.calls.count < CallAdmission.limitForEachSender else {
        call.fail(ErrorReply(.limitsExceeded, "too many calls before the bus has said who is calling"))
        return
      }
      callers.waiting[sender]?.calls.append(call)
    } else if let sender, let known = credentials.known[sender] {
      call.identify(as: known)
      dispatch(call)
    } else {
      callers.waiting[sender] = .init(calls: [call], question: loop.task { await self.identify(sender) })
    }
  }

  private func identify(_ sender: BusName?) async {
    let answer: Result<Credentials, CallError>
    do throws(CallError) { answer = .success(try await credentials(of: sender)) } catch { answer = .failure(error) }
    for call in callers.waiting.removeValue(forKey: sender)?.calls ?? [] {
      switch answer {
      case .success(let credentials):
        call.identify(as: credentials)
        dispatch(call)
      case .failure where callers.admitsStrangers: dispatch(call)
      case .failure:
        callers.observer?(call)
        call.fail(ErrorReply(.accessDenied, "the bus does not say who is calling"))
      }
    }
  }

  func dispatch(_ call: Call) {
    if callers.held != nil { return hold(call) }
    if !callers.resting.isEmpty, callers.resting.has(call.sender) {
      if !callers.resting.add(call) {
        call.fail(ErrorReply(.limitsExceeded, "too many calls of this sender wait behind one that takes long"))
      }
      return
    }
    carryOut(call)
  }

  func carryOut(_ call: Call) {
    callers.observer?(call)
    do {
      let (interface, method) = try method(for: call)
      try interface.access?(call)
      try method.access?(call)
      guard call.message.hasSignature(method.inSignature) else {
        throw ErrorReply(
          .invalidArgs,
          "\(interface.name).\(call.member) takes \(describe(method.inSignature)), not \(describe(call.message.signature))"
        )
      }
      // A call is kept until it is answered, and its descriptors with it.
      if call.carriesDescriptors && !method.takesDescriptors {
        throw ErrorReply(.invalidArgs, "\(interface.name).\(call.member) takes no file descriptors")
      }
      call.answers(with: method.outSignature)
      try method.invoke(call)
    } catch {
      call.fail(error)
    }
  }

  private func describe(_ signature: Signature) -> String {
    signature == .empty ? "no arguments" : "\"\(signature)\""
  }

  private func method(for call: Call) throws(ErrorReply) -> (Interface, Interface.MethodEntry) {
    let (path, member) = (call.path, call.member)
    if let name = call.interface {
      guard let interfaces = objects.interfaces(at: path, for: call) else {
        // Peer is answered anywhere, also where there is no object.
        if name == StandardInterfaces.peer.name { return try entry(member, in: StandardInterfaces.peer) }
        throw unknownObject(path)
      }
      for interface in interfaces where interface.name == name { return try entry(member, in: interface) }
      if let interface = standardInterfaces(at: path).first(where: { $0.name == name }) {
        return try entry(member, in: interface)
      }
      throw ErrorReply(.unknownInterface, "the object \(path) has no interface \(name)")
    }
    guard let interfaces = objects.interfaces(at: path, for: call) else { throw unknownObject(path) }
    for interface in interfaces + standardInterfaces(at: path) {
      if let method = interface.methods[member] { return (interface, method) }
    }
    throw ErrorReply(.unknownMethod, "the object \(path) has no method \(member)")
  }

  private func entry(
    _ member: MemberName, in interface: Interface
  ) throws(ErrorReply) -> (Interface, Interface.MethodEntry) {
    guard let method = interface.methods[member] else {
      throw ErrorReply(.unknownMethod, "\(interface.name) has no method \(member)")
    }
    return (interface, method)
  }

  func unknownObject(_ path: ObjectPath) -> ErrorReply { ErrorReply(.unknownObject, "there is no object at \(path)") }

  /// What the binding adds to every object.
  func standardInterfaces(at path: ObjectPath) -> [Interface] {
    objects[path]?.isManager == true ? StandardInterfaces.ofManager : StandardInterfaces.ofObject
  }
}

/// What happens to a call before it is looked at: it waits until the bus has said who makes it, and for as long as calls are held; and is
/// shown to whoever observes.
struct CallAdmission {
  /// The bus answers within a round trip; a sender that sends more than this in the meantime does not want answers.
  static let limitForEachSender = 4096

  struct Unidentified {
    var calls: [Call]
    let question: Task<Void, Never>
  }

  var identifies = false
  var admitsStrangers = false
  var observer: (@Sendable (Call) -> Void)?
  var departed: (@Sendable (BusName) -> Void)?
  var waiting: [BusName?: Unidentified] = [:]
  /// `nil` where none is held.
  var held: HeldCalls?
  var resting = RestingSenders()
  /// The call that is being carried out.
  var tookLong = false
}
