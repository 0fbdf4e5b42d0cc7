// SPDX-License-Identifier: Apache-2.0

import UWBLab
import AccessoryProtocol
import ArgumentParser
import UWB

/// How an accessory presents itself.
struct AccessoryOptions: ParsableArguments {
  enum Role: String, ExpressibleByArgument, CaseIterable {
    case controller, controlee
    var value: SessionConfiguration.Role { self == .controller ? .controller : .controlee }
  }

  enum Version: String, ExpressibleByArgument, CaseIterable {
    case v10 = "1.0"
    case v11 = "1.1"
    case v20 = "2.0"
    var value: ConfigurationVersion {
      switch self {
      case .v10: .v10
      case .v11: .v11
      case .v20: .v20
      }
    }
  }

  @Option(
    help:
      "Where apps connect: tcp:port (this machine only), tcp:host:port or unix:/path; port 0: a free one."
  )
  var listen = "tcp:7700"
  @Option(help: "controller or controlee; without it controller, where the chip can.")
  var role: Role?
  @Option(help: "How often it wants to be ranged with: automatic, infrequent or user-interactive.")
  var rate = AccessoryCommand.Rate.userInteractive
  @Option(help: "Version of the configuration data: 1.0, 1.1 or 2.0.")
  var dataVersion = Version.v11
  @Option(help: "End a session in which nothing was measured for so many seconds; 0: never.")
  var silence = 10.0
  @Option(help: "Range with so many apps at a time; without it as many as the chip takes.")
  var apps: Int?

  @Flag(help: "Leave the app's data to the chip, which decodes it itself (NXP).")
  var dataToChip = false

  func validate() throws {
    do { _ = try ChannelEndpoint(listen) } catch {
      throw ValidationError("\(printable(error.description)) \(error.suggestion)")
    }
    guard (0...4_000_000).contains(silence) else {
      throw ValidationError("--silence takes 0 to 4000000 seconds.")
    }
    if let apps, apps < 1 { throw ValidationError("--apps takes 1 or more.") }
  }

  var options: Accessory.Options {
    var options = Accessory.Options()
    options.role = role?.value
    options.updateRate = rate.value
    options.version = dataVersion.value
    options.silence = UInt32(silence * 1_000)
    options.maximumSessions = apps
    options.leavesDataToChip = dataToChip
    return options
  }
}
