// SPDX-License-Identifier: Apache-2.0
package import Ranging
import UWB

/// Returns the last part of the name of a chip, which names the chip in files of the service.
package func lastPart(of name: String) -> String {
  String(name.split { $0 == "/" || $0 == ":" }.last ?? "")
}

/// The calibration of a chip and of distances to its peers.
package struct ChipCalibration: Sendable {
  /// The name of the chip, or its last part. A calibration of several boards names the chip the
  /// same way.
  package var chip: String
  package var calibration: RangingCalibration

  package init(chip: String, _ calibration: RangingCalibration) {
    (self.chip, self.calibration) = (chip, calibration)
  }

  /// The boards that the calibration names.
  private var boards: Set<String> {
    Set((calibration.antennaDelays ?? []).map(\.board))
      .union((calibration.pairDelays ?? []).flatMap(\.boards))
  }

  /// Returns the assumptions of the estimates of a session.
  func settings(of session: SessionConfiguration) -> EstimationSettings {
    EstimationSettings(
      calibration, board: boards.contains(chip) ? chip : nil,
      channel: Int(session.channel), peers: session.peers)
  }
}
