// SPDX-License-Identifier: Apache-2.0

import UCI

// What is reported to whom.
extension ConfigurationCheck {
  func reports() -> [ConfigurationProblem] {
    var problems: [ConfigurationProblem] = []
    if isSet(.rangingRoundControl), let control = number(.rangingRoundControl) {
      if control & 0b10 == 0 {
        problems.add(
          .refusedByChip,
          "RANGING_ROUND_CONTROL is without the control message, which has to be " + "there.",
          [.rangingRoundControl], try: "Set bit 1: use 3.")
      } else if let taken = Self.roundControls[parameters.dialect.vendor], !taken.contains(control)
      {
        let list = taken.map { hex(UInt8($0)) }.joined(separator: ", ")
        problems.add(
          .refusedByChip,
          "RANGING_ROUND_CONTROL is \(hex(UInt8(truncatingIfNeeded: control))); this firmware "
            + "takes \(list).", [.rangingRoundControl])
      }
      if control & 1 == 0, (1...2).contains(parameters.usage) {
        problems.add(
          .advice,
          "RANGING_ROUND_CONTROL is without the result report: the end that lacks the last "
            + "timestamps gets no distance (65535).", [.rangingRoundControl],
          try: "Set bit 0 at both ends.")
      }
    }
    if isSet(.resultReportConfig), let report = number(.resultReportConfig), report & 1 == 0,
      parameters.isTwoWay
    {
      problems.add(
        .advice,
        "RESULT_REPORT_CONFIG is without the time of flight: the other end may get no distance.",
        [.resultReportConfig], try: "Set bit 0 at both ends.")
    }
    if number(.sessionInfoNotificationConfig) == 0 {
      problems.add(
        .advice, "SESSION_INFO_NTF_CONFIG is off: this chip will report no measurements.",
        [.sessionInfoNotificationConfig])
    }
    if let near = number(.nearProximity), let far = number(.farProximity), near > far {
      problems.add(
        .refusedByChip, "NEAR_PROXIMITY is beyond FAR_PROXIMITY.", [.nearProximity, .farProximity])
    }
    return problems
  }

  // Source: DW3_QM33_SDK 1.1.0.
  private static let roundControls: [Dialect.Vendor: [UInt64]] = [.qorvo: [2, 3, 6, 7]]
}
