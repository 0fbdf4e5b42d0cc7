// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UWB
import UWBLink
import UWBSimulator

struct Doctor: Command {
  static let configuration = CommandConfiguration(
    abstract: "Check whether a device works, and if not, why.",
    discussion: """
      Checks the port, opens it, resets the chip, reads its device information and runs a session of \
      a few rounds; no second board is needed. Without DEVICE, checks the only board that is plugged \
      in; sim is an embedded simulated chip. Sessions on the chip end.

      Each line is ok, warn, FAIL, or – for what does not apply to this kind of device. The exit \
      status is that of the first FAIL, as listed in the README; warnings do not affect it.
      """)

  @Argument(help: "The device, as for --device of other commands.") var device: String?
  @OptionGroup(title: "Device") var options: ChipOptions
  @OptionGroup(title: "Capture") var capture: CaptureOptions
  @Option(help: "Output format: text, or json (one object a line).") var format = OutputFormat.text

  func execute() async throws {
    guard let device = try device ?? onlyBoard() else { throw Failure(.unavailable) }
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
      throw Failure(first.status)
    }
  }

  static func summary(_ findings: [Finding]) -> String {
    func count(_ verdict: Finding.Verdict, _ word: String) -> String? {
      let count = findings.count { $0.verdict == verdict }
      return count == 0 ? nil : "\(count) \(word)\(count == 1 ? "" : "s")"
    }
    let bad = [count(.fail, "failure"), count(.warn, "warning")].compactMap { $0 }
    return bad.isEmpty ? "All checks passed.\n" : bad.joined(separator: ", ") + ".\n"
  }

  /// nil, after reporting it, when there is no board or more than one.
  private func onlyBoard() throws -> String? {
    let ports = Discovery().ports()
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
    standardOutput.write(format == .json ? finding.json + "\n" : finding.line)
    return nil
  }
}
