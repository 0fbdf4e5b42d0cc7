// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import FoundationEssentials
import UWB
import UWBLink
import UWBSimulator

struct Doctor: Command {
  static let configuration = CommandConfiguration(
    abstract: "Check whether a device works, and if not, why.",
    discussion: """
      Checks the port, opens it, resets the chip, reads its device information and runs a session of \
      a few rounds; no second board is needed. Without DEVICE, checks the only board that is plugged \
      in; sim is an embedded simulated chip. The reset ends the sessions on the chip. With ble, checks \
      instead the Bluetooth LE that phones need to reach an accessory: bluetoothd, its adapter, which \
      is switched on, and settings in main.conf that cause problems with iPhones.

      Each line is ok, warn, FAIL, or – if the check does not apply to this kind of device. The first \
      FAIL determines the exit status; warnings do not affect it.
      """)

  @Argument(help: "The device, as for --device of other commands, or ble.") var device: String?
  @OptionGroup(title: "Device") var options: ChipOptions
  @OptionGroup(title: "Capture") var capture: CaptureOptions
  @Option(help: "Output format; json is one object a line.") var format = OutputFormat.text

  func execute() async throws {
    var chosen = device
    if chosen == nil { chosen = try await onlyBoard() }
    guard let device = chosen else { throw Failure(.unavailable) }
    let findings =
      device == AccessoryOptions.bluetooth
      ? try await BluetoothCheckup().run(report) : try await check(device)
    if format == .text { standardOutput.write(Self.summary(findings)) }
    if let first = findings.first(where: { $0.verdict == .fail }) {
      throw Failure(first.status)
    }
  }

  private func check(_ device: String) async throws -> [Finding] {
    let target = try await OpenTarget(device, options, capture)
    defer { target.finish() }
    var driverOptions = options.driverOptions
    driverOptions.tap = target.tap
    return try await Checkup(endpoint: target.endpoint, options: driverOptions).run(report)
  }

  static func summary(_ findings: [Finding]) -> String {
    func count(_ verdict: Finding.Verdict, _ word: String) -> String? {
      let count = findings.count { $0.verdict == verdict }
      return count == 0 ? nil : "\(count) \(word)\(count == 1 ? "" : "s")"
    }
    let bad = [count(.fail, "failure"), count(.warn, "warning")].compactMap { $0 }
    return bad.isEmpty ? "All checks passed.\n" : bad.joined(separator: ", ") + ".\n"
  }

  /// Returns the only board. If there is none or more than one, reports that and returns nil.
  private func onlyBoard() async throws -> String? {
    let ports = try await runBlocking { Discovery().ports() }
    let boards = ports.filter { $0.usb?.known?.kind == .board }
    let candidates = boards.isEmpty ? ports.filter { $0.usb != nil } : boards
    if let only = candidates.first, candidates.count == 1 { return only.endpoint.description }
    let finding: Finding =
      candidates.isEmpty
      ? .fail(
        .device, .unavailable, "No board is plugged in.",
        "Plug one in (a DWM3001CDK at J20) and look at the kernel log: sudo dmesg | tail. "
          + "To try the program without a board: uwbctl doctor sim")
      : .fail(
        .device, .unavailable, "There are \(candidates.count) devices.",
        "Name one: " + candidates.map(\.endpoint.description).joined(separator: ", "))
    report(finding)
    return nil
  }

  private func report(_ finding: Finding) {
    format.print([finding], Finding.json) { $0.text(on: standardOutput) }
  }
}

/// The checks of one device, in order.
struct Checkup {
  let endpoint: LinkEndpoint
  var machine = Machine()
  var options = UWBDevice.Options()

  /// Runs the checks, and reports each finding at once. Skips checks that an earlier failure makes
  /// impossible.
  func run(_ report: (Finding) -> Void) async throws -> [Finding] {
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
    // Another program on the port, or a missing permission, makes the later checks meaningless.
    guard !findings.contains(where: { $0.verdict == .fail }) else { return findings }
    guard try await checkLine(add) else { return findings }
    // Continues after invalid bytes, because the reset may end them.
    try await checkChip(add)
    return findings
  }
}

/// The checks, in order.
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
  // Checks of Bluetooth LE.
  case bluetoothd, adapter
  case severalPhones = "several_phones"
  case repairing
  case phoneServices = "phone_services"
  case controllerMode = "controller_mode"

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
    case .severalPhones: "several phones"
    case .repairing: "pairing again"
    case .phoneServices: "phone services"
    case .controllerMode: "controller mode"
    default: rawValue
    }
  }
}

struct Finding: Sendable, Equatable {
  enum Verdict: String, Sendable {
    case ok, warn, fail
    /// The check does not apply to this kind of device.
    case skipped
  }

  var check: Check
  var verdict: Verdict
  /// The finding in one line.
  var text: String
  /// The next step; set for each failure.
  var advice: String?
  /// The exit status if this is the first failure.
  var status = ExitStatus.success

  /// Returns a failure with the description and suggestion of a library error.
  static func fail(_ check: Check, _ error: some LocalizedError, else advice: String) -> Finding {
    fail(
      check, ExitStatus(of: error) ?? .system, error.errorDescription ?? "",
      error.recoverySuggestion ?? advice)
  }
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

  /// Formats the finding as `FAIL  permission      …`, with the next step on a second line.
  func text(on output: Output) -> String {
    let word = verdict == .fail ? "FAIL" : verdict == .skipped ? "–" : verdict.rawValue
    let lines =
      ["\(word.left(6))\(check.title.left(16))\(printable(text))"]
      + (advice.map { ["\("".left(22))do: \(printable($0))"] } ?? [])
    return lines.map { output.wrapped($0, indent: 22) + "\n" }.joined()
  }

  static let json = JSONTable<Finding>("doctor", each: "check") {
    $0.key("check", "name of the check") { $0.check.rawValue }
    $0.key("verdict", "ok, warn, fail or skipped") { $0.verdict.rawValue }
    $0.key("text", "what was found") { $0.text }
    $0.key("advice", "what to do") { $0.advice }
  }
}
