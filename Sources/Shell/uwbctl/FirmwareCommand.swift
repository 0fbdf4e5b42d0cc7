// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import System
import UWB
import UWBLink
import UWBTools

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

/// The family of chips that a file is for.
enum FirmwareFamily: String, ExpressibleByArgument, CaseIterable {
  case sr1xx, sr2xx

  var kind: FirmwareImage.Kind { self == .sr1xx ? .hbci : .hdll }
}

struct FirmwareCheck: ReportingCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Check a file without sending it.")

  @Argument(help: "The firmware file.", completion: .file())
  var file: String

  @Option(name: .customLong("for"), help: "The family of chips.")
  var family = FirmwareFamily.sr1xx

  func execute() async throws {
    standardOutput.write(lines: try FirmwareImage(path: file, kind: family.kind).text + "\n")
  }
}

struct FirmwareLoad: Command {
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

  func execute() async throws {
    let endpoint = try LinkEndpoint(device)
    guard let kind = endpoint.firmwareKind else {
      throw FirmwareError.notNeeded(chip: "\(endpoint)")
    }
    let image = try FirmwareImage(path: file, kind: kind)
    let line = ProgressLine()
    defer { line.finish() }
    let last = Locked<(step: FirmwareStep, attempt: Int)?>(nil)
    let report = try await Firmware.load(image, onto: endpoint) { [verbose] progress in
      let isNew = last.withLock { last in
        defer { last = (progress.step, progress.attempt) }
        return last?.step != progress.step || last?.attempt != progress.attempt
      }
      line.show(progress.text)
      if !standardError.canRedraw, verbose, isNew {
        standardError.write(progress.text + "\n")
      }
    }
    line.finish()
    standardOutput.write(lines: report.text(kind) + "\n")
  }
}

extension FirmwareProgress {
  fileprivate var text: String {
    let attempt = attempt > 1 ? " (attempt \(attempt))" : ""
    guard step == .sending else { return "\(step.rawValue)\(attempt)" }
    let percent = total == 0 ? 0 : sent * 100 / total
    return "\(step.rawValue): \(percent) % of \(total) bytes\(attempt)"
  }
}

extension FirmwareImage {
  fileprivate var text: String {
    switch kind {
    case .hbci: "\(bytes.count) bytes: can be sent to an SR1xx, which checks the signature itself."
    case .hdll:
      "\(bytes.count) bytes, all frames complete with valid checksums"
        + (version.map { ": version \($0.major).\($0.minor)" } ?? "") + "."
    }
  }
}

extension Firmware.Report {
  fileprivate func text(_ kind: FirmwareImage.Kind) -> String {
    guard kind == .hbci else {
      return "Wrote \(bytes) bytes to the flash of the chip, which is in its loader now."
    }
    var text = "Loaded \(bytes) bytes, which the chip accepted"
    if let revision {
      text += " (revision \(String(revision, radix: 16, uppercase: true))"
      text += isProduction.map { $0 ? ", production)" : ", development)" } ?? ")"
    }
    return text + "."
  }
}
