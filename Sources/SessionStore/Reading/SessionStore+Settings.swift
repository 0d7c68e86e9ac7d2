package import SceneModel

extension SessionStore {
  /// The chosen applications, for types that several applications declare.
  package func preferences() throws(StoreError) -> [Text: Text] {
    var preferences: [Text: Text] = [:]
    var query = try database().query("SELECT type, application FROM preference")
    while try query.step() {
      do throws(Malformed) {
        preferences[try query.text()] = try query.text()
      } catch {
        passOver("a preference", error)
      }
    }
    for (type, application) in tail.preferences { preferences[type] = application }
    return preferences
  }

  /// The discarded sessions of which an application's host must hear, in the order in which they were discarded.
  package func owedDiscards(of application: Text) throws(StoreError) -> [UniqueIdentifier] {
    var owed: [(number: Int64, session: UniqueIdentifier)] = []
    var query = try database().query("SELECT number, session FROM owed WHERE application = ?")
    query.put(application)
    while try query.step() {
      do throws(Malformed) {
        let (number, session) = (try query.integer(), try query.identifier())
        if tail.owed[Tail.OwedKey(application: application, session: session)] == nil { owed.append((number, session)) }
      } catch {
        passOver("a discarded session", error)
      }
    }
    for case (let key, let number?) in tail.owed where key.application == application {
      owed.append((number, key.session))
    }
    return owed.sorted { $0.number < $1.number }.map(\.session)
  }

  /// The number of discarded sessions of which the host of each application must hear. Applications without any are left out.
  package func owedCounts() throws(StoreError) -> [Text: Int] {
    var counts = try countsOfRows().owed
    for (key, number) in tail.owed {
      var query = try database().query("SELECT 1 FROM owed WHERE application = ? AND session = ?")
      query.put(key.application)
      query.put(key.session)
      let (hasRow, isOwed) = (try query.step(), number != nil)
      if hasRow != isOwed { counts[key.application, default: 0] += isOwed ? 1 : -1 }
    }
    return counts.filter { $0.value > 0 }
  }
}
