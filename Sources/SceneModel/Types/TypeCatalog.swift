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
package struct TypeCatalog: Sendable {
  private let names: TypeNames
  private let types: [TypeNames.Number]
  private let ancestors: TypeAncestors
  private let implied: ImpliedParents
  /// The parameters that an alias stands for: `public.utf8-plain-text` is `text/plain;charset=utf-8`.
  private let aliasParameters: [TypeNames.Number: [ContentType.Parameter]]

  /// What was passed over in the databases, for whoever looks after the machine.
  package let problems: [Fault]

  /// - Parameter databases: the user's before the system's.
  package init(_ databases: [TypeDatabase] = []) {
    var builder = TypeCatalogBuilder()
    for database in databases { builder.add(database) }
    builder.addBuiltIn()
    (names, types, ancestors, implied) = builder.built()
    aliasParameters = builder.aliasParameters
    problems = builder.problems.all
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
    if let number = one.number { return ancestors.has(number, ancestor) }
    guard type.form == .mime || type.form == .identifier else { return false }
    return implied.parents(of: one.name, isDescribed: false).contains { ancestors.has($0, ancestor) }
  }

  /// The one name that a type has among all its names: a MIME type where there is one.
  package func canonical(_ type: ContentType) -> ContentType {
    let type = resolved(type)
    return ContentType(form: .init(ofName: type.name), name: type.name, parameters: type.parameters)
  }

  private struct Resolved {
    let name: Text
    /// `nil` for one that nobody has said anything about.
    let number: TypeNames.Number?
    let parameters: [ContentType.Parameter]
  }

  private func resolved(_ type: ContentType) -> Resolved {
    guard let number = names.known(type.name) else {
      return Resolved(name: type.name, number: nil, parameters: type.parameters)
    }
    let canonical = types[Int(number)]
    return Resolved(
      name: names[canonical], number: canonical, parameters: aliasParameters[number] ?? type.parameters)
  }
}

extension ContentType {
  /// `application/` of `application/*`.
  fileprivate var nameBeforeStar: Text { Text(String(name.string.dropLast())) }
}
