internal import CDBus
internal import Glibc

/// Who a sender is, as the bus knows it.
///
/// ```swift
/// let connection = try await Connection.session()
/// let credentials = try await connection.credentials(of: .bus)
/// print(credentials.userID ?? 0, credentials.processID ?? 0)
/// ```
public struct Credentials: Sendable, Hashable {
  /// The user.
  public var userID: UInt32?
  /// The process that made the connection. By the time you look it may have ended, and its number may be another's; see
  /// ``processDescriptor``.
  public var processID: UInt32?
  /// A descriptor of that process, which never becomes another's. Newer buses hand it out. With an older one it was opened by number here, and the
  /// sender was still connected afterwards; `nil` where it had left. A sender that hands its socket to another process and ends is not noticed.
  public var processDescriptor: OwnedFileDescriptor?
  /// The groups.
  public var groupIDs: [UInt32]?
  /// What the security module says of it, without the terminating NUL.
  public var securityLabel: [UInt8]?

  /// Says what is known.
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

  /// What GetConnectionCredentials answers. What is of another type than it should be is not known.
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

/// What the bus said of each sender, until the sender leaves.
struct CredentialsCache {
  /// A bus has at most some hundreds of connections; a shell has a new one for each call.
  static let limit = 4096

  var known: [BusName: Credentials] = [:]
  var asked: [BusName: Task<Credentials, any Error>] = [:]
  var isWatching = false

  mutating func removeAll() {
    known.removeAll()
    asked.removeAll()
  }
}

extension Connection {
  /// Who `name` is. The bus is asked once for each unique name, and the answer is remembered until that name goes.
  ///
  /// Between two peers, `nil` asks who the other side is.
  public func credentials(of name: BusName?) async throws(CallError) -> Credentials {
    guard let name, uniqueName != nil else { return peerCredentials() }
    if let known = credentials.known[name] { return known }
    let task =
      credentials.asked[name]
      ?? loop.task {
        try await watchDepartures()
        let dictionary: [String: Variant] = try await call(
          to: .bus, at: "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetConnectionCredentials", name.rawValue)
        var answer = Credentials(dictionary)
        // dbus-daemon 1.14 tells the number alone. A sender that is still connected still has its process: so what was opened before is that process.
        if name.isUnique, answer.processDescriptor == nil, let number = answer.processID,
          let process = Self.process(number), try await owner(of: name) != nil
        {
          answer.processDescriptor = process
        }
        return answer
      }
    credentials.asked[name] = task
    let result = await task.result
    // Whoever has left in the meantime is asked about no more, and not remembered.
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

  /// One rule for all senders: names that lose their owner. A rule for each would cost every signal on the bus more.
  private func watchDepartures() async throws(CallError) {
    if credentials.isWatching { return }
    credentials.isWatching = true
    do {
      try await retain(
        MatchRule(
          sender: .bus, path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus", member: "NameOwnerChanged",
          arguments: [2: ""]))
    } catch {
      credentials.isWatching = false
      throw error
    }
  }

  /// The same without waiting, for handlers that are to be cancelled where their callers leave.
  func watchDeparturesOnce() {
    if credentials.isWatching || uniqueName == nil { return }
    loop.task {
      try await watchDepartures()
      // Who left before the bus knew the rule left unheard.
      for sender in handlers.senders where try await owner(of: sender) == nil { forgetSender(sender) }
    }
  }

  /// The sender has left the bus; its name never comes back.
  func forgetSender(_ name: BusName) {
    credentials.known[name] = nil
    credentials.asked[name] = nil
    handlers.callerLeft(name)
    callers.departed?(name)
    callers.queue.callerLeft(name)
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
