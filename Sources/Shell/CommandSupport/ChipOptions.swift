// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
import Formats
import Logging
package import UWB
package import UWBSimulator

/// The options for the kind of chip and for logging.
package struct ChipOptions: ParsableArguments {
  package enum Family: String, ExpressibleByArgument, CaseIterable {
    case auto, qorvo, nxp
    package var profile: DeviceProfile? {
      switch self {
      case .auto: nil
      case .qorvo: .qorvo
      case .nxp: .nxp
      }
    }
  }

  package enum SimulatedChip: String, ExpressibleByArgument, CaseIterable {
    case qm33, qm33pdoa, sr250, fira1, fira2, fira3, pica
    package var profile: ChipProfile { ChipProfile.named(rawValue) ?? .qm33 }
  }

  @Option(help: "Assume this family of chips instead of reading it from the chip.")
  package var chip = Family.auto

  @Option(
    help: """
      The model of the embedded simulated chips (default: qm33pdoa; for anchors and tags, fira2).
      """)
  package var simChip: SimulatedChip?

  @Option(help: "The seed of the simulated noise.")
  package var seed: UInt64 = 1

  @Option(
    help: """
      A file with the conditions of the embedded simulated chips, whose names are "own", "peer 1" and \
      so on; see uwbctl simulate --help.
      """,
    completion: .file())
  package var scene: String?

  @Flag(help: "Open the chip directly, even if a service (uwbd) shares it.") package var direct =
    false

  @Flag(
    help: """
      Use the chip exclusively, for its configuration, calibration, tests and packets: a service (uwbd) \
      that shares it closes it until the command has ended.
      """)
  package var exclusive = false

  @Flag(
    name: .shortAndLong, help: "Log the driver's actions to standard error; -vv: every detail.")
  package var verbose: Int

  package init() {}

  /// The model of the embedded simulated chips.
  package var model: SimulatedChip { simChip ?? .qm33pdoa }

  package var driverOptions: UWBDevice.Options {
    var logger = Logger(
      label: Program.command, factory: { StreamLogHandler.standardError(label: $0) })
    logger.logLevel = verbose == 0 ? .error : verbose == 1 ? .info : .trace
    var options = UWBDevice.Options(profile: chip.profile, logger: logger)
    options.usesService = !direct && !exclusive
    return options
  }

  /// The contents of `--scene`.
  package var conditions: SceneFile? {
    get throws { try scene.map { path throws(FormatError) in try SceneFile(file: path) } }
  }

  /// Returns the embedded simulated chip, and the given number of peers.
  package func simulatedChip(peers: Int = 0) throws -> SimulatedPeers {
    try SimulatedPeers(
      profile: model.profile, peers: peers, seed: seed, conditions: conditions)
  }
}
