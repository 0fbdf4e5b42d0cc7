// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import Peers

/// The measurement of a chip in one round, and its quality. Not part of Apple's API.
public struct NISample: Sendable, Hashable {
  /// The chip's distance in metres; slightly negative values are possible.
  public var rawDistance: Float
  /// The standard deviation of `NINearbyObject.distance` in metres. It includes the constant error
  /// of boards without a calibration, 0.2 to 0.3 m.
  public var standardDeviation: Float
  /// The part of `standardDeviation` that changes within seconds. A greater difference between two
  /// distances is a movement.
  public var shortTermDeviation: Float
  /// Whether the chip's distance was too far from the expected distance. `NINearbyObject.distance`
  /// then ignores it.
  public var isOutlier: Bool
  /// The azimuth in radians, positive to the right of the antenna's direction; nil if not reported.
  /// Chips whose azimuth covers ±90° cannot distinguish front from back.
  public var azimuth: Float?
  /// The chip's figure of merit of the azimuth, 0 to 100; nil if not reported.
  public var azimuthFigureOfMerit: UInt8?
  /// The elevation in radians, positive upwards; nil if not reported.
  public var elevation: Float?
  /// The chip's figure of merit of the elevation, 0 to 100; nil if not reported.
  public var elevationFigureOfMerit: UInt8?
  /// The received power in dBm; nil if not reported.
  public var rssi: Float?
  /// The probability that the direct path is obstructed, 0 to 1; nil if unknown.
  ///
  /// It is computed from the levels of frames, if the chip reports them. Otherwise it is 0.1 or
  /// 0.9, according to the chip's own classification, which is less reliable.
  public var nonLineOfSightProbability: Float?
  /// The number of the ranging round, from 0 in each run.
  public var sequenceNumber: UInt32
  /// The time when the report was read, in nanoseconds of CLOCK_MONOTONIC.
  public var receivedAt: UInt64
}

extension NIDLTDOAMeasurement {
  /// Whether the anchor sent its position. Not part of Apple's API.
  public var hasCoordinates: Bool { values.coordinates != nil }
  /// The block of the message. Not part of Apple's API.
  public var blockIndex: Int { values.block }
  /// The ranging round of the message within its block. Not part of Apple's API.
  public var roundIndex: Int { values.round }
}

extension NIDiscoveryToken {
  /// The token as bytes, shorter than an archive and not secret. Not part of Apple's API.
  public var data: Data { Data(bytes) }

  /// Creates a token from the `data` of a peer's token. Not part of Apple's API.
  ///
  /// - Throws: `NIError.invalidConfiguration`; its failure reason names the invalid field.
  public convenience init(data: Data) throws {
    let bytes = [UInt8](data)
    do throws(PeerTokenError) {
      _ = try PeerToken(bytes)
    } catch {
      throw NIError(error)
    }
    self.init(.peer, bytes)
  }
}
