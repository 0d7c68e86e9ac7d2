/// The type of some data: a MIME type (`image/png`), a uniform type identifier (`public.png`), or a wildcard for several types (`image/*`).
///
/// Case makes no difference: types are equal in any spelling of their letters. This type does not know that `public.png` and `image/png` are the
/// same; `TypeCatalog` does.
package struct ContentType: Sendable {
  package enum Form: Hashable, Sendable {
    /// `image/png`
    case mime
    /// `public.png`
    case identifier
    /// `image/*`
    case wildcard
    /// `*/*`
    case everything

    /// From a name that was checked before.
    init(ofName name: Text) {
      self =
        name == "*/*" ? .everything : name.hasSuffix("/*") ? .wildcard : MIMEHalves(name) == nil ? .identifier : .mime
    }
  }

  /// A parameter of a MIME type: the `charset=utf-8` of `text/plain; charset=utf-8`.
  package struct Parameter: Hashable, Sendable {
    package let name: Text
    package let value: Text
  }

  package let form: Form
  /// In lower case, without parameters.
  package let name: Text
  /// In the order of their names.
  package let parameters: [Parameter]
  /// The original spelling, which others receive.
  package let spelling: Text

  /// From parts that were checked before.
  init(form: Form, name: Text, parameters: [Parameter], spelling: Text? = nil) {
    self.form = form
    self.name = name
    self.parameters = parameters
    self.spelling = spelling ?? ContentType.written(name, parameters)
  }

  /// Whether the type is that of links: `text/uri-list`, or `x-scheme-handler/https`. A link is the name of something and not the thing, so a taker of
  /// texts or of any data takes no links.
  package var isLink: Bool { ContentType.isLink(name) || name == "public.url" || name == "public.file-url" }

  static func isLink(_ name: Text) -> Bool { name == "text/uri-list" || name.hasPrefix(linkPrefix) }

  private static let linkPrefix: Text = "x-scheme-handler/"

  /// Whether data of the type is the key of a portal's file transfer, which the service exchanges for files.
  package var isPortalKey: Bool { name == "application/vnd.portal.filetransfer" }

  static func ofLinks(scheme: Text) -> ContentType {
    ContentType(form: .mime, name: Text(linkPrefix.string + scheme.string), parameters: [])
  }

  /// Text, as it is selected somewhere.
  package static let plainText = ContentType(
    form: .mime, name: "text/plain", parameters: [Parameter(name: "charset", value: "utf-8")])
  package static let anyData = ContentType(form: .mime, name: "application/octet-stream", parameters: [])

  /// The common form of all its spellings.
  package var text: Text { ContentType.written(name, parameters) }
}

extension ContentType: Hashable {
  package static func == (one: Self, other: Self) -> Bool {
    one.name == other.name && one.parameters == other.parameters
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(parameters)
  }
}

extension ContentType: CustomStringConvertible {
  package var description: String { text.string }

  private static func written(_ name: Text, _ parameters: [Parameter]) -> Text {
    if parameters.isEmpty { return name }
    var text = name.string
    for parameter in parameters {
      let isToken = !parameter.value.isEmpty && parameter.value.withBytes { $0.allSatisfy(MIMESyntax.isToken) }
      text += ";\(parameter.name.string)=" + (isToken ? parameter.value.string : escaped(parameter.value))
    }
    return Text(text)
  }

  private static func escaped(_ value: Text) -> String {
    var text = "\""
    for scalar in value.string.unicodeScalars {
      if scalar == "\"" || scalar == "\\" { text += "\\" }
      text.unicodeScalars.append(scalar)
    }
    return text + "\""
  }
}
