internal import Synchronization

/// The knowledge about types: which names belong to the same type, and which types conform to which.
///
/// It combines the desktop's shared MIME database, if that is installed, with the built-in uniform type identifiers, their MIME types, and facts
/// about common types. A type conforms, directly or through others, to:
///
/// - its parents in the database, or in the hierarchy of identifiers;
/// - `text/plain`, for any `text/…`;
/// - the type of its suffix (`application/xml` for `…+xml`), if nobody has named a parent;
/// - the kind that its name begins with: `image/*`, which is `public.image`, for any `image/…`;
/// - `public.data`, which is `application/octet-stream`, for everything but `inode/…` and links; and `*/*`.
///
/// Links, which are `text/uri-list` or `x-scheme-handler/…`, conform to `*/*` only.
///
/// A wildcard without a meaning as a kind, such as `application/*`, takes the types with such names: a picture does not conform to `application/*`,
/// although everything is an `application/octet-stream`.
///
/// The tables are made at the first question about a type: most services get nothing but activities, and reading the database takes longer than the
/// rest of a start.
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
      // Two threads may have begun at once.
      let kept = made.storeIfNil(tables)
      if kept === tables { for problem in tables.problems { complain(problem) } }
      return kept
    }
  }

  /// In an object of their own, because every reader of a document gets a catalogue, and each table would be a reference to count.
  private final class Tables: Sendable {
    let names: TypeNames
    /// The type of each name, and, below, its form.
    let types: [TypeNames.Number]
    let forms: [ContentType.Form]
    let ancestors: TypeAncestors
    let implied: ImpliedParents
    /// The parameters that an alias implies: `public.utf8-plain-text` is `text/plain;charset=utf-8`.
    let aliasParameters: [TypeNames.Number: [ContentType.Parameter]]
    let problems: [Fault]

    init(_ builder: TypeCatalogBuilder) {
      (names, types, ancestors, implied) = builder.built()
      forms = types.map { [names] in ContentType.Form(ofName: names[$0]) }
      aliasParameters = builder.aliasParameters
      problems = builder.problems.all
    }
  }

  /// The ignored faults of the databases, for the administrator of the machine.
  package var problems: [Fault] { tables.problems }

  /// - Parameter databases: The user's before the system's.
  package init(_ databases: [TypeDatabase] = []) {
    self.init {
      databases
    } complaining: { _ in
    }
  }

  /// - Parameters:
  ///   - databases: Reads the databases, the user's before the system's.
  ///   - complain: Called for each of `problems`, as soon as they are known.
  package init(
    _ databases: @escaping @Sendable () -> [TypeDatabase], complaining complain: @escaping @Sendable (Fault) -> Void
  ) {
    source = Source(databases, complain)
  }

  /// Whether two types are one, in whichever spelling: `public.png` is `image/png`.
  package func isSame(_ one: ContentType, as other: ContentType) -> Bool {
    conforms(one, to: other) && conforms(other, to: one)
  }

  /// Whether a taker of `other` takes `type`.
  ///
  /// A type without parameters takes a type with any parameters; a type with parameters takes only a type that has them too.
  package func conforms(_ type: ContentType, to other: ContentType) -> Bool {
    other.form == .everything || conforms(resolved(type), to: resolved(other))
  }

  package func conforms(_ one: ResolvedType, to above: ResolvedType) -> Bool {
    if above.form == .everything { return true }
    for parameter in above.parameters where !one.parameters.contains(parameter) { return false }
    if one.name == above.name { return true }
    if let start = above.start { return one.form != .wildcard && one.name.hasPrefix(start) }
    // No type conforms to an unknown one.
    guard let ancestor = above.number else { return false }
    if let number = one.number { return tables.ancestors.has(number, ancestor) }
    guard one.form == .mime || one.form == .identifier else { return false }
    return tables.implied.parents(of: one.name, isDescribed: false).contains { tables.ancestors.has($0, ancestor) }
  }

  /// Whether this is the type of something as far as anybody has said.
  package func isDescribed(_ type: ContentType) -> Bool { type.form != .identifier || resolved(type).number != nil }

  /// The names of all types that this type conforms to, in the spelling of `canonical`, each once, and how far each is. Sometimes there are more.
  package func kinds(of type: ContentType) -> [(name: Text, distance: TypeDistance)] {
    let found = resolved(type)
    var kinds: [(name: Text, distance: TypeDistance)] = [(found.name, TypeDistance())]
    let parents = found.number == nil ? tables.implied.parents(of: found.name, isDescribed: false) : []
    let distances = tables.ancestors.distances(from: found.number, parents) { [implied = tables.implied] number in
      number == implied.data ? .data : implied.allKinds.contains(number) ? .kind : .ancestor
    }
    kinds += distances.map { (tables.names[$0.type], $0.distance) }
    // A wildcard that nobody has described takes the types with such names.
    if let halves = MIMEHalves(found.name) {
      let wildcard = Text("\(halves.type)/*")
      if !kinds.contains(where: { $0.name == wildcard }) { kinds.append((wildcard, TypeDistance(.kind))) }
    }
    kinds.append(("*/*", TypeDistance(.everything)))
    return kinds
  }

  /// The one name that stands for all names of a type: a MIME type if there is one.
  package func canonical(_ type: ContentType) -> ContentType {
    let found = resolved(type)
    let form = found.number.map { tables.forms[Int($0)] } ?? type.form
    return ContentType(form: form, name: found.name, parameters: found.parameters)
  }

  /// A type, looked up: many types can be compared with each other so.
  package struct ResolvedType: Sendable {
    fileprivate let form: ContentType.Form
    fileprivate let name: Text
    /// `nil` for a type that nobody has described.
    fileprivate let number: TypeNames.Number?
    fileprivate let parameters: [ContentType.Parameter]
    /// The start of the names that a wildcard without a number takes.
    fileprivate var start: Text?
  }

  package func resolved(_ type: ContentType) -> ResolvedType {
    guard let number = tables.names.known(type.name) else {
      let start = type.form == .wildcard ? Text(String(type.name.string.dropLast())) : nil
      return ResolvedType(
        form: type.form, name: type.name, number: nil, parameters: type.parameters, start: start)
    }
    let canonical = tables.types[Int(number)]
    return ResolvedType(
      form: type.form, name: tables.names[canonical], number: canonical,
      parameters: tables.aliasParameters[number] ?? type.parameters)
  }
}
