// SPDX-License-Identifier: Apache-2.0

import Ranging

struct Mean: Sendable, Hashable {
  private var sum = 0.0
  private(set) var count = 0

  mutating func add(_ value: Double) {
    sum += value
    count += 1
  }

  mutating func add(_ other: Mean) {
    sum += other.sum
    count += other.count
  }

  var value: Double? { count > 0 ? sum / Double(count) : nil }
}

struct PhaseMean: Sendable, Hashable {
  private var phasors = PhasorMean()
  private(set) var count = 0

  mutating func add(_ phase: Double) {
    phasors.add(phase)
    count += 1
  }

  mutating func add(_ other: PhaseMean) {
    phasors.add(other.phasors)
    count += other.count
  }

  /// Radians in -π...π.
  var phase: Double? { phasors.phase }
  /// 1 when all are the same, 0 when they cancel.
  var concentration: Double { phasors.concentration }
}

/// What the receivers saw of one peer in the frames of a round: of fixed size, whatever the chip
/// reports it with.
struct PeerDiagnostics: Sendable, Hashable {
  /// Frames, or antennas, that it is of.
  var frames = 0
  /// The sender's short address, if the chip names it.
  var emitter: UInt16?
  /// Parts per million.
  var carrier = Mean()
  /// dBm.
  var level = Mean()
  var firstPathLevel = Mean()
  /// First path over noise, dB.
  var firstPathSNR = Mean()
  /// dB.
  var peakOverFirstPath = Mean()
  /// Nanoseconds.
  var peakDelay = Mean()
  var segmentDisagreement = Mean()
  /// Radians, along the axis for azimuth and along that for elevation.
  var azimuth = PhaseMean()
  var elevation = PhaseMean()
  /// The chip holds the path of a frame for blocked.
  var isBlocked: Bool?
  /// The chip's distance, where it gives it in millimetres.
  var millimetres: UInt32?

  /// What the model of the line of sight reads.
  var reception: ReceptionDiagnostics {
    var result = ReceptionDiagnostics()
    // A level without its first path says nothing of it.
    result.receivedPower = level.value
    result.firstPathPower = firstPathLevel.value
    result.peakOverFirstPath = firstPathLevel.value == nil ? peakOverFirstPath.value : nil
    result.peakDelay = peakDelay.value
    result.segmentDisagreement = segmentDisagreement.value
    return result
  }

  /// Takes in what another notification of the same round says of the same peer.
  mutating func join(_ other: PeerDiagnostics) {
    frames += other.frames
    emitter = emitter ?? other.emitter
    carrier.add(other.carrier)
    level.add(other.level)
    firstPathLevel.add(other.firstPathLevel)
    firstPathSNR.add(other.firstPathSNR)
    peakOverFirstPath.add(other.peakOverFirstPath)
    peakDelay.add(other.peakDelay)
    segmentDisagreement.add(other.segmentDisagreement)
    azimuth.add(other.azimuth)
    elevation.add(other.elevation)
    isBlocked = isBlocked ?? other.isBlocked
    millimetres = millimetres ?? other.millimetres
  }
}
