// SPDX-License-Identifier: Apache-2.0
import Ranging
import UCI

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

  /// The mean phase in radians, -π...π.
  var phase: Double? { phasors.phase }
  /// The length of the mean phasor: 1 when all phases are equal, 0 when they cancel.
  var concentration: Double { phasors.concentration }
}

/// The receivers' diagnostics of one peer in the frames of a round. All layouts of reports are
/// converted to this value of fixed size.
struct PeerDiagnostics: Sendable, Hashable {
  /// The number of included frames or antennas.
  var frames = 0
  /// The sender's short address; nil if the chip does not report it.
  var emitter: UInt16?
  /// The carrier frequency offset in parts per million.
  var carrier = Mean()
  /// The levels in dBm.
  var level = Mean()
  var firstPathLevel = Mean()
  /// The ratio of the first path to the noise in dB.
  var firstPathSNR = Mean()
  /// The ratio of the strongest path to the first path in dB.
  var peakOverFirstPath = Mean()
  /// The times in nanoseconds.
  var peakDelay = Mean()
  var segmentDisagreement = Mean()
  /// The phase differences of the pairs for azimuth and for elevation, in radians.
  var azimuth = PhaseMean()
  var elevation = PhaseMean()
  /// Whether the chip considers the path of a frame blocked.
  var isBlocked: Bool?
  /// The chip's distance, if it reports millimetres.
  var millimetres: UInt32?

  /// The input of the model of the line of sight.
  var reception: ReceptionDiagnostics {
    var result = ReceptionDiagnostics()
    // Only the difference of both levels indicates a blocked path.
    result.receivedPower = level.value
    result.firstPathPower = firstPathLevel.value
    result.peakOverFirstPath = peakOverFirstPath.value
    result.firstPathSNR = firstPathSNR.value
    result.peakDelay = peakDelay.value
    result.segmentDisagreement = segmentDisagreement.value
    return result
  }

  /// Adds the contents of another notification about the same peer in the same round.
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

extension PeerDiagnostics {
  /// The number of the pair of antennas for elevation, as on Murata's 2BP. Other pairs are for
  /// azimuth.
  private static var elevationPair: UInt8 { 2 }

  /// Reads the entry of one measurement in NXP's vendor part.
  init(_ tail: borrowing NXPVendorTail, measurement: Int) {
    self.init()
    for index in 0..<tail.angleCount {
      let angle = tail.angle(index, of: measurement)
      // An entry of zeros means that no angle was measured.
      guard angle.index != 0 || angle.rawPDoA != 0 else { continue }
      let phase = angle.phaseDifferenceDegrees * .pi / 180
      if tail.pair(index) == Self.elevationPair {
        elevation.add(phase)
      } else if azimuth.count == 0 {
        azimuth.add(phase)
      }
    }
    for index in 0..<tail.receiverCount { take(tail.receiver(index, of: measurement)) }
    if azimuth.count + elevation.count > 0 { frames = max(frames, 1) }
    millimetres = tail.distanceMillimetres(of: measurement)
  }

  private mutating func take(_ receiver: NXPVendorTail.ReceiverEntry) {
    guard receiver.snrMainPath > 0 else { return }
    frames += 1
    if let rssi = receiver.rssiDBm, rssi < 0 { level.add(rssi) }
    takePaths(
      snrFirst: receiver.snrFirstPath, snrMain: receiver.snrMainPath,
      first: receiver.rawFirstPath, main: receiver.rawMainPath)
  }

  /// Adds an entry of the RFRAME log: a frame at one receiver.
  mutating func take(_ entry: NXPReceivedFrame) {
    // Source of the status: nxp-appcodehub/an-sr250-uwb-plug-and-play-demo (facts only).
    guard entry.decodeStatus == 4 else { return }
    frames += 1
    carrier.add(Double(entry.rawClockOffset) / 2048)
    if entry.rawRSSI < 0 { level.add(Double(entry.rawRSSI) / 256) }
    if entry.lineOfSight == .nonLineOfSight { isBlocked = true }
    takePaths(
      snrFirst: entry.snrFirstPath, snrMain: entry.snrMainPath, first: entry.rawFirstPath,
      main: entry.rawMainPath)
  }

  private mutating func takePaths(snrFirst: UInt8, snrMain: UInt8, first: UInt16, main: UInt16) {
    firstPathSNR.add(Double(snrFirst))
    peakOverFirstPath.add(Double(snrMain) - Double(snrFirst))
    if main >= first { peakDelay.add(Double(main - first) / 64) }
  }
}
