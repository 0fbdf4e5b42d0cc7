// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logging
import UCI
import UWBDriver
import UWBLink
import UWBSimulator

/// Which device, and how much the driver says about it.
struct DeviceOptions: ParsableArguments {
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
    var profile: ChipProfile {
      switch self {
      case .qm33: .qm33
      case .qm33pdoa: .qm33PDoA
      case .sr250: .sr250
      case .fira1: .fira1
      }
    }
  }

  @Option(
    name: .shortAndLong,
    help: "A serial path (/dev/ttyACM0, /dev/ttyUSB0?baud=3000000&rtscts), tcp:host:port, or sim.")
  var device = "sim"

  @Option(help: "Take the chip for one of this family instead of asking it.")
  var chip = Family.auto

  @Option(help: "What the embedded simulated chips are.")
  var simChip = SimulatedChip.qm33pdoa

  @Option(help: "Seed of the simulated noise.")
  var seed: UInt64 = 1

  @Flag(name: .shortAndLong, help: "Say on standard error what the driver does; twice: more.")
  var verbose: Int

  var isSimulated: Bool { device == "sim" }

  var driverOptions: UWBDevice.Options {
    var logger = Logger(label: "uwbctl", factory: { StreamLogHandler.standardError(label: $0) })
    logger.logLevel = verbose == 0 ? .error : verbose == 1 ? .info : .trace
    return UWBDevice.Options(profile: chip.profile, logger: logger)
  }

  func validate() throws {
    if !isSimulated {
      do { _ = try LinkEndpoint(device) } catch {
        throw ValidationError("\(error) \(error.suggestion ?? "")")
      }
    }
  }
}
