package import SceneModel

/// The one that is charged for something that the service keeps.
package enum Principal: Hashable, Sendable {
  /// A connection of a program outside any sandbox, while it is on the bus.
  case connection(Text)
  /// A sandboxed application, however many connections it has.
  case sandbox(Text)
  /// Every caller that left before the service could look at it, and every sandbox without a name; all of them are one principal.
  case strangers
  /// Every connection that has left while its deliveries are still here, and the senders of deliveries from before a restart; all of them are one
  /// principal.
  case departed
  /// The host of an application, whichever connection it is, for the deliveries whose end it tells later.
  case host(Text)
}

/// The resources with limits. Each limit is defined once, with its reason.
package enum Resource: Int, CaseIterable, Sendable {
  /// The bytes of waiting deliveries, in memory and on the disk.
  case waiting
  /// Deliveries whose host tells their end later.
  case forwarded
  /// Unanswered calls.
  case calls
  /// The bytes of documents whose senders wait for the answer.
  case callBytes
  /// The bytes of registered manifests.
  case manifests
  /// The bytes that deliveries and drags carry beside their documents, in memory and on the disk.
  case baggage
  /// The descriptors that the service holds for deliveries and drags.
  case descriptors
  /// Drags.
  case drags
  /// The bytes of the documents and small contents of drags, which are in memory.
  case dragBytes
  /// The descriptors of calls that wait for their answer. The shell charges this resource and all below, and the core the others.
  case callDescriptors
  /// Calls that have not reached the core: the shell asks a portal for their keys, looks at files, reads a picture, or asks rules.
  case keyCalls, fileCalls, pictureCalls, ruleCalls
  /// The bytes of these calls.
  case asideBytes

  fileprivate var isOfCore: Bool { rawValue < Resource.callDescriptors.rawValue }
}

