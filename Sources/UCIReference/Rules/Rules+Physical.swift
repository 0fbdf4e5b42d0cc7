// SPDX-License-Identifier: Apache-2.0

import UCI

// Preamble, SFD, PRF and RFRAME: which of them go together. Only what the host sets is judged.
extension ConfigurationCheck {
  private var isHPRF: Bool { (number(.prfMode) ?? 0) > 0 }
  private var prf: String { isHPRF ? "HPRF" : "BPRF" }

  func physical() -> [ConfigurationProblem] {
    var problems: [ConfigurationProblem] = []
    if isSet(.preambleCodeIndex), let code = number(.preambleCodeIndex) {
      let codes: ClosedRange<UInt64> = isHPRF ? 25...32 : 9...12
      if !codes.contains(code) {
        problems.add(
          .preventsRanging, "Preamble code \(code) does not belong to \(prf).",
          [.preambleCodeIndex, .prfMode],
          try: (25...32).contains(code) && !isHPRF
            ? "Use 9…12, or set PRF_MODE to HPRF at both ends."
            : "Use \(codes.lowerBound)…\(codes.upperBound).")
      }
    }
    if isSet(.sfdID), let sfd = number(.sfdID) {
      if isHPRF ? !(1...4).contains(sfd) : ![0, 2].contains(sfd) {
        problems.add(
          .preventsRanging, "SFD \(sfd) does not belong to \(prf).", [.sfdID, .prfMode],
          try: isHPRF ? "Use 1…4." : "Use 2, or 0.")
      }
    }
    if isSet(.preambleDuration), number(.preambleDuration) == 0, !isHPRF {
      problems.add(
        .refusedByChip, "A preamble of 32 symbols exists with HPRF only.",
        [.preambleDuration, .prfMode], try: "Use 64 symbols (1).")
    }
    if isSet(.psduDataRate), let rate = number(.psduDataRate), (1...3).contains(rate), !isHPRF {
      problems.add(
        .refusedByChip, "A PSDU at \(text(.psduDataRate)) exists with HPRF only.",
        [.psduDataRate, .prfMode], try: "Use 6.81 Mbit/s (0).")
    }
    return problems
  }

  func frames() -> [ConfigurationProblem] {
    var problems: [ConfigurationProblem] = []
    let frame = number(.rframeConfig) ?? 3
    if isSet(.numberOfSTSSegments), let segments = number(.numberOfSTSSegments) {
      let allowed: ClosedRange<UInt64> = frame == 0 ? 0...0 : isHPRF ? 1...4 : 1...1
      if !allowed.contains(segments) {
        problems.add(
          .refusedByChip,
          "\(segments) STS segments do not go with \(text(.rframeConfig)) and \(prf).",
          [.numberOfSTSSegments, .rframeConfig],
          try: "Use \(allowed.lowerBound)" + (allowed.count > 1 ? "…\(allowed.upperBound)." : "."))
      }
    }
    if frame == 0, parameters.isTwoWay {
      problems.add(
        .advice, "SP0 frames carry no STS; two-way ranging is done with SP1 or SP3.",
        [.rframeConfig], try: "Use SP3 (3) unless the other end has SP0 too.")
    }
    return problems
  }
}
