// SPDX-License-Identifier: Apache-2.0

import UWBLab

/// The checks, in their order.
enum Check: String, CaseIterable, Sendable {
  case device, permission
  case udevRule = "udev_rule"
  case holder
  case modemManager = "modem_manager"
  case open, dtr, stale, framing, sessions, reset
  case roundTrip = "round_trip"
  case firmware, capabilities
  case selfTest = "self_test"
  case line

  /// The name in text output.
  var title: String {
    switch self {
    case .udevRule: "udev rule"
    case .holder: "other programs"
    case .modemManager: "ModemManager"
    case .open: "opening"
    case .dtr: "DTR"
    case .stale: "stale traffic"
    case .sessions: "old sessions"
    case .roundTrip: "round trip"
    case .selfTest: "self-test"
    default: rawValue
    }
  }
}

/// The result of a check.
struct Finding: Sendable, Equatable {
  enum Verdict: String, Sendable {
    case ok, warn, fail
    /// Does not apply to this kind of device.
    case skipped
  }

  var check: Check
  var verdict: Verdict
  /// What was found, on one line.
  var text: String
  /// What to do; set for every failure.
  var advice: String?
  /// The exit status when this is the first failure.
  var status = ExitStatus.success

  static func ok(_ check: Check, _ text: String) -> Finding {
    Finding(check: check, verdict: .ok, text: text)
  }
  static func skipped(_ check: Check, _ text: String) -> Finding {
    Finding(check: check, verdict: .skipped, text: text)
  }
  static func warn(_ check: Check, _ text: String, _ advice: String) -> Finding {
    Finding(check: check, verdict: .warn, text: text, advice: advice)
  }
  static func fail(
    _ check: Check, _ status: ExitStatus, _ text: String, _ advice: String
  ) -> Finding {
    Finding(check: check, verdict: .fail, text: text, advice: advice, status: status)
  }

  // MARK: output

  /// `FAIL  permission      …`, and what to do on a second line.
  var line: String {
    let word = verdict == .fail ? "FAIL" : verdict == .skipped ? "–" : verdict.rawValue
    let first = "\(word.left(6))\(check.title.left(16))\(printable(text))\n"
    return first + (advice.map { "\("".left(22))do: \(printable($0))\n" } ?? "")
  }

  var json: String {
    var line = JSONLine()
    line.add("check", check.rawValue)
    line.add("verdict", verdict.rawValue)
    line.add("text", text)
    line.add("advice", advice)
    return line.text
  }
}