/// The most that the service keeps, for all callers. `docs/limits.md` has a row for each, and a test compares the two.
package struct Allowance: Hashable, Sendable {
  /// The bytes of waiting deliveries, each of which counts as 4 KiB at least: a script may hand in fifty thousand small things for an application
  /// that takes them later, and all of them together take two hundred megabytes on the disk.
  package var waiting = 50_000 * Allowance.smallestDelivery
  package static let smallestDelivery = 4096
  /// Deliveries of one application whose host tells their end later: a week's worth for a few devices that are away.
  package var forwarded = 1_000
  /// Unanswered calls of one sender. A sender that waits for answers has no use for so many, and no transaction should be the flood of one sender.
  package var calls = 1_000
  /// The bytes of one sender's documents that wait for an answer: two of the longest.
  package var callBytes = 32 << 20
  /// The bytes of registered manifests, each of which counts as 4 KiB at least: in memory they take several times as much.
  package var manifests = 32 << 20
  /// The bytes that deliveries and drags carry, each of which counts as 64 KiB at least: a copied film of several gigabytes fits, and the disk of a
  /// laptop does not fill up.
  package var baggage = 16 << 30
  package static let smallestBaggage = 64 << 10
  /// Contents up to this size are stored beside their delivery. A larger content is cheaper in a file of its own.
  package static let smallParcel = 64 << 10
  /// The bytes of the long documents of handled deliveries. They stay until the deadline, because the delivery may be redirected; beyond this the oldest
  /// go earlier.
  package var handledDocuments = 128 << 20
  /// Documents up to this size are not counted there: history keeps ten thousand deliveries.
  package static let shortDocuments = 16 << 10
  /// The microseconds for which a host may open the contents of a delivery after it has taken the delivery: ten minutes.
  package var baggageTime: Int64 = 600_000_000
  /// The descriptors that the service holds for deliveries and drags: half of the 1,024 that a process may have where it cannot raise its limit.
  package var descriptors = 512
  /// The calls whose contents are being copied or fetched at the same time. Each takes four descriptors meanwhile. A sender may have as many as it
  /// leaves for others.
  package static let copyingCalls = 128
  /// Drags of one sender. A person has two hands.
  package var drags = 100
  /// The bytes of the documents and small contents of all drags, which are in memory only: sixteen of the longest.
  package var dragBytes = 256 << 20
  package static let smallestDrag = 4096
  /// The connections that may open the ticket of one drag.
  package static let dragOpeners = 1_000
  /// The descriptors of all calls that wait for their answer: with those that are held, and their copies in the messages, they must fit into a
  /// process that may have few.
  package var callDescriptors = 512
  /// The calls of one sender whose keys wait for the portal. Each may bring dozens of descriptors.
  package var keyCalls = 4
  /// The files that one call may bring as keys of a portal. Each is a descriptor of the service until the baggage store has it.
  package static let keyFiles = 64
  /// Other calls of one sender that have not reached the core, of each kind: a program may have dozens of windows, and hand in a picture of each
  /// at the same time.
  package var asideCalls = 64
  /// The same for all callers together that have left: as many as wait of them on the bus.
  package var departedCalls = 16_384
  /// The bytes of one sender's calls that have not reached the core, beside one call of any length: two of the longest documents.
  package var asideBytes = 32 << 20
  /// Sessions of all applications, and discarded sessions whose hosts must still be told: each is an object on the bus, a row on the disk and an
  /// entry in memory. An application may have as many as it leaves for others.
  package var sessions = 1_000_000
  /// The bytes that sessions of all applications keep: the activities and other values that their windows show and restore. A quarter of the limit for
  /// contents, because these bytes stay as long as the session does. An application may have as many as it leaves for others.
  package var sessionBytes = 4 << 30
  /// Preferred applications. A person sets one for a type that several applications take, a few dozen in a lifetime.
  package var preferences = 1_000
  /// The scenes that a host may name when it attaches: the core looks up each of them.
  package var scenes = 10_000

  package init() {}

  /// The limit for all callers together that have left. Each of them is usually a script that calls once and waits for no answer.
  func limitForDeparted(_ resource: Resource) -> Int {
    switch resource {
    case .fileCalls, .ruleCalls: departedCalls
    case .keyCalls: asideCalls
    default: limit(resource)
    }
  }

  func limit(_ resource: Resource) -> Int {
    switch resource {
    case .waiting: waiting
    case .forwarded: forwarded
    case .calls: calls
    case .callBytes: callBytes
    case .manifests: manifests
    case .baggage: baggage
    case .descriptors: descriptors
    case .drags: drags
    case .dragBytes: dragBytes
    case .callDescriptors: callDescriptors
    case .keyCalls: keyCalls
    case .fileCalls, .pictureCalls, .ruleCalls: asideCalls
    case .asideBytes: asideBytes
    }
  }
}

