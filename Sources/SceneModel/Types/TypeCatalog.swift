internal import Synchronization

/// What kinds of things there are: which names are the same type's, and which types are kinds of which.
///
/// It is made of the desktop's shared MIME database, where that is installed, over what is built in: the uniform type
/// identifiers with their MIME types, and the facts about common types. What a type conforms to is, each through the other:
///
/// - what the database, or the hierarchy of identifiers, says it is a kind of;
/// - `text/plain`, for any `text/…`;
/// - what its suffix says (`application/xml` for `…+xml`), if nobody said anything about it;
/// - the kind that its name begins with: `image/*`, which is `public.image`, for any `image/…`;
/// - `public.data`, which is `application/octet-stream`, for everything but `inode/…`; and `*/*`.
///
/// A wildcard that is no kind of thing, such as `application/*`, takes the types that are called so themselves: a picture is
/// not of `application/*` because everything is an `application/octet-stream`.
///
/// Its tables are made when somebody first asks about a type: most services are never handed anything but activities, and reading the
/// database takes longer than all else that one does to begin.
package struct TypeCatalog: Sendable {
  private let source: Source
  private var tables: Tables { source.tables }

  private final class Source: Sendable {
    private let databases: @Sendable () -> [TypeDatabase]
    private let complain: @Sendable (Fault) -> Void
    private let made = AtomicLazyReference<Tables>()

    init(_ databases: @escaping @Sendable () -> [TypeDatabase], _ complain: @escaping @Sendable (Fault) -> Void) {
      self.databases = databases
      self.complain = complain
    }

    var tables: Tables { made.load() ?? make() }

    private func make() -> Tables {
      var builder = TypeCatalogBuilder()
      for database in databases() { builder.add(database) }
      builder.addBuiltIn()
      let tables = Tables(builder)
      // Two may have begun at once.
      let kept = made.storeIfNil(tables)
      if kept === tables { for problem in tables.problems { complain(problem) } }
      return kept
    }
  }

  /// By themselves, since a catalog is handed to every reader of a document and each of these would be a reference to count.
  private final class Tables: Sendable {
    let names: TypeNames
    /// For each name that of its type, and what form that has.
    let types: [TypeNames.Number]
    let forms: [ContentType.Form]
    let ancestors: TypeAncestors
    let implied: ImpliedParents
    /// The parameters that an alias stands for: `public.utf8-plain-text` is `text/plain;charset=utf-8`.
    let aliasParameters: [TypeNames.Number: [ContentType.Parameter]]
    let problems: [Fault]

    init(_ builder: TypeCatalogBuilder) {
      (names, types, ancestors, implied) = builder.built()
      forms = types.map { [names] in ContentType.Form(ofName: names[$0]) }
      aliasParameters = builder.aliasParameters
      problems = builder.problems.all
    }
  }

  /// What was passed over in the databases, for whoever looks after the machine.
  package var problems: [Fault] { tables.problems }

  /// - Parameter databases: the user's before the system's.
  package init(_ databases: [TypeDatabase] = []) {
    self.init {
      databases
    } complaining: { _ in
    }
  }

  /// - Parameters:
  ///   - databases: reads them, the user's before the system's.
  ///   - complain: hears of each of `problems`, as soon as they are known.
  package init(
    _ databases: @escaping @Sendable () -> [TypeDatabase], complaining complain: @escaping @Sendable (Fault) -> Void
  ) {
    source = Source(databases, complain)
  }

  /// Whether whoever takes `other` takes `type`.
  ///
  /// A type without parameters takes one with any; a type with some takes only one that has them too.
  package func conforms(_ type: ContentType, to other: ContentType) -> Bool {
    if other.form == .everything { return true }
    let (one, above) = (resolved(type), resolved(other))
    for parameter in above.parameters where !one.parameters.contains(parameter) { return false }
    if one.name == above.name { return true }
    if other.form == .wildcard, above.number == nil {
      return type.form != .wildcard && one.name.hasPrefix(other.nameBeforeStar)
    }
    // Nothing is a kind of what nobody has heard of.
    guard let ancestor = above.number else { return false }
    if let number = one.number { return tables.ancestors.has(number, ancestor) }
    guard type.form == .mime || type.form == .identifier else { return false }
    return tables.implied.parents(of: one.name, isDescribed: false).contains { tables.ancestors.has($0, ancestor) }
  }

  /// The names of all types that this type conforms to, in the spelling of `canonical`. At times there are more.
  package func kinds(of type: ContentType) -> [Text] {
    let found = resolved(type)
    var numbers: [TypeNames.Number] = []
    if let number = found.number {
      numbers = tables.ancestors.all(of: number)
    } else {
      for parent in tables.implied.parents(of: found.name, isDescribed: false) {
        for number in [parent] + tables.ancestors.all(of: parent) where !numbers.contains(number) {
          numbers.append(number)
        }
      }
    }
    var names = [found.name]
    // A wildcard that nobody has described takes what is called so itself.
    let wildcard = MIMEHalves(found.name).map { Text("\($0.type)/*") }
    for name in [wildcard, "*/*"].compactMap(\.self) + numbers.map({ tables.names[$0] }) where !names.contains(name) {
      names.append(name)
    }
    return names
  }

  /// The one name that a type has among all its names: a MIME type where there is one.
  package func canonical(_ type: ContentType) -> ContentType {
    let found = resolved(type)
    let form = found.number.map { tables.forms[Int($0)] } ?? type.form
    return ContentType(form: form, name: found.name, parameters: found.parameters)
  }

  private struct Resolved {
    let name: Text
    /// `nil` for one that nobody has said anything about.
    let number: TypeNames.Number?
    let parameters: [ContentType.Parameter]
  }

  private func resolved(_ type: ContentType) -> Resolved {
    guard let number = tables.names.known(type.name) else {
      return Resolved(name: type.name, number: nil, parameters: type.parameters)
    }
    let canonical = tables.types[Int(number)]
    return Resolved(
      name: tables.names[canonical], number: canonical,
      parameters: tables.aliasParameters[number] ?? type.parameters)
  }
}

extension ContentType {
  /// `application/` of `application/*`.
  fileprivate var nameBeforeStar: Text { Text(String(name.string.dropLast())) }
}
