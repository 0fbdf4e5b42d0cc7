// SPDX-License-Identifier: Apache-2.0
import ExampleEnvironment
import NearbyInteraction
import UWBSimulator

/// A user walks in a circle with a phone that faces x, raising and lowering it. The keys lie behind. The
/// chip measures distances only; the movement determines the direction.
@main
enum Main {
  static func main() async throws {
    let centre = SIMD3(0, 0, 1.2)
    let environment = try ExampleEnvironment(
      phone: .qm33,
      at: Placement(.circle(centre: centre, radius: 1.2, period: 8), yaw: 0))
    let keys = try await environment.serve("keys", at: Placement(at: SIMD3(-4, 1, 0.4)))

    // Odometry: the phone's pose, 50 times a second.
    let track = PoseTrack()
    NISession.poseSource = track
    Task {
      while !Task.isCancelled {
        let position = environment.phone.position
        track.append(
          DevicePose(
            time: DispatchTime.now().uptimeNanoseconds,
            position: simd_double3(position.x, position.y, position.z),
            rotation: simd_quatd(ix: 0, iy: 0, iz: 0, r: 1)))
        try await Task.sleep(for: .milliseconds(20))
      }
    }

    let app = FinderApp { DataCommunicationChannel(to: keys.endpoint, queue: $0) }
    app.queue.sync {
      app.onAngle = { object in
        guard let angle = object.horizontalAngle else { return }
        // Positive is to the right; behind is beyond a quarter turn.
        let truth = environment.phone.position.direction(to: keys.chip.position, yaw: 0).azimuth
        let error = (Double(angle) * 180 / .pi - truth).remainder(dividingBy: 360)
        guard abs(error) < 10, abs(angle) > .pi / 2, !app.hints.isEmpty else { return }
        print("the keys are behind you: \(Int(angle * 180 / .pi))°, actually \(Int(truth))°")
        succeed("guided by movement, with \(app.hints.count) hints")
      }
    }
    failAfter(seconds: 60) { "\(app.queue.sync { (app.hints, app.lastAngle) })" }
    app.start()
    try await Task.sleep(for: .seconds(120))
  }
}
