import KitStage
import StagedoorKit

/// Under a plain `async` main.
@main enum AsyncStage {
  static func main() async throws { try await Stage().run() }
}
