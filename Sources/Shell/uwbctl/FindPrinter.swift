// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocol
import ArgumentParser
import CommandSupport
import Formats
import Ranging
import Synchronization
import UCI
import UWB
import UWBLink
import UWBTools

/// Prints the position of an accessory: on a terminal one line that is updated, elsewhere a line
/// for each event.
final class FindPrinter: Sendable {
  private struct State {
    /// The last measurement.
    var sight: Sight?
    /// The time of the last measurement, in nanoseconds of CLOCK_MONOTONIC.
    var measuredAt: UInt64 = 0
    var trend = Trend()
    var count = 0
    /// The shortest and the longest distance in metres.
    var range = (least: Double.infinity, most: -Double.infinity)
  }

  private let format: OutputFormat
  private let state = Mutex(State())
  private let live = Mutex<LiveLines?>(nil)
  /// The name of the peer in texts, such as `the accessory`.
  private let subject: String

  init(_ format: OutputFormat, of subject: String = "the accessory") {
    (self.format, self.subject) = (format, subject)
    guard format == .text, standardOutput.canRedraw else { return }
    let live = LiveLines { [weak self] in self?.lines($0) ?? [] }
    self.live.withLock { $0 = live }
  }

  private func lines(_ size: Output.Size) -> [String] {
    let now = PacketLink.now()
    let state = state.withLock { $0 }
    guard let sight = state.sight else { return [] }
    let trend = state.trend.text(columns: Self.trend, until: now, isUTF8: Output.isUTF8)
    let age = Double(now &- state.measuredAt) / 1e9
    let note = age >= 2 ? "silent \(Int(age)) s" : ""
    let parts = [sight.text, String(trend.drop { $0 == " " }), note]
    let text = parts.filter { !$0.isEmpty }.joined(separator: "   ")
    let (style, isSilent): (Style, Bool) = (sight.style, !note.isEmpty)
    return text.wrapped(to: max(20, size.columns - 1), indent: 3).split(separator: "\n").map {
      let (marked, style) = isSilent ? (note, .warning) : (sight.quality, style)
      return String($0).replacing(
        marked, with: standardOutput.styled(marked, style), maxReplacements: 1)
    }
  }

  func print(_ event: AccessoryFinder.Event) {
    let (word, text, values) = described(event)
    guard case .found(let sight) = event else { return say(word, text, values) }
    state.withLock { state in
      (state.sight, state.measuredAt) = (sight, PacketLink.now())
      state.trend.add(sight.distance, at: state.measuredAt)
      state.count += 1
      state.range = (min(state.range.least, sight.distance), max(state.range.most, sight.distance))
    }
    // The line with the measurement is updated; other events get lines of their own.
    if let live = live.withLock({ $0 }) { return live.draw() }
    say(word, text, values, more: sight.guidance?.values ?? [])
  }

  /// Prints an event.
  ///
  /// - Parameter word: The stable name of the event for programs.
  func say(
    _ word: String, _ text: String?, _ values: KeyValuePairs<String, (any JSONValue)?>,
    more: [(name: String, value: (any JSONValue)?)] = []
  ) {
    if case .json = format {
      var line: JSONLine = ["event": word]
      for (key, value) in values { line.add(key, value) }
      for (key, value) in more { line.add(key, value) }
      return standardOutput.write(line.json + "\n")
    }
    guard let text else { return }
    guard let live = live.withLock({ $0 }) else { return standardOutput.write(text + "\n") }
    live.write(standardOutput.wrapped(text, indent: 2) + "\n", to: standardOutput)
  }

  /// Ends the updated line, and prints the summary on standard error.
  func finish() {
    live.withLock { $0 }?.finish()
    let (count, range) = state.withLock { ($0.count, $0.range) }
    guard format == .text, count > 0 else { return }
    let ends = "\(fixed(range.least, 2)) to \(fixed(range.most, 2)) m"
    let text = "\(count) \(count == 1 ? "distance" : "distances"), \(ends)"
    standardError.write(standardError.wrapped(text, indent: 2) + "\n")
  }

  /// The duration of the trend in seconds.
  private static let trend = 16

  static let json = JSONEntry(
    "find", each: "event",
    [
      "event":
        "accessory, started, shareable_data, accessory_started, found, out_of_range, region, removed, accessory_stopped, suspended, suspension_ended, invalidated",
      "cause?": "timeout or peer_ended for removed, words for invalidated",
      "distance_m?": "smoothed distance, metres",
      "distance_sd_m?": "its standard deviation with the error of uncalibrated boards, metres",
      "distance_short_sd_m?": "the part of it that changes within seconds, metres",
      "raw_m?": "distance reported by the chip, metres", "azimuth_deg?": "degrees to the right",
      "elevation_deg?": "degrees upwards", "rssi_dbm?": "received power",
      "nlos_probability?": "probability that the direct path is blocked, 0…1",
      "outlier?": "whether the distance of the chip was ignored",
      "quality?": "good, fair or poor",
      "direction_deg?": "with --poses: degrees to the right of this device; null: unknown",
      "direction_sd_deg?": "its standard deviation",
      "vertical?": "above, same, below, above_or_below or unknown, as seen from this device",
      "world_x_m?": "the likeliest place of the accessory in the world of the poses",
      "world_y_m?": "y", "world_z_m?": "z, upwards",
      "world_sd_m?": "the standard deviation of the place, all axes together",
      "hints?":
        "missing movements: movement, horizontal_sweep, vertical_sweep; or signal, target_movement",
      "region?": "region of the accessory",
      "change?": "entered, left or dwelled",
      "address?": "address of the accessory, over Bluetooth LE", "name?": "name that it advertises",
      "paired?": "whether it is paired with this machine",
    ])

  /// Returns the stable name of the event for programs, the text if any, and the values.
  private func described(
    _ event: AccessoryFinder.Event
  ) -> (word: String, text: String?, values: KeyValuePairs<String, (any JSONValue)?>) {
    switch event {
    case .started: ("started", nil, [:])
    case .shareableData: ("shareable_data", nil, [:])
    case .accessoryStarted: ("accessory_started", "\(subject) has started ranging", [:])
    case .accessoryStopped: ("accessory_stopped", "\(subject) has stopped ranging", [:])
    case .region(let notice):
      (
        "region", "\(subject) reports: \(notice.kind.rawValue) \(notice.region)",
        [
          "region": notice.region, "change": notice.kind.rawValue,
          "distance_m": Fixed(notice.distance, 3),
          "distance_sd_m": Fixed(notice.standardDeviation, 3),
        ]
      )
    case .found(let sight): ("found", sight.text, sight.values)
    case .outOfRange: ("out_of_range", "\(subject) is out of range", [:])
    case .silent: ("removed", "\(subject) is silent; trying again", ["cause": "timeout"])
    case .ended: ("removed", "\(subject) has ended", ["cause": "peer_ended"])
    case .suspended: ("suspended", "waiting for the chip", [:])
    case .suspensionEnded: ("suspension_ended", "the chip is back", [:])
    case .invalidated(let error): ("invalidated", nil, ["cause": error.description])
    }
  }
}

extension Sight {
  fileprivate var style: Style {
    switch quality {
    case "good": .good
    case "fair": .warning
    default: .bad
    }
  }
}
