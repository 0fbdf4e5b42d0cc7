// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import FoundationEssentials
import UWB
import UWBLink
import UWBSimulator
import UWBTools

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

  @Argument(
    help: ArgumentHelp(
      "The device, as for --device of other commands, or ble.", valueName: "device"))
  var place: String?
  @Option(
    name: .shortAndLong, help: "The device, as in other commands, in place of the argument.",
    completion: DeviceOptions.completion)
  var device: String?
  @OptionGroup(title: "Device") var options: ChipOptions
  @OptionGroup(title: "Capture") var capture: CaptureOptions
  @Option(help: "Output format; json is one object a line.") var format = OutputFormat.text

  func validate() throws {
    try require(place == nil || device == nil, "Give either DEVICE or --device.")
  }

  func execute() async throws {
    var chosen = place ?? device
    if chosen == nil { chosen = try await onlyBoard() }
    guard let device = chosen else { throw Failure(.unavailable) }
    let findings =
      device == AccessoryOptions.bluetooth
      ? try await BluetoothCheckup().run(report) : try await check(device)
    if format == .text { standardOutput.write(Finding.summary(findings, on: standardOutput)) }
    if let first = findings.first(where: { $0.verdict == .fail }) {
      throw Failure(first.status)
    }
  }

  private func check(_ device: String) async throws -> [Finding] {
    let target = try await OpenTarget(device, options, capture, notesSimulation: false)
    defer { target.finish() }
    var driverOptions = options.driverOptions
    driverOptions.tap = target.tap
    return try await Checkup(endpoint: target.endpoint, options: driverOptions).run(report)
  }

  /// Returns the only board. If there is none or more than one, reports that and returns nil.
  private func onlyBoard() async throws -> String? {
    let ports = try await runBlocking { Discovery().ports() }
    let boards = ports.filter { $0.usb?.known?.kind == .board }
    let candidates = boards.isEmpty ? ports.filter { $0.usb != nil } : boards
    if let only = candidates.first, candidates.count == 1 { return only.endpoint.description }
    if candidates.isEmpty {
      report(.noBoard(shared: try await runBlocking { SharedPort.names() }))
    } else {
      report(
        .fail(
          .device, .unavailable, "There are \(candidates.count) devices.",
          "Name one: " + candidates.map(\.endpoint.description).joined(separator: ", ")))
    }
    return nil
  }

  private func report(_ finding: Finding) {
    format.print([finding], Finding.json) { $0.text(on: standardOutput) }
  }
}
