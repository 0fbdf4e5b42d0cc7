// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Ranging

/// What two-way ranging has to know of the radio.
struct RadioOptions: ParsableArguments {
  @Option(help: "Bits of the counter that the stamps are from: 32 or 40.")
  var counterBits = 40
  @Option(help: "Noise of a reception stamp in picoseconds, one standard deviation.")
  var stampNoise = 100.0
  @Option(help: "air, vacuum, or metres per second.")
  var speedOfLight = "air"

  func validate() throws {
    guard 8...63 ~= counterBits else {
      throw ValidationError("--counter-bits is 32 or 40; 8 to 63 are possible.")
    }
    guard stampNoise > 0, stampNoise < 1e6 else {
      throw ValidationError("--stamp-noise is in picoseconds and greater than 0.")
    }
    guard let speed, speed > 1e8, speed < 4e8 else {
      throw ValidationError("--speed-of-light is air, vacuum, or a number near 3e8.")
    }
  }

  private var speed: Double? {
    switch speedOfLight {
    case "air": SpeedOfLight.inAir
    case "vacuum": SpeedOfLight.inVacuum
    default: Double(speedOfLight)
    }
  }

  var parameters: TwoWayParameters {
    var parameters = TwoWayParameters()
    parameters.counter = TickCounter(bits: counterBits)
    parameters.stampDeviation = stampNoise * 1e-12
    parameters.speedOfLight = speed ?? SpeedOfLight.inAir
    return parameters
  }
}

extension RangingFailure {
  /// One word for programs.
  var word: String {
    switch self {
    case .missingStamp: "missing_stamp"
    case .emptyInterval: "empty_interval"
    case .implausibleClocks: "implausible_clocks"
    case .unknownClockOffset: "unknown_clock_offset"
    case .negativeDistance: "negative_distance"
    case .tooFar: "too_far"
    }
  }
}

extension CSVTable {
  /// The stamp in a cell of ticks: a whole number, negative if it was written as a signed one, or
  /// one with a fraction.
  func stamp(_ row: Int, _ column: Column, _ status: inout RowStatus) -> TickStamp? {
    if let ticks = whole(row, column.index) { return TickStamp(ticks) }
    if let stamp = number(row, column.index).flatMap(TickStamp.init(exactly:)) { return stamp }
    status.blame(column.name, isEmpty: isEmpty(row, column.index))
    return nil
  }
}
