// SPDX-License-Identifier: Apache-2.0

/// A family of chips, with the constant error of distances between its boards.
///
/// Boards without a `RangingCalibration` have only these figures.
package enum ChipFamily: Sendable, Hashable, CaseIterable {
  case dw1000
  /// DW3000, QM33 and QM35.
  case dw3000
  /// SR1xx and SR2xx.
  case nxp
  case unknown

  /// One standard deviation, in metres, of the constant error of distances between two boards of
  /// this family that have the delays of their firmware.
  package var uncalibratedDeviation: Double {
    switch self {
    // The vendor's figure (Decawave APS014, 2.1.2). Public recordings of pairs of boards show 0.1
    // to 0.37 m: two recordings indoors, and one of DW1000 outdoors.
    case .dw1000: 0.3
    // The root mean square of three reports: DWM3001CDK are 0.36 m too long (GitHub,
    // EstebanMenti/i-mop-qorvo-CLI-script), others 0.3 to 0.4 m too short (forum.qorvo.com, 16517),
    // and a DW3000 with an iPhone is 0.12 to 0.16 m too long (ARexp, MobiCom 2024).
    case .dw3000: 0.3
    // The maker of a module states 0.1 m (Arduino Portenta UWB Shield, data sheet). Phones err by
    // up to 0.2 m (Heinrich et al., arXiv 2303.11220). Bare boards have no published figure, so the
    // larger one is used.
    case .nxp: 0.2
    // The greatest of the values of the known families.
    case .unknown: 0.3
    }
  }

  /// Returns one standard deviation, in metres, for a pair of boards of two families. Each board
  /// contributes half of the variance of its family.
  package func uncalibratedDeviation(to peer: ChipFamily) -> Double {
    let (own, other) = (uncalibratedDeviation, peer.uncalibratedDeviation)
    return ((own * own + other * other) / 2).squareRoot()
  }
}
