import Baggage
import DBus
import InterchangeCore
import InterchangeTurns
import SceneModel
import SessionStore

// The key of a portal's file transfer, which toolkits offer in a drag out of a sandbox: `org.freedesktop.portal.FileTransfer`. The key allows its
// holder to read the files. The service asks the portal for the files, opens them, and continues as if their descriptors had come with the call.
extension Interchange {
  /// Continues with a payload whose keys have been redeemed: at once, if it has none or its call was carried out before.
  ///
  /// - Parameters:
  ///   - digest: The digest under which the core keeps the payload's token.
  ///   - size: The bytes of the call.
  func redeem<each Value: BusValue>(
    _ payload: Payload, _ descriptors: [OwnedFileDescriptor], digest: Text = .empty, size: Int,
    _ reply: Reply<repeat each Value>, _ goOn: @escaping (Payload, [OwnedFileDescriptor]) -> Void
  ) {
    guard payload.items.contains(where: { $0.representations.contains { $0.type.isPortalKey } }) else {
      return goOn(payload, descriptors)
    }
    do throws(InterchangeError) {
      // A portal gives the files of a key once.
      if try isRepeated(payload.options, digest, reply.call) { return goOn(payload, descriptors) }
    } catch {
      _ = reply.fail(error)
      return
    }
    aside(.keyCalls, bytes: size, for: reply) { () throws(InterchangeError) in
      try await self.redeemed(payload.items, descriptors)
    } _: { items, descriptors in
      goOn(Payload(items: items, options: payload.options), descriptors)
    }
  }

  private func isRepeated(_ options: PayloadOptions, _ digest: Text, _ call: Call) throws(InterchangeError) -> Bool {
    if options.token == nil { return false }
    let caller = callers.caller(of: call)
    return try ask { prompter throws(StoreError) in try prompter.isRepeated(options, digest, caller) }
  }

  private func redeemed(
    _ items: [Item], _ descriptors: [OwnedFileDescriptor]
  ) async throws(InterchangeError) -> ([Item], [OwnedFileDescriptor]) {
    var (result, more, descriptors, count) = ([] as [Item], [] as [Item], descriptors, 0)
    for (number, item) in items.enumerated() {
      var item = item
      for place in item.representations.indices.reversed() where item.representations[place].type.isPortalKey {
        let position = Place.document.key("items").index(number).key("representations").index(place).description
        let visibility = item.representations.remove(at: place).visibility
        let paths = try await files(ofKey: items[number].representations[place], position)
        count += paths.count
        if count > Allowance.keyFiles {
          throw InterchangeError(
            .limitsExceeded,
            "\(position): expected at most \(Allowance.keyFiles) files by keys of a portal, got \(count)")
        }
        for (index, path) in paths.enumerated() {
          let file = try await opened(path, position)
          let content = Representation(type: file.type, .descriptor(descriptors.count), visibility: visibility)
          descriptors.append(file.data)
          // The first file becomes the item. Each further file becomes an item of its own, behind all others, which keep their numbers.
          if index > 0 || item.representations.contains(where: { $0.type == file.type }) {
            more.append(Item(suggestedName: file.name, representations: [content]))
          } else {
            item.suggestedName = item.suggestedName ?? file.name
            item.representations.insert(content, at: place)
          }
        }
      }
      result.append(item)
      if items.count + more.count > Limits.items {
        throw InterchangeError(.limitsExceeded, "items: expected at most \(Limits.items) files and other items")
      }
    }
    return (result + more, descriptors)
  }

  private func files(ofKey representation: Representation, _ place: String) async throws(InterchangeError) -> [String] {
    let key: String
    switch representation.content {
    case .text(let text): key = text.string
    // GTK ends the key with a NUL.
    case .data(let bytes): key = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    default: throw InterchangeError(.invalidPayload, "\(place): expected the key as \"text\" or \"data\"")
    }
    let portal = connection.object(
      "org.freedesktop.portal.Documents", at: "/org/freedesktop/portal/documents", "org.freedesktop.portal.FileTransfer"
    )
    let files: [String]
    do throws(CallError) {
      files = try await insisting("the portal", within: .seconds(25)) { (rest) async throws(CallError) in
        try await portal.call("RetrieveFiles", key, [String: Variant](), timeout: rest, returning: [String].self)
      }
    } catch {
      throw InterchangeError(.invalidPayload, "\(place): the portal does not accept this key: \(error.short)")
    }
    if files.isEmpty { throw InterchangeError(.invalidPayload, "\(place): the portal has no files for this key") }
    return files
  }

  private func opened(
    _ path: String, _ place: String
  ) async throws(InterchangeError) -> (data: OwnedFileDescriptor, type: ContentType, name: Text?) {
    let (bytes, fileType) = (Array(path.utf8), settings.fileType)
    // The portal noted the path without links when the sandbox showed the file. The sandbox may have put a link there since, to a file that it cannot
    // read.
    let (data, type) = try await baggageStore.look(fileAt: FileURL.text(ofPath: bytes), isCanonical: true, at: place) {
      ($0, fileType(bytes, $0))
    }
    return (data, type, path.split(separator: "/").last.map { Text(String($0)) })
  }
}