/// The amount of each resource that each principal holds.
///
/// A charge is made when something begins to be held, and is part of the thing that is held. When the thing is destroyed, so is the charge, which returns
/// its amount, once. So nothing is counted twice, and nobody has to remember to count.
// The core and its shell have charges, on one thread.
package final class Ledger: @unchecked Sendable {
  package let allowance: Allowance
  private var accounts: [Principal: Account] = [:]
  private var totals = Amounts()

  package init(_ allowance: Allowance) { self.allowance = allowance }

  func account(of principal: Principal) -> Account {
    if let account = accounts[principal] { return account }
    let account = Account(principal)
    accounts[principal] = account
    return account
  }

  func isCharged(_ principal: Principal) -> Bool { accounts[principal].map { !$0.taken.isEmpty } ?? false }

  /// The connections that hold something.
  package var connections: [Text] {
    accounts.keys.compactMap { if case .connection(let name) = $0, isCharged($0) { name } else { nil } }
  }

  /// The amount that all principals hold together.
  package func total(_ resource: Resource) -> Int { totals[resource] }

  package func taken(_ resource: Resource, by principal: Principal) -> Int { accounts[principal]?.taken[resource] ?? 0 }

  /// The sum of the accounts. It equals the total, or an amount was returned wrongly.
  func takenByAll(_ resource: Resource) -> Int { accounts.values.reduce(0) { $0 + $1.taken[resource] } }

  /// The number of accounts, without those that only the shell has charged.
  var accountCount: Int {
    accounts.values.count { account in
      account.taken.isEmpty || Resource.allCases.contains { $0.isOfCore && account.taken[$0] != 0 }
    }
  }

  /// A connection has left: its charges go to the departed.
  func leave(_ connection: Text) {
    guard let account = accounts.removeValue(forKey: .connection(connection)), !account.taken.isEmpty else { return }
    let departed = self.account(of: .departed)
    for resource in Resource.allCases { departed.taken[resource] += account.taken[resource] }
    account.successor = departed
  }

  /// Charges an account, or throws the reason why it cannot.
  ///
  /// - Parameters:
  ///   - replaced: A holding that is returned as soon as this one exists.
  ///   - relief: The amounts that the present turn returns.
  func charge(
    _ amount: Int, of resource: Resource, to principal: Principal, replacing replaced: Holding? = nil,
    after relief: Relief = Relief()
  ) throws(Halt) -> Holding {
    let own = taken(resource, by: principal) - relief.of(resource, principal)
    switch resource {
    // The first sender that fills a resource gets half of it, the next one half of the rest: nobody holds more than is left for others.
    case .waiting:
      // One delivery is a small part of the whole.
      let (taken, limit) = (total(resource) - relief.of(resource), allowance.limit(resource))
      guard own + amount <= limit - taken else { throw refusal(of: resource, limit, taken, own) }
    case .baggage, .descriptors, .dragBytes, .callDescriptors:
      let (taken, limit) = (total(resource) - relief.of(resource), allowance.limit(resource))
      guard own + amount <= limit - taken - amount else { throw refusal(of: resource, limit, taken, own) }
    case .manifests:
      let (taken, limit) = (total(resource) - (replaced?.charge.amount ?? 0), allowance.limit(resource))
      guard taken + amount <= limit else { throw refusal(of: resource, limit, taken, own) }
    case .asideBytes where own == 0: break
    case .calls, .callBytes, .drags, .forwarded, .keyCalls, .fileCalls, .pictureCalls, .ruleCalls, .asideBytes:
      let limit = principal == .departed ? allowance.limitForDeparted(resource) : allowance.limit(resource)
      guard own + amount <= limit else { throw refusal(of: resource, limit, own, own) }
    }
    return take(amount, of: resource, for: principal)
  }

  /// The bytes that a principal may still hand in beside documents.
  ///
  /// - Parameters:
  ///   - relief: The amounts that the present turn returns.
  ///   - own: The principal's bytes that can be freed to make space.
  func space(for principal: Principal, after relief: Relief, givingUp own: Int) -> Int {
    let taken = total(.baggage) - relief.of(.baggage) - own
    let ofPrincipal = self.taken(.baggage, by: principal) - relief.of(.baggage, principal) - own
    return max(0, (allowance.baggage - taken - ofPrincipal) / 2)
  }

  /// Charges an account whatever the limit is, because the thing was accepted before.
  func take(_ amount: Int, of resource: Resource, for principal: Principal) -> Holding {
    totals[resource] += amount
    return Holding(Charge(amount, of: resource, to: account(of: principal), in: self))
  }

  private func refusal(of resource: Resource, _ limit: Int, _ taken: Int, _ own: Int) -> Halt {
    let sentence =
      switch resource {
      case .waiting:
        "deliveries that wait for their applications may take \(limit) bytes, 4096 each at least; \(taken) are taken, \(own) of them by "
          + "this sender, who may have as many as are left: try later"
      case .baggage:
        "the contents of deliveries and drags may take \(limit) bytes, 65536 each at least; \(taken) are taken, \(own) of them by this sender, who may "
          + "have as many as are left: wait until hosts have released some, or send a file to be opened in its place"
      case .descriptors:
        "the service holds at most \(limit) descriptors; it has \(taken), \(own) of them from this sender, who may have as many as are left: wait "
          + "until hosts have released some, or send files"
      case .dragBytes:
        "the documents and small contents of drags may take \(limit) bytes; \(taken) are taken, \(own) of them by this sender, who may have as many "
          + "as are left: drop or cancel a drag"
      case .forwarded: "\(limit) deliveries of this application are forwarded: finish some"
      case .drags: "\(limit) drags of this sender are under way: drop or cancel one"
      case .calls: "\(limit) calls of this sender are not answered yet: wait for the answers"
      case .callBytes:
        "the documents of this sender's calls that are not answered yet may have \(limit) bytes together, and have \(own): wait for the "
          + "answers"
      case .callDescriptors:
        "calls that wait for their answer may bring \(limit) descriptors; they have brought \(taken), \(own) of them from this sender, who may bring as "
          + "many as are left: wait for the answers"
      case .keyCalls: "\(limit) calls of this sender wait for the portal already: wait for the answers"
      case .fileCalls: "\(limit) calls of this sender have files that are looked at already: wait for the answers"
      case .pictureCalls: "\(limit) calls of this sender have snapshots that are read already: wait for the answers"
      case .ruleCalls: "\(limit) calls of this sender ask rules about files or long texts already: wait for the answers"
      case .asideBytes: "calls of this sender with \(own) bytes wait already, of \(limit): wait for the answers"
      case .manifests:
        "manifests that are registered take at most \(limit) bytes together, and others have \(taken) of them: install this one instead"
      }
    return .refused(InterchangeError(.limitsExceeded, sentence))
  }

  fileprivate func giveBack(_ amount: Int, of resource: Resource, _ account: Account) {
    totals[resource] -= amount
    var account = account
    while let successor = account.successor { account = successor }
    account.taken[resource] -= amount
    if account.taken.isEmpty, accounts[account.principal] === account { accounts[account.principal] = nil }
  }
}

