import Baggage
import DBus
import InterchangeCore
import InterchangeTurns
import SceneModel

// The key of a portal's file transfer, which toolkits offer in a drag out of a sandbox: `org.freedesktop.portal.FileTransfer`. The key allows its
// holder to read the files. The service asks the portal for the files, opens them, and continues as if their descriptors had come with the call.
extension Interchange {
  private static let keyType = ContentType("application/vnd.portal.filetransfer")
  /// How many calls of one principal wait for the portal at the same time. No ledger charges a call before its files are there.
  private static let redemptionsOfOne = 4
  /// How many files one call may bring as keys. Each is a descriptor of the service until the baggage room has it.
  private static let redeemedFiles = 64

  /// Continues with the items of a call: at once, or when their keys have been redeemed.
  func redeem<each Value: BusValue>(
    _ items: [Item], _ descriptors: [OwnedFileDescriptor], _ reply: Reply<repeat each Value>,
    _ goOn: @escaping (_ items: [Item], _ descriptors: [OwnedFileDescriptor]) -> Void
  ) {
    guard items.contains(where: { $0.representations.contains { $0.type == Interchange.keyType } }) else {
      return goOn(items, descriptors)
    }
    let principal = callers.caller(of: reply.call).principal
    if redeeming[principal] ?? 0 >= Interchange.redemptionsOfOne {
      reply.fail(
        InterchangeError(
          .limitsExceeded,
          "\(Interchange.redemptionsOfOne) calls of this sender wait for the portal already: wait for the answers"))
      return
    }
    redeeming[principal, default: 0] += 1
    connection.loop.task {
      defer {
        redeeming[principal, default: 1] -= 1
        if redeeming[principal] == 0 { redeeming[principal] = nil }
      }
      do throws(InterchangeError) {
        let (items, descriptors) = try await redeemed(items, descriptors)
        goOn(items, descriptors)
      } catch {
        reply.fail(error)
      }
    }
  }

  private func redeemed(
    _ items: [Item], _ descriptors: [OwnedFileDescriptor]
  ) async throws(InterchangeError) -> ([Item], [OwnedFileDescriptor]) {
    var (result, descriptors, count) = ([] as [Item], descriptors, 0)
    for (number, item) in items.enumerated() {
      var item = item
      var more: [Item] = []
      for place in item.representations.indices.reversed() where item.representations[place].type == Interchange.keyType
      {
        let position = Place.document.key("items").index(number).key("representations").index(place).description
        let visibility = item.representations.remove(at: place).visibility
        let paths = try await files(ofKey: items[number].representations[place], position)
        count += paths.count
        if count > Interchange.redeemedFiles {
          throw InterchangeError(
            .limitsExceeded,
            "\(position): expected at most \(Interchange.redeemedFiles) files by keys of a portal, got \(count)")
        }
        for (index, path) in paths.enumerated() {
          let file = try await opened(path, position)
          let content = Representation(type: file.type, .descriptor(descriptors.count), visibility: visibility)
          descriptors.append(file.data)
          // The first file becomes the item. Each further file becomes an item of its own.
          if index > 0 || item.representations.contains(where: { $0.type == file.type }) {
            more.append(Item(suggestedName: file.name, representations: [content]))
          } else {
            item.suggestedName = item.suggestedName ?? file.name
            item.representations.insert(content, at: place)
          }
        }
      }
      result += [item] + more
      if result.count > Limits.items {
        throw InterchangeError(.limitsExceeded, "items: expected at most \(Limits.items) files and other items")
      }
    }
    return (result, descriptors)
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
      files = try await portal.call("RetrieveFiles", key, [String: Variant](), returning: [String].self)
    } catch {
      throw InterchangeError(.invalidPayload, "\(place): the portal gives no files for this key: \(error.short)")
    }
    if files.isEmpty { throw InterchangeError(.invalidPayload, "\(place): the portal has no files for this key") }
    return files
  }

  private func opened(
    _ path: String, _ place: String
  ) async throws(InterchangeError) -> (data: OwnedFileDescriptor, type: ContentType, name: Text?) {
    let (bytes, fileType) = (Array(path.utf8), settings.fileType)
    let (data, _) = try await room.open(fileAt: FileURL.text(ofPath: bytes), at: place)
    let type = try await room.look { () throws(InterchangeError) in fileType(bytes) }
    return (data, type, path.split(separator: "/").last.map { Text(String($0)) })
  }
}
