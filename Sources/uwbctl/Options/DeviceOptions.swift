// SPDX-License-Identifier: Apache-2.0

import UWBLab
import ArgumentParser
import Logging
import UCI
import UWB
import UWBLink
import UWBSimulator

/// The kind of chip, and how much the driver logs.
struct ChipOptions: ParsableArguments {
  enum Family: String, ExpressibleByArgument, CaseIterable {
    case auto, qorvo, nxp
    var profile: DeviceProfile? {
      switch self {
      case .auto: nil
      case .qorvo: .qorvo
      case .nxp: .nxp
      }
    }
  }

  enum SimulatedChip: String, ExpressibleByArgument, CaseIterable {
    case qm33, qm33pdoa, sr250, fira1
    var profile: ChipProfile { ChipProfile.named(rawValue) ?? .qm33 }
  }

  @Option(help: "Treat the chip as one of this family instead of asking it.")
  var chip = Family.auto

  @Option(help: "The model of the embedded simulated chips.")
  var simChip = SimulatedChip.qm33pdoa

  @Option(help: "The seed of the simulated noise.")
  var seed: UInt64 = 1

  @Option(
    help:
      "Conditions of the embedded simulated chips, \"own\", \"peer 1\" and so on; see simulate.",
    completion: .file())
  var scene: String?

  @Flag(name: .shortAndLong, help: "Log what the driver does to standard error; repeat for more.")
  var verbose: Int

  var driverOptions: UWBDevice.Options {
    var logger = Logger(label: "uwbctl", factory: { StreamLogHandler.standardError(label: $0) })
    logger.logLevel = verbose == 0 ? .error : verbose == 1 ? .info : .trace
    return UWBDevice.Options(profile: chip.profile, logger: logger)
  }

  /// The embedded simulated chip that is used like a board, and the given number of others.
  func simulatedChip(peers: Int = 0) throws -> SimulatedPeers {
    let conditions = try scene.map { path throws(LabError) in try SceneFile(file: path) }
    return try SimulatedPeers(
      profile: simChip.profile, peers: peers, seed: seed, conditions: conditions)
  }
}

/// The device to use.
struct DeviceOptions: ParsableArguments {
  /// The name of the embedded simulated chip.
  static let simulated = "sim"

  /// Suggests devices that are plugged in.
  static let completion = CompletionKind.custom { _, _, _ in
    Discovery().names() + ["usb:", "tcp:localhost:", simulated]
  }

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The device: a serial path (/dev/ttyACM0, /dev/ttyUSB0?baud=3000000&rtscts), usb:SERIAL (see "
        + "list), "
        + "spi:/dev/spidev0.0?chip=sr150&irq=…&ri=…&ce=…, sr1xx:/dev/srxxx, uci:/dev/uci0, "
        + "nxp-usb:/dev/ttyACM0, tcp:host:port, or sim."),
    completion: DeviceOptions.completion)
  var device = Self.simulated

  @OptionGroup var chip: ChipOptions

  var isSimulated: Bool { device == Self.simulated }
  var simChip: ChipOptions.SimulatedChip { chip.simChip }
  var seed: UInt64 { chip.seed }
  var verbose: Int { chip.verbose }
  var driverOptions: UWBDevice.Options { chip.driverOptions }

  func validate() throws {
    if !isSimulated {
      do { _ = try LinkEndpoint(device) } catch {
        throw ValidationError("\(error) \(error.recoverySuggestion ?? "")")
      }
    }
  }
}
