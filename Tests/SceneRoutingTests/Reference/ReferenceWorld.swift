import SceneModel

/// Everything that is known at one moment, in unordered lists.
struct ReferenceWorld {
  var manifests: [Manifest] = []
  var sessions: [Session] = []
  /// Each type occurs once.
  var preferences: [ReferencePreference] = []

  func manifest(of application: Text) -> Manifest? { manifests.first { $0.identifier == application } }

  func session(_ identifier: UniqueIdentifier) -> Session? { sessions.first { $0.identifier == identifier } }

  /// The sessions of an application that take part in routing: those whose configuration is in its manifest.
  func sessions(of manifest: Manifest) -> [Session] {
    sessions.filter { session in
      session.application == manifest.identifier
        && manifest.configurations.contains { $0.role == session.role && $0.name == session.configuration }
    }
  }
}

struct ReferencePreference {
  let type: Text
  let application: Text
}

extension Manifest {
  func configurations(of role: Text) -> [SceneConfiguration] { configurations.filter { $0.role == role } }
}
