// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
import CommandSupport
import Ranging
import System

/// The options for the poses of this device.
package struct PoseOptions: ParsableArguments {
  @Option(
    help: """
      Find the direction from this device's poses: - or a file for JSON lines, see the page on \
      finding; iio:NAME for an inertial sensor, which counts steps.
      """,
    completion: .file())
  package var poses: String?

  package init() {}

  private static let sensors = "iio:"

  /// Passes a guide by the poses to `body`; nil without the option.
  package nonisolated(nonsending) func withGuide<R>(
    _ body: nonisolated(nonsending) (PoseGuide?) async throws -> R
  ) async throws -> R {
    guard let path = poses else { return try await body(nil) }
    let poses = LivePoses()
    guard path.hasPrefix(Self.sensors) else {
      let reading = Task(executorPreference: Ending.threads) {
        do throws(FileError) { try poses.read(path) { PacketLink.now() } } catch {
          note("The poses cannot be read: \(error).", try: "Check the path: \(path)")
        }
      }
      defer { reading.cancel() }
      return try await body(PoseGuide(poses, .init()))
    }
    let sensor = try InertialSensor(String(path.dropFirst(Self.sensors.count)))
    let measuring = Task(executorPreference: Ending.threads) {
      var path = InertialPath()
      while !Task.isCancelled {
        do {
          let sample = try sensor.sample()
          let now = PacketLink.now()
          if let pose = path.update(sample, at: Double(now) * 1e-9) { poses.append(pose, at: now) }
        } catch {
          if let failure = error as? Failure, let cause = failure.cause { note(cause) }
          return
        }
        try? await Task.sleep(for: .milliseconds(10))
      }
    }
    defer { measuring.cancel() }
    return try await body(PoseGuide(poses, InertialPath.finderParameters))
  }
}
