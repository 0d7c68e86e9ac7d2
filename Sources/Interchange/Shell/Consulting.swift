import Baggage
import DBus
import Glibc
import InterchangeCore
import SceneModel
import TextRules

// The rules that cannot be asked at once: the disk has to be asked for them, or the text takes long. Both happen on a thread of the baggage store.
extension Interchange {
  /// The time for all paths of a payload.
  private static let diskPatience = Duration.milliseconds(50)

  func consult(_ number: CallNumber, _ consulting: Consulting) {
    connection.loop.task { feed(.consulted(number, await answer(consulting))) }
  }

  func answer(_ consulting: Consulting) async -> Consultation {
    let types = types
    let first = await baggageStore.work { consulting.answer(types) }
    guard case .asks(let paths)? = first else { return first ?? .exhausted }
    let fileType = settings.fileType
    let disk = await baggageStore.ask(paths, within: Interchange.diskPatience) { DiskAnswer(of: $0, fileType) }
    return await baggageStore.work { consulting.answer(types, disk: disk) } ?? .exhausted
  }
}

extension DiskAnswer {
  /// Asks the disk.
  fileprivate init(of path: Text, _ fileType: (_ path: [UInt8], _ file: OwnedFileDescriptor) -> ContentType) {
    var status = stat()
    guard stat(path.string, &status) == 0 else {
      self = .nothing
      return
    }
    switch status.st_mode & S_IFMT {
    case S_IFDIR: self = .directory
    case S_IFREG:
      let file = open(path.string, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
      self = .file(file < 0 ? .anyData : fileType(Array(path.string.utf8), OwnedFileDescriptor(owning: file)))
    default: self = .file(.anyData)
    }
  }
}
