// SPDX-License-Identifier: Apache-2.0

import UCI

// Who gets to know what.
extension ConfigurationCheck {
  func reports() -> [ConfigurationProblem] {
    var problems: [ConfigurationProblem] = []
    if isSet(.rangingRoundControl), let control = number(.rangingRoundControl) {
      if control & 0b10 == 0 {
        problems.append(
          .init(
            .refusedByChip,
            "RANGING_ROUND_CONTROL is without the control message, which has to be "
              + "there.", [.rangingRoundControl], next: "Set bit 1: use 3."))
      } else if let taken = Self.roundControls[parameters.dialect.vendor], !taken.contains(control)
      {
        let list = taken.map { hex(UInt8($0)) }.joined(separator: ", ")
        problems.append(
          .init(
            .refusedByChip,
            "RANGING_ROUND_CONTROL is \(hex(UInt8(truncatingIfNeeded: control))); this firmware "
              + "takes \(list).", [.rangingRoundControl]))
      }
      if control & 1 == 0, (1...2).contains(parameters.usage) {
        problems.append(
          .init(
            .advice,
            "RANGING_ROUND_CONTROL is without the result report: the end that lacks the last "
              + "timestamps gets no distance (65535).", [.rangingRoundControl],
            next: "Set bit 0 at both ends."))
      }
    }
    if isSet(.resultReportConfig), let report = number(.resultReportConfig), report & 1 == 0,
      parameters.isTwoWay
    {
      problems.append(
        .init(
          .advice,
          "RESULT_REPORT_CONFIG is without the time of flight: the other end may get no distance.",
          [.resultReportConfig], next: "Set bit 0 at both ends."))
    }
    if number(.sessionInfoNotificationConfig) == 0 {
      problems.append(
        .init(
          .advice, "SESSION_INFO_NTF_CONFIG is off: this chip will report no measurements.",
          [.sessionInfoNotificationConfig]))
    }
    if let near = number(.nearProximity), let far = number(.farProximity), near > far {
      problems.append(
        .init(
          .refusedByChip, "NEAR_PROXIMITY is beyond FAR_PROXIMITY.",
          [.nearProximity, .farProximity]))
    }
    return problems
  }

  // Source: DW3_QM33_SDK 1.1.0.
  private static let roundControls: [Dialect.Vendor: [UInt64]] = [.qorvo: [2, 3, 6, 7]]
}
