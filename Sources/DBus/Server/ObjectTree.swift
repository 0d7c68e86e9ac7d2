/// Objects that are made up as they are asked for, all directly below one path.
///
/// A service with a hundred thousand objects exports none of them: it says which there are and what each can do.
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
/// Both closures run on the connection's loop, and are told which call they are asked for. So a service can show each caller the objects of that
/// caller alone: an object that is hidden from a caller does not exist for it.
public struct Subtree: Sendable {
  let interfaces: @Sendable (ObjectPath, Call?) -> [Interface]?
  let children: @Sendable (Call) throws -> [String]

  /// - Parameters:
  ///   - interfaces: The interfaces of the object at a path, as the caller may see them; `nil` where there is no such object. Asked once or more
  ///     for each call. The call is `nil` where a signal about the object is about to go out, which everyone may hear.
  ///   - children: The last elements of the paths of all objects that the caller may see, for `Introspect` and `GetManagedObjects`. If it throws,
  ///     the caller gets the error: a list that lacks some objects would say that these have gone.
  public init(
    interfaces: @escaping @Sendable (ObjectPath, Call?) -> [Interface]?,
    children: @escaping @Sendable (Call) throws -> [String]
  ) {
    self.interfaces = interfaces
    self.children = children
  }
}

/// What is exported where.
struct ObjectTree {
  /// Of what `GetManagedObjects` answers: every caller gets a list of its own, which takes the time to build and to send, and a multiple of this
  /// in memory.
  static let maximumManagedSize = 16 << 20

  final class Node {
    var interfaces: [Interface] = []
    var subtree: Subtree?
    var isManager = false
    /// What a manager tells whoever asks for more objects than fit.
    var advice: String?
    var children: [String: Node] = [:]

    var isEmpty: Bool { interfaces.isEmpty && subtree == nil && !isManager && children.isEmpty }
  }

  private let root = Node()
  /// Every node by its whole path, so that a call finds its object in one step however deep it lies.
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

  /// Takes out a node that has become empty, and those above it that become empty with it.
  mutating func prune(_ path: ObjectPath) {
    var path = path
    while let node = nodes[path], node.isEmpty, let parent = path.parent {
      nodes[path] = nil
      nodes[parent]?.children[String(path.lastElement)] = nil
      path = parent
    }
  }

  /// The interfaces of the object at `path`, as `call` may see them; `nil` where there is no object, and nothing below the path either.
  func interfaces(at path: ObjectPath, for call: Call?) -> [Interface]? {
    let node = nodes[path]
    if let node, !node.interfaces.isEmpty { return node.interfaces }
    // A node that only stands between others may have an object of the subtree in its place.
    if let parent = path.parent, let subtree = nodes[parent]?.subtree, let interfaces = subtree.interfaces(path, call) {
      return interfaces
    }
    return node?.interfaces
  }

  func children(of path: ObjectPath, for call: Call) throws -> [String] {
    guard let node = nodes[path] else { return [] }
    return Set(node.children.keys).union(try node.subtree?.children(call) ?? []).sorted()
  }

  /// The nearest object manager above `path`.
  func manager(above path: ObjectPath) -> ObjectPath? {
    var path = path.parent
    while let candidate = path {
      if nodes[candidate]?.isManager == true { return candidate }
      path = candidate.parent
    }
    return nil
  }

  /// Visits every object below `path` that `call` may see, with its interfaces. A manager lists the objects below it, and no one else does.
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
