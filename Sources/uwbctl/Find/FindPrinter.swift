// SPDX-License-Identifier: Apache-2.0

import UWBLab
import NearbyInteraction

/// Prints where an accessory is: on a terminal one line that is updated, otherwise a line for each
/// event.
struct FindPrinter {
  private let format: OutputFormat
  private let isLive: Bool

  init(_ format: OutputFormat) {
    self.format = format
    isLive = format == .text && standardOutput.isTerminal
  }

  func print(_ event: AccessoryFinder.Event) {
    if case .json = format { return standardOutput.write(json(event) + "\n") }
    guard let text = text(event) else { return }
    guard isLive else { return standardOutput.write(text + "\n") }
    // Measurements overwrite the line; other events remain visible.
    let isUpdate = if case .session(.didUpdate) = event { true } else { false }
    // A line that wraps would not be overwritten completely.
    let fitting = text.prefix(max(1, (standardOutput.columns ?? .max) - 1))
    standardOutput.write("\r\u{1B}[K" + (isUpdate ? String(fitting) : text + "\n"))
  }

  /// Ends the updated line.
  func finish() { if isLive { standardOutput.write("\n") } }

  private func text(_ event: AccessoryFinder.Event) -> String? {
    switch event {
    case .accessoryStarted: "the accessory has started ranging"
    case .accessoryStopped: "the accessory has stopped ranging"
    case .session(.didUpdate(let objects)): objects.first.map { Sight($0).text }
    case .session(.didRemove(_, let reason)):
      reason == .timeout ? "the accessory is silent; trying again" : "the accessory has ended"
    case .session(.wasSuspended): "waiting for the chip"
    case .session(.suspensionEnded): "the chip is back"
    case .session: nil
    }
  }

  private func json(_ event: AccessoryFinder.Event) -> String {
    var line = JSONLine()
    line.add("event", word(event))
    switch event {
    case .session(.didUpdate(let objects)): objects.first.map { Sight($0).add(to: &line) }
    case .session(.didRemove(_, let reason)):
      line.add("cause", reason == .timeout ? "timeout" : "peer_ended")
    case .session(.didInvalidate(let error)): line.add("cause", error.localizedDescription)
    default: break
    }
    return line.text
  }

  /// For programs; never changes.
  private func word(_ event: AccessoryFinder.Event) -> String {
    switch event {
    case .accessoryStarted: "accessory_started"
    case .accessoryStopped: "accessory_stopped"
    case .session(let event):
      switch event {
      case .didStartRunning: "started"
      case .didGenerateShareableConfigurationData: "shareable_data"
      case .didUpdate, .didUpdateDLTDOA: "found"
      case .didRemove: "removed"
      case .didUpdateAlgorithmConvergence: "convergence"
      case .wasSuspended: "suspended"
      case .suspensionEnded: "suspension_ended"
      case .didInvalidate: "invalidated"
      }
    }
  }
}

/// The position of the accessory as seen from the chip.
private struct Sight {
  private let object: NINearbyObject
  /// Degrees to the right; nil: unknown.
  private let azimuth: Double?

  init(_ object: NINearbyObject) {
    self.object = object
    azimuth = object.direction.map { direction in
      Double(atan2(direction.x, -direction.z)) * 180 / .pi
    }
  }

  /// Degrees upwards; nil: unknown.
  private var elevation: Double? { object.sample?.elevation.map { Double($0) * 180 / .pi } }

  /// How reliable it is, in one word.
  private var quality: String {
    guard let sample = object.sample else { return "poor" }
    let blocked = sample.nonLineOfSightProbability ?? 0
    if sample.isOutlier || blocked > 0.5 || sample.standardDeviation > 0.3 { return "poor" }
    return blocked > 0.25 || sample.standardDeviation > 0.1 ? "fair" : "good"
  }

  /// `↗   3.02 m ±0.03   az  30°   good`
  var text: String {
    var line = "\(arrow)  \(number(object.distance, 2).right(6)) m"
    if let sample = object.sample { line += " ±\(number(sample.standardDeviation, 2))" }
    if let azimuth { line += "   az \(fixed(azimuth, 0).right(4))°" }
    if let elevation { line += "   el \(fixed(elevation, 0).right(4))°" }
    return line + "   " + quality
  }

  private var arrow: String {
    guard let azimuth else { return "·" }
    let arrows = ["↑", "↗", "→", "↘", "↓", "↙", "←", "↖"]
    return arrows[(Int((azimuth / 45).rounded()) + 8) % 8]
  }

  private func number(_ value: Float?, _ digits: Int) -> String {
    value.map { fixed(Double($0), digits) } ?? "?"
  }

  func add(to line: inout JSONLine) {
    let sample = object.sample
    line.add("distance_m", object.distance.map { Double($0) }, digits: 3)
    line.add("distance_sd_m", sample.map { Double($0.standardDeviation) }, digits: 3)
    line.add("raw_m", sample.map { Double($0.rawDistance) }, digits: 2)
    line.add("azimuth_deg", azimuth, digits: 2)
    line.add("elevation_deg", elevation, digits: 2)
    line.add("rssi_dbm", sample?.rssi.map { Double($0) }, digits: 1)
    line.add("nlos_probability", sample?.nonLineOfSightProbability.map { Double($0) }, digits: 3)
    line.add("outlier", sample?.isOutlier)
    line.add("quality", quality)
  }
}
