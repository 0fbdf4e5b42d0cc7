// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UWB
import UWBLink

/// `uwbctl firmware`.
struct FirmwareCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "firmware",
    abstract: "Look at firmware files of NXP chips on SPI, and load them.",
    discussion: """
      An SR1xx (SR100T, SR150, SR160) has no flash: it needs its firmware each time it is switched on. \
      With fw=FILE in the device's name every command loads it. An SR2xx keeps its firmware; load \
      writes its flash.

      The files come with NXP's software packages and may not be passed on.
      """,
    subcommands: [FirmwareCheck.self, FirmwareLoad.self])
}

/// Which loader a file is for.
enum FirmwareFamily: String, ExpressibleByArgument, CaseIterable {
  case sr1xx, sr2xx

  var kind: FirmwareImage.Kind { self == .sr1xx ? .hbci : .hdll }
}

/// `uwbctl firmware check`.
struct FirmwareCheck: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Look at a file; nothing is sent.")

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

/// `uwbctl firmware load`.
struct FirmwareLoad: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "load", abstract: "Load a file into a chip on SPI.",
    discussion: "The chip's sessions are lost. An SR1xx runs it until it is switched off.")

  @Argument(help: "The firmware file.", completion: .file())
  var file: String

  @Option(
    name: .shortAndLong,
    help: "The device: spi:/dev/spidev0.0?chip=sr150&irq=…&ri=…&ce=…, or sr1xx:/dev/srxxx.",
    completion: DeviceOptions.completion)
  var device: String

  @Flag(name: .shortAndLong, help: "Say on standard error which step is being done.")
  var verbose = false

  func run() async throws {
    try await reporting {
      let endpoint = try LinkEndpoint(device)
      guard let kind = endpoint.firmwareKind else {
        throw FirmwareError.notNeeded(chip: "\(endpoint)")
      }
      let image = try FirmwareImage(path: file, kind: kind)
      let display = FirmwareText(isVerbose: verbose)
      let report = try await Firmware.load(image, onto: Link(endpoint)) { display.show($0) }
      display.end()
      print(FirmwareText.describe(report, kind))
    }
  }
}
