// SPDX-License-Identifier: Apache-2.0

/// Beyond Apple: what the chip measured in one round, and how good it is.
public struct NISample: Sendable, Hashable {
  /// Metres, as the chip gave them; slightly negative is possible.
  public var rawDistance: Float
  /// One standard deviation of `NINearbyObject.distance` in metres. Constant errors, such as those of
  /// an antenna that is not calibrated, are not in it.
  public var standardDeviation: Float
  /// The chip's distance was too far from what was expected, and is not in
  /// `NINearbyObject.distance`.
  public var isOutlier: Bool
  /// Radians, positive to the right of where the antenna looks; nil where the chip tells none.
  public var azimuth: Float?
  /// How good the chip says the azimuth is, 0…100; nil where it does not say.
  public var azimuthFigureOfMerit: UInt8?
  /// Radians, positive upwards; nil where the chip tells none.
  public var elevation: Float?
  /// How good the chip says the elevation is, 0…100; nil where it does not say.
  public var elevationFigureOfMerit: UInt8?
  /// Received power in dBm; nil where the chip gives none.
  public var rssi: Float?
  /// How probable it is that something blocks the direct path, 0…1: computed from the levels of its
  /// frames where the chip reports them; otherwise the chip's own judgement, which is wrong at times,
  /// as 0.1 or 0.9; nil where it tells neither.
  public var nonLineOfSightProbability: Float?
  /// Counts ranging rounds up from 0 at each run.
  public var sequenceNumber: UInt32
  /// When the chip's report was read: CLOCK_MONOTONIC in nanoseconds.
  public var receivedAt: UInt64
}

extension NINearbyObject {
  /// Beyond Apple: what the chip measured in the round that this is from; nil for objects that no
  /// round made.
  public var sample: NISample? { values }
}

extension NIDLTDOAMeasurement {
  /// Beyond Apple: whether the anchor said where it is.
  public var hasCoordinates: Bool { values.coordinates != nil }
  /// Beyond Apple: the block of the message.
  public var blockIndex: Int { values.block }
  /// Beyond Apple: the ranging round of the message within its block.
  public var roundIndex: Int { values.round }
}
