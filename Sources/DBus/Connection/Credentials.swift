internal import CDBus
internal import Glibc

/// The identity of a sender, as the bus knows it.
///
/// ```swift
/// let connection = try await Connection.session()
/// let credentials = try await connection.credentials(of: .bus)
/// print(credentials.userID ?? 0, credentials.processID ?? 0)
/// ```
public struct Credentials: Sendable, Hashable {
  /// The user's number.
  public var userID: UInt32?
  /// The process that made the connection. It may have ended since, and its number may belong to another process; see ``processDescriptor``.
  public var processID: UInt32?
  /// A descriptor of that process, which never refers to another process. Newer buses provide it. With an older bus, the binding opens the process by
  /// its number and checks that the sender is still connected afterwards; `nil` if the sender had left. The binding does not notice a sender that
  /// hands its socket to another process and ends.
  public var processDescriptor: OwnedFileDescriptor?
  /// The numbers of the groups.
  public var groupIDs: [UInt32]?
  /// The label that the security module gave to the process, without the terminating NUL.
  public var securityLabel: [UInt8]?

  /// Makes credentials from the known values.
  public init(
    userID: UInt32? = nil, processID: UInt32? = nil, processDescriptor: OwnedFileDescriptor? = nil,
    groupIDs: [UInt32]? = nil, securityLabel: [UInt8]? = nil
  ) {
    self.userID = userID
    self.processID = processID
    self.processDescriptor = processDescriptor
    self.groupIDs = groupIDs
    self.securityLabel = securityLabel
  }

  /// Reads the reply of GetConnectionCredentials. A value of an unexpected type counts as unknown.
  init(_ dictionary: [String: Variant]) {
    func value<Value: BusValue>(_ key: String) -> Value? { dictionary[key].flatMap { try? Value($0) } }
    userID = value("UnixUserID")
    processID = value("ProcessID")
    processDescriptor = value("ProcessFD")
    groupIDs = value("UnixGroupIDs")
    securityLabel = value("LinuxSecurityLabel")
    if securityLabel?.last == 0 { securityLabel?.removeLast() }
  }
}

/// The bus's answers about senders, each until its sender leaves.
struct CredentialsCache {
  /// The senders that are remembered. Each costs a descriptor, of which a process may have few. Few programs call the same service for long; a shell has
  /// a new connection for each call. The bus is asked again about each call of other senders.
  static let limit = 256

  var known: [BusName: Credentials] = [:]
  var asked: [BusName: Task<Credentials, any Error>] = [:]
  /// The bus's answer to the rule for departures. Everyone waits for the same task: an answer that came before the bus knew the rule would be about a
  /// sender whose departure nobody sees.
  var watching: Task<Void, any Error>?
}

extension Connection {
  /// The credentials of `name`. The connection asks the bus once for each unique name, and remembers the answer until that name leaves the bus.
  ///
  /// Between two peers, `nil` asks for the credentials of the other side.
  public nonisolated(nonsending) func credentials(of name: BusName?) async throws(CallError) -> Credentials {
    try await onLoopAndBack { connection throws(CallError) in try await connection.ask(about: name) }
  }

  private func ask(about name: BusName?) async throws(CallError) -> Credentials {
    guard let name, uniqueName != nil else { return peerCredentials() }
    if let known = credentials.known[name] { return known }
    let task =
      credentials.asked[name]
      ?? loop.task {
        try await watchDepartures()
        let dictionary: [String: Variant] = try await call(
          to: .bus, at: .bus, .bus, "GetConnectionCredentials", name.rawValue)
        var answer = Credentials(dictionary)
        // dbus-daemon 1.14 gives the number only. A sender that is still connected still has its process, so the descriptor that was opened before
        // refers to that process. If there is no such process, its sender has probably left.
        if name.isUnique, answer.processDescriptor == nil, let number = answer.processID {
          let process = Self.process(number)
          guard try await owner(of: name) != nil else {
            throw CallError.replied(ErrorReply(.nameHasNoOwner, "\(name) has left the bus"))
          }
          answer.processDescriptor = process
        }
        return answer
      }
    credentials.asked[name] = task
    let result = await task.result
    // A sender that has left meanwhile is no longer asked about, and not remembered.
    let isThere = credentials.asked[name] == task
    if isThere { credentials.asked[name] = nil }
    switch result {
    case .success(let answer):
      // A well-known name may have another owner tomorrow.
      if isThere && name.isUnique && credentials.known.count < CredentialsCache.limit {
        credentials.known[name] = answer
      }
      return answer
    case .failure(let error): throw error as? CallError ?? .disconnected
    }
  }

  private static func process(_ number: UInt32) -> OwnedFileDescriptor? {
    let descriptor = pidfd_open(pid_t(truncatingIfNeeded: number), 0)
    return descriptor < 0 ? nil : OwnedFileDescriptor(owning: descriptor)
  }

  /// One rule for all senders: names that lose their owner. A rule for each sender would slow every signal on the bus.
  private func watchDepartures() async throws(CallError) {
    let task = credentials.watching ?? loop.task { try await retain(.ownerChanges([2: ""])) }
    credentials.watching = task
    do {
      try await task.value
    } catch {
      // The next sender tries again.
      if credentials.watching == task { credentials.watching = nil }
      throw error as? CallError ?? .disconnected
    }
  }

  /// The same without waiting, for handlers that are cancelled when their callers leave.
  func watchDeparturesOnce() {
    if credentials.watching != nil || uniqueName == nil { return }
    loop.task {
      try await watchDepartures()
      // A sender that left before the bus knew the rule left unnoticed.
      for sender in handlers.senders where try await owner(of: sender) == nil { forgetSender(sender) }
    }
  }

  /// Forgets a sender that has left the bus; its name never comes back.
  func forgetSender(_ name: BusName) {
    credentials.known[name] = nil
    credentials.asked[name] = nil
    handlers.callerLeft(name)
    callers.departed?(name)
    showDropped(callers.queue.callerLeft(name))
  }

  private func peerCredentials() -> Credentials {
    var credentials = Credentials()
    guard let raw else { return credentials }
    var number: UInt = 0
    if dbus_connection_get_unix_user(raw, &number) != 0 { credentials.userID = UInt32(truncatingIfNeeded: number) }
    if dbus_connection_get_unix_process_id(raw, &number) != 0 {
      credentials.processID = UInt32(truncatingIfNeeded: number)
    }
    return credentials
  }
}
