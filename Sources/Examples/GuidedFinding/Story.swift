// SPDX-License-Identifier: Apache-2.0
import ExampleStage
import NearbyInteraction
import UWBSimulator

/// Someone walks a circle, the phone raised and lowered by the way, and looks along x all the time.
/// What is looked for lies behind. The chip measures distances only: movement tells the direction.
@main
enum Story {
  static func main() async throws {
    let centre = SIMD3<Double>(0, 0, 1.2)
    let stage = try ExampleStage(
      phone: .qm33,
      at: Placement(.circle(centre: centre, radius: 1.2, period: 8), yaw: 0))
    let keys = try await stage.serve("keys", at: Placement(at: SIMD3(-4, 1, 0.4)))

    // Odometry: where the phone is, 50 times a second.
    let track = PoseTrack()
    NISession.poseSource = track
    Task {
      while !Task.isCancelled {
        let place = stage.phone.position
        track.append(
          DevicePose(
            time: DispatchTime.now().uptimeNanoseconds,
            position: simd_double3(place.x, place.y, place.z),
            rotation: simd_quatd(ix: 0, iy: 0, iz: 0, r: 1)))
        try await Task.sleep(for: .milliseconds(20))
      }
    }

    let app = FinderApp { DataCommunicationChannel(to: keys.endpoint, queue: $0) }
    app.queue.sync {
      app.found = { object in
        guard let angle = object.horizontalAngle else { return }
        // To the right is positive; behind is beyond a quarter turn.
        let truth = stage.phone.position.direction(to: keys.chip.position, yaw: 0).azimuth
        let error = (Double(angle) * 180 / .pi - truth).remainder(dividingBy: 360)
        guard abs(error) < 10, abs(angle) > .pi / 2, !app.hints.isEmpty else { return }
        print("the keys are behind you: \(Int(angle * 180 / .pi))°, in truth \(Int(truth))°")
        succeed("guided by movement, with hints on the way: \(app.hints.count)")
      }
    }
    failAfter(seconds: 60) { "\(app.queue.sync { (app.hints, app.lastAngle) })" }
    app.start()
    try await Task.sleep(for: .seconds(120))
  }
}
