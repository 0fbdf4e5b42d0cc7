// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
package import CommandSupport
package import Formats
package import FoundationEssentials
package import UWB
package import UWBLink
import UWBSimulator

/// The checks of one device, in order.
package struct Checkup {
  package let endpoint: LinkEndpoint
  package var machine = Machine()
  package var options = UWBDevice.Options()
  /// The time for an answer before the reset. Chips that need a vendor command first do not answer
  /// at all.
  package var answerTime = Duration.milliseconds(700)
  /// The time for 512 bytes of a device that does not send UCI.
  package var sampleTime = Duration.milliseconds(600)

  package init(
    endpoint: LinkEndpoint, machine: Machine = .init(), options: UWBDevice.Options = .init()
  ) {
    self.endpoint = endpoint
    self.machine = machine
    self.options = options
  }

  /// Runs the checks, and reports each finding at once. Skips checks that an earlier failure makes
  /// impossible.
  ///
  /// - Throws: `CancellationError`, rather than a failed check, if the task is cancelled.
  package func run(_ report: (Finding) -> Void) async throws -> [Finding] {
    var findings: [Finding] = []
    func add(_ finding: Finding) {
      findings.append(finding)
      report(finding)
    }
    let port = try await runBlocking {
      var port: [Finding] = []
      checkPort { port.append($0) }
      return port
    }
    port.forEach(add)
    // If another program uses the port, or the user lacks permission, later checks are meaningless.
    guard !findings.contains(where: { $0.verdict == .fail }) else { return findings }
    guard try await checkLine(add) else { return findings }
    // Continues after invalid bytes, because the reset may end them.
    try await checkChip(add)
    return findings
  }
}

/// The checks, in order.
package enum Check: String, CaseIterable, Sendable {
  case device, permission
  case udevRule = "udev_rule"
  case holder
  case modemManager = "modem_manager"
  case open, dtr, stale, framing, sessions, reset
  case roundTrip = "round_trip"
  case firmware, capabilities
  case selfTest = "self_test"
  case calibration, line
  // Checks of Bluetooth LE.
  case bluetoothd, adapter
  case severalPhones = "several_phones"
  case repairing
  case phoneServices = "phone_services"
  case controllerMode = "controller_mode"

  package var title: String {
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
    case .severalPhones: "several phones"
    case .repairing: "pairing again"
    case .phoneServices: "phone services"
    case .controllerMode: "controller mode"
    default: rawValue
    }
  }
}

package struct Finding: Sendable, Equatable {
  package enum Verdict: String, Sendable {
    case ok, warn, fail
    /// The check does not apply to this kind of device.
    case skipped
  }

  package var check: Check
  package var verdict: Verdict
  /// The finding in one line.
  package var text: String
  /// The next step; set for each failure.
  package var advice: String?
  /// The exit status of `doctor`, if this is the first failure.
  package var status = ExitStatus.success

  /// Returns a failure with the description and suggestion of a library error.
  package static func fail(_ check: Check, _ error: some LocalizedError, else advice: String)
    -> Finding
  {
    let failure = Failure(error)
    return fail(
      check, failure?.status ?? .system, error.errorDescription ?? "",
      failure?.suggestion ?? advice)
  }
  package static func ok(_ check: Check, _ text: String) -> Finding {
    Finding(check: check, verdict: .ok, text: text)
  }
  package static func skipped(_ check: Check, _ text: String) -> Finding {
    Finding(check: check, verdict: .skipped, text: text)
  }
  package static func warn(_ check: Check, _ text: String, _ advice: String) -> Finding {
    Finding(check: check, verdict: .warn, text: text, advice: advice)
  }
  package static func fail(
    _ check: Check, _ status: ExitStatus, _ text: String, _ advice: String
  ) -> Finding {
    Finding(check: check, verdict: .fail, text: text, advice: advice, status: status)
  }

  // MARK: output

  /// Formats the finding as `FAIL  permission      …`, with the next step on a second line.
  package func text(on output: Output) -> String {
    let (word, style): (String, Style) =
      switch verdict {
      case .ok: ("ok", .good)
      case .warn: ("warn", .warning)
      case .fail: ("FAIL", .bad)
      case .skipped: ("–", .faint)
      }
    let lines =
      ["\(word.left(6))\(check.title.left(16))\(printable(text))"]
      + (advice.map { ["\("".left(22))do: \(printable($0))"] } ?? [])
    let plain = lines.map { output.wrapped($0, indent: 22) + "\n" }.joined()
    return output.styled(word, style) + plain.dropFirst(word.count)
  }

  /// Counts failures and warnings in one line.
  package static func summary(_ findings: [Finding], on output: Output) -> String {
    func count(_ verdict: Finding.Verdict, _ word: String) -> String? {
      let count = findings.count { $0.verdict == verdict }
      return count == 0 ? nil : "\(count) \(word)\(count == 1 ? "" : "s")"
    }
    let bad = [count(.fail, "failure"), count(.warn, "warning")].compactMap { $0 }
    let hasFailed = findings.contains { $0.verdict == .fail }
    let text = bad.isEmpty ? "All checks passed." : bad.joined(separator: ", ") + "."
    return output.styled(text, hasFailed ? .bad : bad.isEmpty ? .good : .warning) + "\n"
  }

  package static let json = JSONTable<Finding>("doctor", each: "check") {
    $0.key("check", "name of the check") { $0.check.rawValue }
    $0.key("verdict", "ok, warn, fail or skipped") { $0.verdict.rawValue }
    $0.key("text", "the finding") { $0.text }
    $0.key("advice", "the next step") { $0.advice }
  }
}
