package import SceneModel

/// Who is charged for what the service keeps.
package enum Principal: Hashable, Sendable {
  /// A connection of a program outside any sandbox, as long as it is on the bus.
  case connection(Text)
  /// A sandboxed application, however many connections it has.
  case sandbox(Text)
  /// Every caller that nobody could look at before it left, and every sandbox without a name: together one.
  case strangers
  /// Every connection that has left and whose deliveries are still here, also those from before a restart: together one.
  case departed
}

/// What can be used up. Each has its limit once, with the reason beside it.
package enum Resource: Hashable, CaseIterable, Sendable {
  /// Bytes of deliveries that wait for their application, in memory and on the disk.
  case waiting
  /// Calls that were not answered yet.
  case calls
  /// Bytes of documents whose senders wait for the answer.
  case callBytes
  /// Bytes of manifests that were registered.
  case manifests
  /// Bytes that deliveries and drags carry beside their documents, in memory and on the disk.
  case baggage
  /// Drags under way.
  case drags
}

/// How much there may be of what the service keeps, over all callers. `docs/limits.md` lists each row, and a test holds the two together.
package struct Allowance: Hashable, Sendable {
  /// Bytes of deliveries that wait, each of which counts for 4 KiB at least: a script may hand in fifty thousand small things for an
  /// application that takes them later, and all of them together are two hundred megabytes on the disk.
  package var waiting = 50_000 * Allowance.smallestDelivery
  package static let smallestDelivery = 4096
  /// Calls of one sender that were not answered yet. Who waits for answers has no use for so many, and no transaction is one sender's
  /// flood.
  package var calls = 1_000
  /// Bytes of documents of one sender that wait for an answer: two of the longest.
  package var callBytes = 32 << 20
  /// Bytes of registered manifests, each of which counts for 4 KiB at least: in memory they take several times as much.
  package var manifests = 32 << 20
  /// Bytes that deliveries and drags carry, each of which counts for 64 KiB at least: a film of several gigabytes that is copied has room,
  /// and the disk of a laptop is not full.
  package var baggage = 16 << 30
  package static let smallestBaggage = 64 << 10
  /// Contents up to this size are stored beside their delivery. Beyond it a file of their own is cheaper.
  package static let smallParcel = 32 << 10
  /// Microseconds for which a host may open what came along after it has taken the delivery: ten minutes.
  package var baggageTime: Int64 = 600_000_000
  /// Drags of one sender that are under way. A person has two hands.
  package var drags = 100
  /// Connections that are remembered for having brought the ticket of a drag.
  package static let dragOpeners = 1_000
  /// Sessions of all applications, and discarded sessions whose hosts are still to be told: each is an object on the bus, a row on the disk
  /// and an entry in memory. One application may have as many as are left for the others.
  package var sessions = 1_000_000
  /// Preferred applications: a person sets one for a type that several applications take, a few dozen in a lifetime.
  package var preferences = 1_000
  /// Scenes that a host may say it shows when it attaches: each of them is looked up.
  package var scenes = 10_000

  package init() {}

  func limit(_ resource: Resource) -> Int {
    switch resource {
    case .waiting: waiting
    case .calls: calls
    case .callBytes: callBytes
    case .manifests: manifests
    case .baggage: baggage
    case .drags: drags
    }
  }
}

