/// Objects that are made when somebody asks for them, all directly below one path.
///
/// A service with a hundred thousand objects exports none of them: it lists the objects, and returns the interfaces of each.
///
/// ```swift
/// var book = Interface("org.example.Book")
/// book.method("Open", out: "text") { (call: Call) -> String in "the book at \(call.path)" }
/// let interfaces = [book]
///
/// let connection = try await Connection.session()
/// connection.export(
///   Subtree(
///     interfaces: { path, _ in Int(path.lastElement) == nil ? nil : interfaces },
///     children: { _ in (1...1000).map(String.init) }),
///   below: "/org/example/books")
/// ```
///
/// Both closures run on the connection's loop, and get the call for which they are asked. So a service can show each caller that caller's objects
/// only: an object that is hidden from a caller does not exist for it.
public struct Subtree: Sendable {
  let interfaces: @Sendable (ObjectPath, Call?) -> [Interface]?
  let children: @Sendable (Call) throws -> [String]

  /// - Parameters:
  ///   - interfaces: Returns the interfaces of the object at a path, as the caller may see them; `nil` if there is no such object. It is called at
  ///     least once for each call. The call is `nil` for a signal about the object, which everyone may hear.
  ///   - children: Returns the last elements of the paths of all objects that the caller may see, for `Introspect` and `GetManagedObjects`. If it
  ///     throws, the caller gets the error: an incomplete list would mean that the missing objects are gone.
  public init(
    interfaces: @escaping @Sendable (ObjectPath, Call?) -> [Interface]?,
    children: @escaping @Sendable (Call) throws -> [String]
  ) {
    self.interfaces = interfaces
    self.children = children
  }
}

/// The exported objects by their paths.
struct ObjectTree {
  /// The size of the reply of `GetManagedObjects`: every caller gets a list of its own, which takes time to build and to send, and several times its
  /// size in memory.
  static let maximumManagedSize = 16 << 20

  final class Node {
    var interfaces: [Interface] = []
    var subtree: Subtree?
    var isManager = false
    /// The manager's advice to a caller whose objects do not fit.
    var advice: String?
    var children: [String: Node] = [:]

    var isEmpty: Bool { interfaces.isEmpty && subtree == nil && !isManager && children.isEmpty }
  }

  private let root = Node()
  /// Every node by its whole path, so that a call finds its object in one step at any depth.
  private(set) var nodes: [ObjectPath: Node] = [:]

  init() { nodes[.root] = root }

  subscript(path: ObjectPath) -> Node? { nodes[path] }

  mutating func node(making path: ObjectPath) -> Node {
    if let node = nodes[path] { return node }
    let parent = if let above = path.parent { node(making: above) } else { root }
    let made = Node()
    parent.children[String(path.lastElement)] = made
    nodes[path] = made
    return made
  }

  /// Removes a node that has become empty, and the ancestors that become empty with it.
  mutating func prune(_ path: ObjectPath) {
    var path = path
    while let node = nodes[path], node.isEmpty, let parent = path.parent {
      nodes[path] = nil
      nodes[parent]?.children[String(path.lastElement)] = nil
      path = parent
    }
  }

  /// The interfaces of the object at `path`, as `call` may see them; `nil` if there is no object, and nothing below the path.
  func interfaces(at path: ObjectPath, for call: Call?) -> [Interface]? {
    let node = nodes[path]
    if let node, !node.interfaces.isEmpty { return node.interfaces }
    // An object of the subtree may stand in the place of a node that only connects others.
    if let parent = path.parent, let subtree = nodes[parent]?.subtree, let interfaces = subtree.interfaces(path, call) {
      return interfaces
    }
    return node?.interfaces
  }

  func children(of path: ObjectPath, for call: Call) throws -> [String] {
    guard let node = nodes[path] else { return [] }
    return Set(node.children.keys).union(try node.subtree?.children(call) ?? []).sorted()
  }

  func manager(above path: ObjectPath) -> ObjectPath? {
    var path = path.parent
    while let candidate = path {
      if nodes[candidate]?.isManager == true { return candidate }
      path = candidate.parent
    }
    return nil
  }

  /// Visits every object below `path` that `call` may see, with its interfaces. Objects below another manager are left out: that
  /// manager lists them.
  func objects(below path: ObjectPath, for call: Call, _ visit: (ObjectPath, [Interface]) throws -> Void) throws {
    guard let node = nodes[path] else { return }
    for (element, child) in node.children {
      let childPath = ObjectPath(unchecked: path == .root ? "/\(element)" : "\(path)/\(element)")
      if !child.interfaces.isEmpty { try visit(childPath, child.interfaces) }
      if !child.isManager { try objects(below: childPath, for: call, visit) }
    }
    guard let subtree = node.subtree else { return }
    for element in try subtree.children(call) {
      guard let childPath = try? path.appending(element), nodes[childPath]?.interfaces.isEmpty ?? true,
        let interfaces = subtree.interfaces(childPath, call)
      else { continue }
      try visit(childPath, interfaces)
    }
  }
}
