// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocol
import ArgumentParser
import CommandSupport
package import Formats
import Ranging
import Synchronization
package import UCI
import UWB
import UWBLink

/// The position of the accessory relative to the chip.
package struct Sight: Sendable {
  package let distance: Double
  private let deviation: Double
  /// The part of `deviation` that changes within seconds.
  private let shortTerm: Double
  private let isOutlier: Bool
  private let blocked: Double?
  private let measured: TwoWayMeasurement
  /// The time of the measurement: CLOCK_MONOTONIC in nanoseconds.
  package let measuredAt: UInt64
  /// The distance that the chip reported, in metres.
  package let raw: Double
  /// The direction from the movement of this device; nil without poses.
  package var guidance: Guidance?

  /// Creates a sight; nil without a measurement.
  init?(_ estimate: EstimatedMeasurement) {
    measured = estimate.measurement.result
    measuredAt = estimate.measurement.receivedAt
    guard let centimetres = measured.distanceCentimetres else { return nil }
    raw = Double(centimetres) / 100
    distance = max(0, estimate.track?.distance ?? Double(centimetres) / 100)
    deviation = estimate.track?.standardDeviation ?? ChipFamily.unknown.uncalibratedDeviation
    shortTerm = estimate.track?.shortTermDeviation ?? 0.1
    isOutlier = estimate.track?.isOutlier ?? false
    blocked = estimate.nonLineOfSight
  }

  /// The reliability of the measurement in one word.
  package var quality: String {
    let blocked = blocked ?? 0
    if isOutlier || blocked > 0.5 || shortTerm > 0.3 { return "poor" }
    return blocked > 0.25 || shortTerm > 0.1 ? "fair" : "good"
  }

  /// `↗   3.02 ± 0.31 m (short-term 0.08)   az  30°   good`
  package var text: String {
    let digits = decimals(for: deviation)
    var line = "\(arrow)  \(fixed(distance, deviation: deviation).right(13)) m"
    line += " (short-term \(fixed(shortTerm, digits)))"
    if let azimuth = measured.azimuth.valid { line += "   az \(fixed(azimuth, 0).right(4))°" }
    if let elevation = measured.elevation.valid { line += "   el \(fixed(elevation, 0).right(4))°" }
    if let guidance { line += "   " + guidance.text }
    return line + "   " + quality
  }

  private var arrow: String {
    guard let azimuth = measured.azimuth.valid else { return "·" }
    let arrows = ["↑", "↗", "→", "↘", "↓", "↙", "←", "↖"]
    return arrows[(Int((azimuth / 45).rounded()) + 8) % 8]
  }

  package var values: KeyValuePairs<String, (any JSONValue)?> {
    [
      "distance_m": Fixed(distance, 3), "distance_sd_m": Fixed(deviation, 3),
      "distance_short_sd_m": Fixed(shortTerm, 3),
      "raw_m": Fixed(measured.distanceCentimetres.map { Double($0) / 100 }, 2),
      "azimuth_deg": Fixed(measured.azimuth.valid, 2),
      "elevation_deg": Fixed(measured.elevation.valid, 2),
      "rssi_dbm": Fixed(measured.rssiDBm, 1), "nlos_probability": Fixed(blocked, 3),
      "outlier": isOutlier, "quality": quality,
    ]
  }
}

extension Angle {
  /// The angle in degrees; nil if the chip marks it as invalid.
  package var valid: Double? { figureOfMerit > 0 ? degrees : nil }
}