/// What each principal has taken of everything.
///
/// Whatever begins to be held is charged here, and the charge lives in what is held: when that goes, the charge goes with it and gives back
/// what it took, once. So nothing is counted twice, and nobody has to remember to count.
// The core is the only owner, and only one thread has the core.
package final class Ledger: @unchecked Sendable {
  package let allowance: Allowance
  private var accounts: [Principal: Account] = [:]
  private var totals: [Resource: Int] = [:]

  package init(_ allowance: Allowance) { self.allowance = allowance }

  func account(of principal: Principal) -> Account {
    if let account = accounts[principal] { return account }
    let account = Account(principal)
    accounts[principal] = account
    return account
  }

  func isCharged(_ principal: Principal) -> Bool { accounts[principal].map { !$0.taken.isEmpty } ?? false }

  /// What all of them have taken.
  package func total(_ resource: Resource) -> Int { totals[resource] ?? 0 }

  package func taken(_ resource: Resource, by principal: Principal) -> Int { accounts[principal]?.taken[resource] ?? 0 }

  /// What the accounts say together: as much as the total, or something was given back wrongly.
  func takenByAll(_ resource: Resource) -> Int { accounts.values.reduce(0) { $0 + ($1.taken[resource] ?? 0) } }

  var accountCount: Int { accounts.count }

  /// A connection has left: what it still holds is charged to all that have left.
  func leave(_ connection: Text) {
    guard let account = accounts.removeValue(forKey: .connection(connection)), !account.taken.isEmpty else { return }
    let departed = self.account(of: .departed)
    for (resource, amount) in account.taken { departed.taken[resource, default: 0] += amount }
    account.successor = departed
  }

  /// Charges it to an account, or says why that is not possible.
  ///
  /// - Parameters:
  ///   - replaced: what is given back as soon as this is held.
  ///   - relief: what the present turn gives back.
  func charge(
    _ amount: Int, of resource: Resource, to principal: Principal, replacing replaced: Holding? = nil,
    after relief: Relief = Relief()
  ) throws(InterchangeError) -> Holding {
    let own = taken(resource, by: principal) - relief.of(resource, principal)
    switch resource {
    case .waiting, .baggage:
      // Who fills what there is fills half of it, the next one half of the rest: nobody holds more than is left for the others.
      let (taken, limit) = (total(resource) - relief.of(resource), allowance.limit(resource))
      guard taken + own + amount <= limit else { throw refusal(of: resource, limit, taken, own) }
    case .manifests:
      let (taken, limit) = (total(resource) - (replaced?.charge.amount ?? 0), allowance.limit(resource))
      guard taken + amount <= limit else { throw refusal(of: resource, limit, taken, own) }
    case .calls, .callBytes, .drags:
      let limit = allowance.limit(resource)
      guard own + amount <= limit else { throw refusal(of: resource, limit, own, own) }
    }
    return take(amount, of: resource, for: principal)
  }

  /// Bytes that a principal may still hand over beside documents.
  ///
  /// - Parameters:
  ///   - relief: what the present turn gives back.
  ///   - own: bytes of the principal's that go where they are in the way.
  func room(for principal: Principal, after relief: Relief, givingUp own: Int) -> Int {
    let taken = total(.baggage) - relief.of(.baggage) - own
    let ofPrincipal = self.taken(.baggage, by: principal) - relief.of(.baggage, principal) - own
    return max(0, allowance.baggage - taken - ofPrincipal)
  }

  /// Charges it whatever the limit says: it was accepted before.
  func take(_ amount: Int, of resource: Resource, for principal: Principal) -> Holding {
    totals[resource, default: 0] += amount
    return Holding(Charge(amount, of: resource, to: account(of: principal), in: self))
  }

  private func refusal(of resource: Resource, _ limit: Int, _ taken: Int, _ own: Int) -> InterchangeError {
    let sentence =
      switch resource {
      case .waiting:
        "deliveries that wait for their applications may take \(limit) bytes, 4096 each at least; \(taken) are taken, \(own) of them by "
          + "this sender, who may have as many as are left: try later"
      case .baggage:
        "what deliveries and drags carry may take \(limit) bytes, 65536 each at least; \(taken) are taken, \(own) of them by this sender, who may have "
          + "as many as are left: let the hosts open it, or send a file to be opened in its place"
      case .drags: "\(limit) drags of this sender are under way: drop or cancel one"
      case .calls: "\(limit) calls of this sender are not answered yet: wait for the answers"
      case .callBytes:
        "the documents of this sender's calls that are not answered yet may have \(limit) bytes together, and have \(own): wait for the "
          + "answers"
      case .manifests:
        "manifests that are registered take at most \(limit) bytes together, and others have \(taken) of them: install this one instead"
      }
    return InterchangeError(.limitsExceeded, sentence)
  }

  fileprivate func giveBack(_ amount: Int, of resource: Resource, _ account: Account) {
    totals[resource, default: amount] -= amount
    var account = account
    while let successor = account.successor { account = successor }
    account.taken[resource, default: amount] -= amount
    if account.taken[resource] == 0 { account.taken[resource] = nil }
    if account.taken.isEmpty, accounts[account.principal] === account { accounts[account.principal] = nil }
  }
}

/// What a turn gives back. It stays charged until the turn is kept, since the turn may be taken back; what takes its place need not wait
/// for that.
struct Relief: Hashable, Sendable {
  private struct Share: Hashable, Sendable {
    let resource: Resource
    let principal: Principal?
  }

  private var amounts: [Share: Int] = [:]

  mutating func add(_ holding: Holding?) {
    guard let holding else { return }
    let resource = holding.charge.resource
    amounts[Share(resource: resource, principal: nil), default: 0] += holding.charge.amount
    amounts[Share(resource: resource, principal: holding.charge.principal), default: 0] += holding.charge.amount
  }

  /// - Parameter principal: `nil` for all of them.
  func of(_ resource: Resource, _ principal: Principal? = nil) -> Int {
    amounts.isEmpty ? 0 : amounts[Share(resource: resource, principal: principal)] ?? 0
  }
}

/// What one principal has taken.
final class Account {
  let principal: Principal
  fileprivate(set) var taken: [Resource: Int] = [:]
  /// Who has taken over its charges.
  fileprivate var successor: Account?

  fileprivate init(_ principal: Principal) { self.principal = principal }
}

/// A part of an account, given back when it goes. It cannot be copied, so it is given back once.
struct Charge: ~Copyable {
  let amount: Int
  let resource: Resource
  private let account: Account
  /// Who pays for it; whoever has left pays no longer.
  var principal: Principal {
    var account = account
    while let successor = account.successor { account = successor }
    return account.principal
  }
  private let ledger: Ledger

  fileprivate init(_ amount: Int, of resource: Resource, to account: Account, in ledger: Ledger) {
    (self.amount, self.resource, self.account, self.ledger) = (amount, resource, account, ledger)
    account.taken[resource, default: 0] += amount
  }

  deinit { ledger.giveBack(amount, of: resource, account) }
}

/// A charge inside something that is held in a table, where values are copied.
// It never changes, and its end is the core's, which one thread has.
final class Holding: @unchecked Sendable {
  let charge: Charge

  init(_ charge: consuming Charge) { self.charge = charge }
}
