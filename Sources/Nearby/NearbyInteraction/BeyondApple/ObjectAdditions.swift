// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import Peers

/// Beyond Apple: what the chip measured in one round, and its quality.
public struct NISample: Sendable, Hashable {
  /// Metres, as reported by the chip; slightly negative values are possible.
  public var rawDistance: Float
  /// The standard deviation of `NINearbyObject.distance` in metres, without constant errors such as those
  /// of an uncalibrated antenna.
  public var standardDeviation: Float
  /// The chip's distance was too far from the expected one, so `NINearbyObject.distance` ignores it.
  public var isOutlier: Bool
  /// Radians, positive to the right of the direction that the antenna faces; nil if not reported. Chips
  /// whose azimuth covers ±90° cannot tell behind from in front.
  public var azimuth: Float?
  /// The chip's figure of merit of the azimuth, 0…100; nil if not reported.
  public var azimuthFigureOfMerit: UInt8?
  /// Radians, positive upwards; nil if not reported.
  public var elevation: Float?
  /// The chip's figure of merit of the elevation, 0…100; nil if not reported.
  public var elevationFigureOfMerit: UInt8?
  /// Received power in dBm; nil if not reported.
  public var rssi: Float?
  /// The probability that the direct path is obstructed, 0…1: computed from the levels of frames where
  /// the chip reports them, otherwise 0.1 or 0.9 from the chip's own classification, which is less
  /// reliable; nil if neither is reported.
  public var nonLineOfSightProbability: Float?
  /// Counts ranging rounds from 0 in each run.
  public var sequenceNumber: UInt32
  /// When the report was read: CLOCK_MONOTONIC in nanoseconds.
  public var receivedAt: UInt64
}

extension NIDLTDOAMeasurement {
  /// Beyond Apple: whether the anchor sent its position.
  public var hasCoordinates: Bool { values.coordinates != nil }
  /// Beyond Apple: the block of the message.
  public var blockIndex: Int { values.block }
  /// Beyond Apple: the ranging round of the message within its block.
  public var roundIndex: Int { values.round }
}

extension NIDiscoveryToken {
  /// Beyond Apple: the token as bytes, shorter than an archive. Not secret.
  public var data: Data { Data(bytes) }

  /// Beyond Apple: decodes the token of a peer from its `data`.
  ///
  /// - Throws: `NIError.invalidConfiguration`; its failure reason names what is wrong.
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
