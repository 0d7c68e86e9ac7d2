import KitStage
import StagedoorKit

/// Under a main that is not `async`, without a loop of its own.
@main enum PlainStage {
  static func main() { MainQueue.run { try await Stage().run() } }
}
