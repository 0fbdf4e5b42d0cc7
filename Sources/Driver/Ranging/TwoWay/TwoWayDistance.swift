// SPDX-License-Identifier: Apache-2.0

/// A distance from one exchange of frames.
public struct TwoWayDistance: Sendable, Hashable {
  /// Metres. Slightly negative is possible when the antennas nearly touch.
  public var distance: Double
  /// One standard deviation of `distance` in metres, from the noise of the stamps and of the clock
  /// offset. It includes `biasDeviation`.
  public var standardDeviation: Double
  /// The part of the deviation that all distances between these antennas share.
  ///
  /// It is the uncertainty of the antenna delays, which no filter removes.
  public var biasDeviation: Double
  /// (rate of the initiator's clock / rate of the responder's) - 1; 1e-6 is one ppm.
  public var clockOffset: Double
  /// One standard deviation of `clockOffset`; 1e-6 is one ppm.
  public var clockOffsetDeviation: Double

  /// The part of `standardDeviation` that filters remove.
  var noiseDeviation: Double {
    max(0, standardDeviation * standardDeviation - biasDeviation * biasDeviation).squareRoot()
  }
}

/// The reason why there is no distance.
public enum RangingFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// A frame was not received, so that a stamp is missing.
  case missingStamp
  /// The stamps leave no time between two frames.
  case emptyInterval
  /// The two clocks differ by more than oscillators do: a stamp is corrupt or belongs to another
  /// round.
  case implausibleClocks
  /// The offset of the clocks is unknown, and without it the distance would be wrong by metres.
  case unknownClockOffset
  /// The distance would be below -2 m.
  case negativeDistance
  /// The distance would be above 1000 m.
  case tooFar

  /// The cause as a sentence.
  public var description: String {
    switch self {
    case .missingStamp: "A frame of the exchange was not received."
    case .emptyInterval: "Two stamps of the exchange are equal."
    case .implausibleClocks: "The stamps of the two ends do not belong to one exchange."
    case .unknownClockOffset: "The offset of the two clocks is not known."
    case .negativeDistance: "The frames would have arrived before they were sent."
    case .tooFar: "The distance would be greater than the radio reaches."
    }
  }
}

/// Model parameters of the radio and its oscillators.
public struct TwoWayParameters: Sendable, Hashable {
  /// The counter of the stamps.
  public var counter = TickCounter.bits40
  /// The speed of the signal in metres per second.
  public var speedOfLight = SpeedOfLight.inAir
  /// One standard deviation of the noise of a reception stamp in seconds. Receivers with 500 MHz
  /// have 100 ps with line of sight, which is 2.1 cm of a single-sided distance. Transmission
  /// stamps are exact.
  public var stampDeviation = 100e-12
  /// The greatest relative offset of two clocks. IEEE 802.15.4 allows 20 ppm at each end; the
  /// default also allows worse crystals.
  public var greatestClockOffset = 100e-6
  /// Metres that the two antenna delays together add to each distance.
  public var antennaDelay = 0.0
  /// One standard deviation, in metres, of the difference between the actual delays and
  /// `antennaDelay`.
  ///
  /// The default, 0.3, is for boards with the delays of their firmware. Calibrated boards have
  /// less.
  public var antennaDelayDeviation = ChipFamily.dw1000.uncalibratedDeviation
  /// The least distance in metres that is reported. Inexact calibration makes distances negative by
  /// centimetres to decimetres, never by metres.
  package var leastDistance = -2.0
  /// The greatest distance in metres that is reported.
  package var greatestDistance = 1000.0

  /// Creates parameters for a 40-bit counter and receivers of 500 MHz.
  public init() {}

  /// Returns the deviation of noise and antenna delays together.
  func total(_ noise: Double) -> Double {
    (noise * noise + antennaDelayDeviation * antennaDelayDeviation).squareRoot()
  }

  /// Returns the distance for a time of flight in ticks. Throws if it is implausible.
  func checked(ticks: Double) throws(RangingFailure) -> Double {
    let distance = ticks * (DeviceTick.seconds * speedOfLight) - antennaDelay
    if distance < leastDistance { throw .negativeDistance }
    // NaN fails this comparison, too.
    guard distance <= greatestDistance else { throw .tooFar }
    return distance
  }
}
