// SPDX-License-Identifier: Apache-2.0

import UWBLab
import AccessoryProtocol
import ArgumentParser
import UWB

/// Options of the accessory.
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
    help: """
      Where apps connect: tcp:port (this machine only), tcp:host:port or unix:/path; port 0 selects a \
      free one.
      """
  )
  var listen = "tcp:7700"
  @Option(help: "controller or controlee (default: controller, if the chip supports it).")
  var role: Role?
  @Option(help: "The preferred update rate: automatic, infrequent or user-interactive.")
  var rate = AccessoryCommand.Rate.userInteractive
  @Option(help: "The version of the configuration data: 1.0, 1.1 or 2.0.")
  var dataVersion = Version.v11
  @Option(help: "End a session after this many seconds without a measurement; 0 never does.")
  var silence = Seconds(10)
  @Option(help: "The maximum number of apps (default: as many as the chip supports).")
  var apps: Int?

  @Flag(help: "Let the chip decode the data of the app (NXP).")
  var dataToChip = false

  func validate() throws {
    do { _ = try ChannelEndpoint(listen) } catch {
      throw ValidationError(
        "\(printable(error.description)) \(error.recoverySuggestion ?? "")")
    }
    guard silence.duration <= .seconds(4_000_000) else {
      throw ValidationError("--silence takes 0 to 4000000 seconds.")
    }
    if let apps, apps < 1 { throw ValidationError("--apps takes 1 or more.") }
  }

  var options: Accessory.Options {
    var options = Accessory.Options()
    options.role = role?.value
    options.updateRate = rate.value
    options.version = dataVersion.value
    options.inactivityTimeout = silence.duration > .zero ? silence.duration : nil
    options.maximumSessions = apps
    options.leavesDataToChip = dataToChip
    return options
  }
}
