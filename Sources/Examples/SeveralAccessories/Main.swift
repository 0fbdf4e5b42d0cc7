// SPDX-License-Identifier: Apache-2.0
import ExampleEnvironment
import NearbyInteraction
import UWBSimulator

/// A phone ranges with three accessories at the same time.
@main
enum Main {
  static func main() async throws {
    let environment = try ExampleEnvironment(
      phone: .qm33PDoA, at: Placement(at: SIMD3<Double>(0, 0, 1)))
    let positions = [
      "lamp": SIMD3<Double>(2, 1, 1), "door": SIMD3(4, -2, 1), "desk": SIMD3(1, 0, 1),
    ]
    let app = HouseApp()
    var house: [String: ExampleEnvironment.Served] = [:]
    for (name, position) in positions {
      let served = try await environment.serve(name, at: Placement(at: position))
      house[name] = served
      app.connect(to: name, DataCommunicationChannel(to: served.endpoint, queue: app.queue))
    }
    app.queue.sync { [house] in
      app.onDistance = {
        guard app.distances.count == house.count,
          app.distances.values.allSatisfy({ $0.count >= 10 })
        else { return }
        for (name, distances) in app.distances.sorted(by: { $0.key < $1.key }) {
          guard let last = distances.last, let served = house[name] else { continue }
          let truth = environment.distance(to: served)
          print("\(name): \(last) m, actually \(truth) m")
          if abs(last - truth) > 0.1 { fail("wrong distance of the \(name)") }
        }
        succeed("three accessories at once, each identified by its token")
      }
    }
    failAfter(seconds: 60) { "\(app.queue.sync { app.distances.mapValues(\.count) })" }
    try await Task.sleep(for: .seconds(120))
  }
}
