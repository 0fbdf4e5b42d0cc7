// SPDX-License-Identifier: Apache-2.0

import Ranging
import UCI

extension PeerDiagnostics {
  /// Which pair of antennas is for elevation: as on Murata's 2BP, the other ones are for azimuth.
  private static var elevationPair: UInt8 { 2 }

  /// What NXP's part after the measurements says of one of them.
  init(_ tail: borrowing NXPVendorTail, measurement: Int) {
    self.init()
    for index in 0..<tail.angleCount {
      let angle = tail.angle(index, of: measurement)
      // An entry of zeros is one of a mode that measures no angles.
      guard angle.index != 0 || angle.rawPDoA != 0 else { continue }
      let phase = angle.phaseDifferenceDegrees * .pi / 180
      if tail.pair(index) == Self.elevationPair {
        elevation.add(phase)
      } else if azimuth.count == 0 {
        azimuth.add(phase)
      }
    }
    for index in 0..<tail.receiverCount { take(tail.receiver(index, of: measurement)) }
    if tail.angleCount > 0, azimuth.count + elevation.count > 0 { frames = max(frames, 1) }
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

  /// What an entry of the RFRAME log says: a frame at one of the receivers.
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
