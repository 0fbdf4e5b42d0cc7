// SPDX-License-Identifier: Apache-2.0
import ExampleEnvironment
import NearbyInteraction
import UWBSimulator

/// An accessory moves towards the phone and away again, through two regions; then it is out of range for
/// a while, and comes back.
@main
enum Main {
  static func main() async throws {
    let environment = try ExampleEnvironment(phone: .qm33PDoA, at: Placement(at: SIMD3(0, 0, 1)))
    let walk = Placement(
      .between(SIMD3(5, 0.5, 1), SIMD3(0.8, 0.2, 1), period: 14), yaw: 180)
    let served = try await environment.serve("lamp", at: walk)

    let app = RegionsApp { DataCommunicationChannel(to: served.endpoint, queue: $0) }
    let expected = [
      "entered 3.0 m", "entered 1.5 m", "left 1.5 m", "left 3.0 m", "timeout", "retry",
      "first distance",
    ]
    app.onEvent = { entry in
      switch entry {
      case "left 3.0 m": served.chip.placement = Placement(at: SIMD3(500, 0, 1))
      // In range again while the app tries.
      case "retry": served.chip.placement = Placement(at: SIMD3(2, 0, 1), yaw: 180)
      case "first distance" where app.log.contains("retry"):
        let entries = app.log.filter(expected.contains)
        // The first distance of all comes before the others.
        guard Array(entries.dropFirst()) == expected else { fail("unexpected events: \(app.log)") }
        succeed("two regions, a timeout and a retry, as expected")
      default: break
      }
    }
    failAfter(seconds: 60) { "\(app.queue.sync { app.log })" }
    app.start()
    try await Task.sleep(for: .seconds(120))
  }
}
