// SPDX-License-Identifier: Apache-2.0
import ExampleStage
import NearbyInteraction
import UWBSimulator

/// Three accessories around a phone, ranged with at the same time.
@main
enum Story {
  static func main() async throws {
    let stage = try ExampleStage(phone: .qm33PDoA, at: Placement(at: SIMD3(0, 0, 1)))
    let places = [
      "lamp": SIMD3<Double>(2, 1, 1), "door": SIMD3<Double>(4, -2, 1),
      "desk": SIMD3<Double>(1, 0, 1),
    ]
    let app = HouseApp()
    var house: [String: ExampleStage.Served] = [:]
    for (name, place) in places {
      let served = try await stage.serve(name, at: Placement(at: place))
      house[name] = served
      app.connect(to: name, DataCommunicationChannel(to: served.endpoint, queue: app.queue))
    }
    app.queue.sync { [house] in
      app.measured = {
        guard app.distances.count == house.count,
          app.distances.values.allSatisfy({ $0.count >= 10 })
        else { return }
        for (name, distances) in app.distances.sorted(by: { $0.key < $1.key }) {
          guard let last = distances.last, let served = house[name] else { continue }
          let truth = stage.distance(to: served)
          print("\(name): \(last) m, in truth \(truth) m")
          if abs(last - truth) > 0.1 { fail("the \(name) is not where it is") }
        }
        succeed("three accessories at once, each known by its token")
      }
    }
    failAfter(seconds: 60) { "\(app.queue.sync { app.distances.mapValues(\.count) })" }
    try await Task.sleep(for: .seconds(120))
  }
}
