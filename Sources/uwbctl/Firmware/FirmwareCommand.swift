// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UWB
import UWBLink

struct FirmwareCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "firmware",
    abstract: "Check and load firmware files of NXP chips on SPI.",
    discussion: """
      An SR1xx (SR100T, SR150, SR160) has no flash and needs its firmware each time it is switched on. \
      With fw=FILE in the device name, every command loads it. An SR2xx keeps its firmware; load \
      writes its flash.

      The files come with NXP's software packages and may not be redistributed.
      """,
    subcommands: [FirmwareCheck.self, FirmwareLoad.self])
}

/// The family of chips a file is for.
enum FirmwareFamily: String, ExpressibleByArgument, CaseIterable {
  case sr1xx, sr2xx

  var kind: FirmwareImage.Kind { self == .sr1xx ? .hbci : .hdll }
}

struct FirmwareCheck: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Check a file without sending it.")

  @Argument(help: "The firmware file.", completion: .file())
  var file: String

  @Option(name: .customLong("for"), help: "The family of chips.")
  var family = FirmwareFamily.sr1xx

  func run() async throws {
    try reporting {
      print(FirmwareText.describe(try FirmwareImage(path: file, kind: family.kind)))
    }
  }
}

struct FirmwareLoad: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "load", abstract: "Load a file into a chip on SPI.",
    discussion:
      "The sessions on the chip are lost. An SR1xx loses the firmware when it is switched off.")

  @Argument(help: "The firmware file.", completion: .file())
  var file: String

  @Option(
    name: .shortAndLong,
    help: "The device: spi:/dev/spidev0.0?chip=sr150&irq=…&ri=…&ce=…, or sr1xx:/dev/srxxx.",
    completion: DeviceOptions.completion)
  var device: String

  @Flag(name: .shortAndLong, help: "Print each step to standard error.")
  var verbose = false

  func run() async throws {
    try await reporting {
      let endpoint = try LinkEndpoint(device)
      guard let kind = endpoint.firmwareKind else {
        throw FirmwareError.notNeeded(chip: "\(endpoint)")
      }
      let image = try FirmwareImage(path: file, kind: kind)
      let display = FirmwareText(isVerbose: verbose)
      let report = try await Firmware.load(image, onto: endpoint) { display.show($0) }
      display.end()
      print(FirmwareText.describe(report, kind))
    }
  }
}
