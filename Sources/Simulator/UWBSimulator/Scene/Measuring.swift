// SPDX-License-Identifier: Apache-2.0

import Glibc
import UCI

// Measurements of chips from received frames.
extension Simulation {
  /// Returns the measurement of `own` from an exchange with `peer`.
  mutating func measure(
    _ own: Endpoint, _ peer: Endpoint, distance metres: Double, _ frames: [AirFrame]
  ) -> TwoWayMeasurement {
    let profile = members[own.chip].chip.profile
    guard let setup = members[own.chip].chip.sessions[own.session].setup,
      let other = members[peer.chip].chip.sessions[peer.session].setup
    else { preconditionFailure("only ranging sessions exchange messages") }
    let centimetres = (metres * 100).rounded()
    var result = TwoWayMeasurement(
      peer: other.address, status: centimetres < 0 ? .okNegativeDistance : .ok,
      lineOfSight: profile.lineOfSight, rawDistance: UInt16(min(abs(centimetres), 65_534)),
      rawRSSI: profile.unknownRSSI)
    // The first ranging frame that this end received.
    let heard = frames.first {
      $0.receiver == own
        && ($0.message == .rangingInitiation || $0.message == .rangingResponse)
    }
    guard let heard = heard?.reception else { return result }
    (result.azimuth, result.elevation) = angles(heard, setup, profile)
    if profile.reportsRSSI, setup.reportsRSSI {
      result.rawRSSI = UInt8(max(1, min(254, (-2 * heard.level).rounded())))
    }
    return result
  }

  /// Returns the azimuth and the elevation that a chip reports of a frame.
  func angles(
    _ heard: Reception, _ setup: RangingSetup, _ profile: ChipProfile
  ) -> (azimuth: Angle, elevation: Angle) {
    let none = Angle(raw: 0, figureOfMerit: 0)
    var result = (azimuth: none, elevation: none)
    let (azimuth, elevation) = heard.phases.direction(profile.angles)
    let wantsAll = setup.aoaRequest == 1 || setup.aoaRequest == 0xF0
    if wantsAll || setup.aoaRequest == 2,
      !profile.angles.isDisjoint(with: [.azimuth90, .azimuth180])
    {
      let isAllRound = profile.angles.contains(.azimuth180)
      result.azimuth = angle(azimuth, quality: isAllRound ? 1 : cos(azimuth * .pi / 180), profile)
    }
    if wantsAll || setup.aoaRequest == 3, profile.angles.contains(.elevation) {
      result.elevation = angle(elevation, quality: cos(elevation * .pi / 180), profile)
    }
    return result
  }

  private func angle(_ degrees: Double, quality: Double, _ profile: ChipProfile) -> Angle {
    let merit = profile.angles.contains(.figureOfMerit) ? 50 + 50 * max(0, quality) : 0
    let steps: Double = profile.anglesInDegrees ? 1 : 128
    return Angle(
      raw: Int16(nearest: degrees * steps), figureOfMerit: UInt8(nearest: merit))
  }
}

extension TwoWayMeasurement {
  /// Copies the angles measured by the peer that its report contains.
  mutating func adoptDestination(_ theirs: TwoWayMeasurement, resultReport: UInt64) {
    func reported(_ angle: Angle, _ bit: UInt64) -> Angle {
      guard resultReport & bit != 0 else { return Angle(raw: 0, figureOfMerit: 0) }
      return Angle(
        raw: angle.raw, figureOfMerit: resultReport & 8 != 0 ? angle.figureOfMerit : 0)
    }
    destinationAzimuth = reported(theirs.azimuth, 2)
    destinationElevation = reported(theirs.elevation, 4)
  }
}
