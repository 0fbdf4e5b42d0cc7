// SPDX-License-Identifier: Apache-2.0
import ExampleStage
import NearbyInteraction
import UWBSimulator

/// Two machines, each with a chip: their apps exchange tokens, and range.
@main
enum Story {
  static func main() async throws {
    let stage = try ExampleStage(phone: .qm33PDoA, at: Placement(at: SIMD3(0, 0, 1)))
    let other = try stage.bench.add(
      profile: .sr250, placement: Placement(at: SIMD3(3, 1, 1), yaw: 180), name: "other")
    let truth = Float(stage.phone.position.distance(to: other.position))

    let queue = DispatchQueue(label: "apps")
    let alice = PeerApp(on: stage.phone.path, queue: queue)
    let bob = PeerApp(on: other.path, queue: queue)
    let tokens = try (alice.archivedToken(), bob.archivedToken())
    print("tokens of \(tokens.0.count) bytes go to the other end, over any network")
    try queue.sync {
      for app in [alice, bob] {
        app.measured = {
          guard alice.distances.count >= 5, bob.distances.count >= 5,
            let a = alice.distances.last, let b = bob.distances.last
          else { return }
          print("\(a) m here, \(b) m there, in truth \(truth) m")
          guard abs(a - truth) < 0.1, abs(b - truth) < 0.1 else { fail("that is not the distance") }
          succeed("two Linux machines range with each other")
        }
      }
      try alice.receive(tokens.1)
      try bob.receive(tokens.0)
    }
    failAfter(seconds: 60) { "\(queue.sync { (alice.distances, bob.distances) })" }
    try await Task.sleep(for: .seconds(120))
  }
}
