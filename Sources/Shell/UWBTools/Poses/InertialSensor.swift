// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Formats
import FoundationEssentials
import System

/// An accelerometer and a gyroscope of Linux's industrial I/O, read through sysfs.
///
/// Source of names and axes: Linux, Documentation/ABI/testing/sysfs-bus-iio and
/// Documentation/devicetree/bindings/iio/mount-matrix.txt.
package struct InertialSensor: Sendable {
  /// Metres per square second and radians per second, in the axes of robots.
  package struct Sample: Sendable, Hashable {
    package var acceleration: SIMD3<Double>
    package var rotation: SIMD3<Double>

    package init(acceleration: SIMD3<Double>, rotation: SIMD3<Double>) {
      (self.acceleration, self.rotation) = (acceleration, rotation)
    }
  }

  /// The files of three axes, with the scale and the mounting of their device.
  private struct Axes: Sendable {
    var files: [String]
    var offset: Double
    var scale: Double
    var matrix: [Double]
  }

  private let accelerometer: Axes
  private let gyroscope: Axes

  /// Finds the sensors.
  ///
  /// - Parameters:
  ///   - names: The names of one device, or of two, separated by a comma: `iio:device0`, or the
  ///     content of its file `name`.
  ///   - root: The folder of the devices.
  /// - Throws: `Failure`.
  package init(_ names: String, root: String = "/sys/bus/iio/devices") throws {
    let folders = try names.split(separator: ",").map { name in
      guard let folder = Self.folder(String(name), root) else {
        throw Failure(
          .unavailable, "There is no sensor \(printable(String(name))).",
          try: "List the names of the sensors: cat \(root)/*/name")
      }
      return folder
    }
    accelerometer = try Self.axes("accel", "accelerometer", folders, names)
    gyroscope = try Self.axes("anglvel", "gyroscope", folders, names)
    _ = try sample()
  }

  private static func folder(_ name: String, _ root: String) -> String? {
    let entries = (try? FileManager.default.contentsOfDirectory(atPath: root))?.sorted() ?? []
    return
      (entries.first { $0 == name }
      ?? entries.first { text("\(root)/\($0)/name") == name }).map { "\(root)/\($0)" }
  }

  private static func axes(
    _ kind: String, _ noun: String, _ folders: [String], _ names: String
  ) throws -> Axes {
    for folder in folders {
      let prefix = "\(folder)/in_\(kind)"
      guard text("\(prefix)_x_raw") != nil else { continue }
      func number(_ name: String) -> Double? {
        (text("\(prefix)_\(name)") ?? text("\(prefix)_x_\(name)")).flatMap(Double.init)
      }
      let mounting =
        text("\(prefix)_mount_matrix") ?? text("\(folder)/in_mount_matrix")
        ?? text("\(folder)/mount_matrix")
      let matrix = mounting?.split { ",; ".contains($0) }.compactMap { Double($0) }
      return Axes(
        files: ["x", "y", "z"].map { "\(prefix)_\($0)_raw" }, offset: number("offset") ?? 0,
        scale: number("scale") ?? 1,
        matrix: matrix?.count == 9 ? matrix ?? [] : [1, 0, 0, 0, 1, 0, 0, 0, 1])
    }
    throw Failure(
      .unavailable, "The sensor \(printable(names)) has no \(noun).",
      try: "Name two sensors, separated by a comma: iio:accel_3d,gyro_3d")
  }

  /// Returns the content of a file without white space at its end; nil if it cannot be read.
  private static func text(_ path: String) -> String? {
    guard let bytes = try? InputFile.bytes(of: path, limit: 4_096),
      let text = String(validating: bytes, as: UTF8.self)
    else { return nil }
    return String(text.reversed().drop { $0.isWhitespace }.reversed())
  }

  /// Reads all six axes.
  ///
  /// - Throws: `Failure` if a file can no longer be read.
  package func sample() throws -> Sample {
    Sample(
      acceleration: try Self.vector(accelerometer), rotation: try Self.vector(gyroscope))
  }

  /// Reads a vector. In the axes of the kernel, x points to the right, y to the top, and z out of
  /// the screen; the device faces its top.
  private static func vector(_ axes: Axes) throws -> SIMD3<Double> {
    let raw = try axes.files.map { file in
      guard let number = text(file).flatMap(Double.init) else {
        throw Failure(
          .unavailable, "\(file) cannot be read.", try: "Check that the sensor is connected.")
      }
      return (number + axes.offset) * axes.scale
    }
    let turned = (0..<3).map { row in
      (0..<3).reduce(0.0) { $0 + axes.matrix[3 * row + $1] * raw[$1] }
    }
    return SIMD3(turned[1], -turned[0], turned[2])
  }
}
