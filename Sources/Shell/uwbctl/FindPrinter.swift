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

/// Prints the position of an accessory: one updated line on a terminal, or else a line for each
/// event.
final class FindPrinter: Sendable {
  private let format: OutputFormat
  /// The text of the updated line; empty before the first measurement.
  private let update = Mutex("")
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
    let text = update.withLock { $0 }
    guard !text.isEmpty else { return [] }
    return text.wrapped(to: max(20, size.columns - 1), indent: 3).split(separator: "\n")
      .map(String.init)
  }

  func print(_ event: AccessoryFinder.Event) {
    let (word, text, values) = described(event)
    // Measurements overwrite the line; other events stay visible.
    if case .found = event {
      say(word, text, values, overwrites: true)
    } else {
      say(word, text, values)
    }
  }

  /// Prints an event.
  ///
  /// - Parameter word: The stable name of the event for programs.
  func say(
    _ word: String, _ text: String?, _ values: KeyValuePairs<String, (any JSONValue)?>,
    overwrites: Bool = false
  ) {
    if case .json = format {
      var line: JSONLine = ["event": word]
      for (key, value) in values { line.add(key, value) }
      return standardOutput.write(line.json + "\n")
    }
    guard let text else { return }
    guard let live = live.withLock({ $0 }) else { return standardOutput.write(text + "\n") }
    if overwrites {
      update.withLock { $0 = text }
      live.draw()
    } else {
      live.write(standardOutput.wrapped(text, indent: 2) + "\n", to: standardOutput)
    }
  }

  /// Ends the updated line.
  func finish() { live.withLock { $0 }?.finish() }

  static let json = JSONEntry(
    "find", each: "event",
    [
      "event":
        "accessory, started, shareable_data, accessory_started, found, out_of_range, region, removed, accessory_stopped, suspended, suspension_ended, invalidated",
      "cause?": "timeout or peer_ended for removed, words for invalidated",
      "distance_m?": "smoothed distance, metres",
      "distance_sd_m?": "its standard deviation, metres",
      "raw_m?": "distance reported by the chip, metres", "azimuth_deg?": "degrees to the right",
      "elevation_deg?": "degrees upwards", "rssi_dbm?": "received power",
      "nlos_probability?": "probability that the direct path is blocked, 0…1",
      "outlier?": "whether the distance of the chip was ignored",
      "quality?": "good, fair or poor", "region?": "region of the accessory",
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
