// SPDX-License-Identifier: Apache-2.0
import ExampleEnvironment
import NearbyInteraction
import UWBSimulator

/// Two machines, each with a chip, exchange tokens and range.
@main
enum Main {
  static func main() async throws {
    let environment = try ExampleEnvironment(phone: .qm33PDoA, at: Placement(at: SIMD3(0, 0, 1)))
    let other = try environment.bench.add(
      profile: .sr250, placement: Placement(at: SIMD3(3, 1, 1), yaw: 180), name: "other")
    let truth = Float(environment.phone.position.distance(to: other.position))

    let queue = DispatchQueue(label: "apps")
    let alice = PeerApp(on: environment.phone.path, queue: queue)
    let bob = PeerApp(on: other.path, queue: queue)
    let tokens = try (alice.archivedToken(), bob.archivedToken())
    print("exchanging tokens of \(tokens.0.count) bytes, which may use any network")
    try queue.sync {
      for app in [alice, bob] {
        app.onDistance = {
          guard alice.distances.count >= 5, bob.distances.count >= 5,
            let a = alice.distances.last, let b = bob.distances.last
          else { return }
          print("\(a) m here, \(b) m there, actually \(truth) m")
          guard abs(a - truth) < 0.1, abs(b - truth) < 0.1 else { fail("wrong distance") }
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