/// The amounts that a turn returns. They stay charged until the turn is kept, because the turn may be rolled back; things that take their place need
/// not wait for that.
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

  /// - Parameter principal: `nil` for all principals.
  func of(_ resource: Resource, _ principal: Principal? = nil) -> Int {
    amounts.isEmpty ? 0 : amounts[Share(resource: resource, principal: principal)] ?? 0
  }
}

/// An amount of each of the fifteen resources.
struct Amounts {
  private var amounts = InlineArray<15, Int>(repeating: 0)

  subscript(_ resource: Resource) -> Int {
    get { amounts[resource.rawValue] }
    set { amounts[resource.rawValue] = newValue }
  }

  var isEmpty: Bool { amounts.indices.allSatisfy { amounts[$0] == 0 } }
}

/// The amounts that one principal holds.
final class Account {
  let principal: Principal
  fileprivate(set) var taken = Amounts()
  /// The account that has taken over its charges.
  fileprivate var successor: Account?

  fileprivate init(_ principal: Principal) { self.principal = principal }
}

/// A part of an account, returned when the charge is destroyed. It cannot be copied, so it is returned once.
struct Charge: ~Copyable {
  let amount: Int
  let resource: Resource
  private let account: Account
  /// The principal that pays; a principal that has left pays no longer.
  var principal: Principal {
    var account = account
    while let successor = account.successor { account = successor }
    return account.principal
  }
  private let ledger: Ledger

  fileprivate init(_ amount: Int, of resource: Resource, to account: Account, in ledger: Ledger) {
    (self.amount, self.resource, self.account, self.ledger) = (amount, resource, account, ledger)
    account.taken[resource] += amount
  }

  deinit { ledger.giveBack(amount, of: resource, account) }
}

/// A charge inside a thing in a table, whose values are copied.
// It never changes, and ends on the one thread of the core.
package final class Holding: @unchecked Sendable {
  let charge: Charge
  /// Whether the connection that pays has left the bus.
  package var isOfDeparted: Bool { charge.principal == .departed }

  init(_ charge: consuming Charge) { self.charge = charge }
}
