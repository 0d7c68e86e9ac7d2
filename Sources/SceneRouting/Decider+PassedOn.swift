package import SceneModel

/// The part of a payload that reaches the application, if it is not the whole.
package struct PassedOn: Hashable, Sendable {
  /// It has as many items as the payload that was handed in; some of them may be empty.
  package let payload: Payload
  /// The activity that routes, by its place in this payload.
  package let routingActivity: RoutingActivity?
}

extension Decider {
  /// From the sandbox of another application, an application gets only the types that its manifest declares: undeclared types do not come along with
  /// declared ones.
  mutating func passedOn(to application: Int, _ state: State) throws(Stop) -> PassedOn? {
    guard request.sender.isStranger(to: state.applications[application].identifier) else { return nil }
    var payload = request.payload
    var routing = explanation.routingActivity
    var taken: [ContentType: Bool] = [:]
    for item in payload.items.indices {
      var activities: [UserActivity] = []
      for (number, activity) in payload.items[item].activities.enumerated()
      where state.declares(activity.activityType, application) {
        if let place = explanation.routingActivity, place.item == item, place.activity == number {
          routing = RoutingActivity(item: item, activity: activities.count, activityType: place.activityType)
        }
        activities.append(activity)
      }
      var representations: [Representation] = []
      for representation in payload.items[item].representations {
        let isTaken: Bool
        if let known = taken[representation.type] {
          isTaken = known
        } else {
          isTaken = try takes(representation.type, application, state)
          taken[representation.type] = isTaken
        }
        if isTaken { representations.append(representation) }
      }
      (payload.items[item].activities, payload.items[item].representations) = (activities, representations)
    }
    return payload == request.payload ? nil : PassedOn(payload: payload, routingActivity: routing)
  }
}
