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
///     interfaces: { path in Int(path.lastElement) == nil ? nil : interfaces },
///     children: { (1...1000).map(String.init) }),
///   below: "/org/example/books")
/// ```
public struct Subtree: Sendable {
  let interfaces: @Sendable (ObjectPath) -> [Interface]?
  let children: @Sendable () throws -> [String]

  /// - Parameters:
  ///   - interfaces: What the object at a path can do; `nil` where there is none. Called for each call, on the loop.
  ///   - children: The last elements of all the paths there are, for those who look around. Where they cannot be told, who looks is answered with
  ///     what is thrown: a list that lacks some would say that these have gone.
  public init(
    interfaces: @escaping @Sendable (ObjectPath) -> [Interface]?, children: @escaping @Sendable () throws -> [String]
  ) {
    self.interfaces = interfaces
    self.children = children
  }
}

/// What is exported where.
struct ObjectTree {
  final class Node {
    var interfaces: [Interface] = []
    var subtree: Subtree?
    var isManager = false
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

  /// What the object at `path` can do; `nil` where there is no object, and nothing below it either.
  func interfaces(at path: ObjectPath) -> [Interface]? {
    let node = nodes[path]
    if let node, !node.interfaces.isEmpty { return node.interfaces }
    // A node that only stands between others may have an object of the subtree in its place.
    if let parent = path.parent, let subtree = nodes[parent]?.subtree, let interfaces = subtree.interfaces(path) {
      return interfaces
    }
    return node?.interfaces
  }

  func children(of path: ObjectPath) throws -> [String] {
    guard let node = nodes[path] else { return [] }
    return Set(node.children.keys).union(try node.subtree?.children() ?? []).sorted()
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

  /// Every object below `path`, each with what it can do. What lies below another manager is that one's to list.
  func objects(below path: ObjectPath, _ visit: (ObjectPath, [Interface]) throws -> Void) throws {
    guard let node = nodes[path] else { return }
    for (element, child) in node.children {
      let childPath = ObjectPath(unchecked: path == .root ? "/\(element)" : "\(path)/\(element)")
      if !child.interfaces.isEmpty { try visit(childPath, child.interfaces) }
      if !child.isManager { try objects(below: childPath, visit) }
    }
    guard let subtree = node.subtree else { return }
    for element in try subtree.children() {
      guard let childPath = try? path.appending(element), nodes[childPath]?.interfaces.isEmpty ?? true,
        let interfaces = subtree.interfaces(childPath)
      else { continue }
      try visit(childPath, interfaces)
    }
  }
}
