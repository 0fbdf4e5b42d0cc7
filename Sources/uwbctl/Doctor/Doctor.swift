// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UWB
import UWBLink
import UWBSimulator

/// `uwbctl doctor`: why a device does not work, or that it does.
struct Doctor: Command {
  static let configuration = CommandConfiguration(
    abstract: "Find out why a device does not work, or that it does.",
    discussion: """
      Checks what the system says of the port, opens it, resets the chip, asks who it is and runs a \
      session of a few rounds; no second board is needed. Without DEVICE it takes the only board \
      that is plugged in; sim is an embedded simulated chip. Sessions on the chip end.

      Each line is ok, warn or FAIL, or – for what this kind of device does not have. Warnings do \
      not count; the exit status is that of the first FAIL, as the README lists them.
      """)

  @Argument(help: "As for --device of the other commands.") var device: String?
  @OptionGroup(title: "Device") var options: ChipOptions
  @OptionGroup(title: "Capture") var capture: CaptureOptions
  @Option(help: "text, or json: one object a line.") var format = OutputFormat.text

  func execute() async throws {
    guard let device = try device ?? onlyBoard() else {
      throw ExitCode(ExitStatus.unavailable.rawValue)
    }
    let chip = device == DeviceOptions.simulated ? try options.simulatedChip() : nil
    defer { chip?.bench.stop() }
    let endpoint = try chip.map { SimulatedPeers.endpoint($0.own) } ?? LinkEndpoint(device)
    let file = try capture.start(named: device, simulated: chip == nil ? nil : options.simChip)
    defer { capture.finish(file) }
    var driverOptions = options.driverOptions
    driverOptions.tap = file?.tap
    let findings = try await Checkup(endpoint: endpoint, options: driverOptions).run { finding in
      standardOutput.write(format == .json ? finding.json + "\n" : finding.line)
    }
    if format == .text { standardOutput.write(Self.summary(findings)) }
    if let first = findings.first(where: { $0.verdict == .fail }) {
      throw ExitCode(first.status.rawValue)
    }
  }

  static func summary(_ findings: [Finding]) -> String {
    func count(_ verdict: Finding.Verdict, _ word: String) -> String? {
      let count = findings.count { $0.verdict == verdict }
      return count == 0 ? nil : "\(count) \(word)\(count == 1 ? "" : "s")"
    }
    let bad = [count(.fail, "failure"), count(.warn, "warning")].compactMap { $0 }
    return bad.isEmpty ? "All well.\n" : bad.joined(separator: ", ") + ".\n"
  }

  /// nil, and says why, when there is no board or more than one.
  private func onlyBoard() throws -> String? {
    let ports = Discovery().ports()
    let boards = ports.filter { $0.usb?.known?.kind == .board }
    let candidates = boards.isEmpty ? ports.filter { $0.usb != nil } : boards
    if let only = candidates.first, candidates.count == 1 { return only.endpoint.description }
    let finding: Finding =
      candidates.isEmpty
      ? .fail(
        .device, .unavailable, "No board is plugged in.",
        "Plug one in (a DWM3001CDK by J20) and see what the kernel says: sudo dmesg | tail. "
          + "Try the program itself with: uwbctl doctor sim")
      : .fail(
        .device, .unavailable, "There are \(candidates.count) devices.",
        "Name one: " + candidates.map(\.endpoint.description).joined(separator: ", "))
    standardOutput.write(format == .json ? finding.json + "\n" : finding.line)
    return nil
  }
}
