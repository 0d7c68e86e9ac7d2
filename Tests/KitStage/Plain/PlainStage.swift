import KitStage
import StagedoorKit

/// Under a main that is not `async`, and without anyone's loop.
@main enum PlainStage {
  static func main() { MainQueue.run { try await Stage().run() } }
}
