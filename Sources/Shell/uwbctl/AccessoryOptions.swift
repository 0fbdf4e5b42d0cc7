// SPDX-License-Identifier: Apache-2.0

import Accessory
public import AccessoryProtocol
import Channels
public import ArgumentParser
import CommandSupport
import Formats
import Ranging
import UCI
import UWB
import UWBLink
import UWBTools

extension ConfigurationVersion: ExpressibleByArgument {
  /// Parses `1.0`, `1.1` or `2.0`.
  public init?(argument: String) {
    guard let version = Self.allCases.first(where: { "\($0)" == argument }) else { return nil }
    self = version
  }
}

struct AccessoryOptions: ParsableArguments {
  enum Phone: String, ExpressibleByArgument, CaseIterable {
    case any, iphone, android
    var value: Accessory.Phones {
      switch self {
      case .any: .any
      case .iphone: .iPhone
      case .android: .android
      }
    }
  }

  @Option(
    help: """
      The address for apps: tcp:port (this machine only), tcp:host:port, unix:/path or ble; port 0 \
      selects a free port. Repeatable.
      """
  )
  var listen = ["tcp:7700"]
  @Option(help: "The phones to serve: any, iphone or android.")
  var phone = Phone.any
  @Option(help: "controller or controlee (default: controller, if the chip lists it).")
  var role: RangeOptions.End?
  @Option(help: "The preferred update rate: automatic, infrequent or user-interactive.")
  var rate = AccessoryCommand.Rate.userInteractive
  @Option(help: "The version of the configuration data: 1.0, 1.1 or 2.0.")
  var dataVersion = ConfigurationVersion.v11
  @Option(help: "End a session after this many seconds without a measurement; 0: never.")
  var silence = Seconds(10)
  @Option(
    help: "Close a connection after this many seconds without a message or ranging; 0: never.")
  var idle = Seconds(300)
  @Option(help: "The maximum number of apps (default: as many as the chip supports).")
  var apps: Int?

  @Flag(
    help: """
      Notify an app when its phone enters, stays in or leaves a region: 0x40, see the page on \
      accessories. Apps like Apple's sample stop at unknown messages.
      """)
  var tellApp = false
  @Flag(help: "Let the chip decode the data of the app (NXP).")
  var dataToChip = false
  @Flag(
    help: """
      Share the ranging rounds with other accessories, in one session of the app. iPhones range with \
      each accessory alone.
      """)
  var oneToMany = false
  @Flag(help: "Fail if the chip's list of capabilities lacks one that apps need.")
  var strict = false

  func validate() throws {
    for address in listen where address != Self.bluetooth { try Self.check(address) }
    try require(silence.duration <= .seconds(4_000_000), "--silence takes 0 to 4000000 seconds.")
    try require(idle.duration <= .seconds(4_000_000), "--idle takes 0 to 4000000 seconds.")
    if let apps, apps < 1 { throw ValidationError("--apps takes 1 or more.") }
  }

  /// The value of `--listen` for Bluetooth LE in place of an address.
  static let bluetooth = "ble"
  var isOnBluetooth: Bool { listen.contains(Self.bluetooth) }
  var endpoints: [ChannelEndpoint] {
    get throws(ChannelError) {
      var endpoints: [ChannelEndpoint] = []
      for address in listen where address != Self.bluetooth {
        endpoints.append(try ChannelEndpoint(address))
      }
      return endpoints
    }
  }

  /// Checks the address of a socket.
  ///
  /// - Throws: `ValidationError` if it is not an address.
  static func check(_ address: String) throws {
    do { _ = try ChannelEndpoint(address) } catch {
      throw ValidationError("\(printable(error.description)) \(error.recoverySuggestion ?? "")")
    }
  }

  var options: Accessory.Options {
    var options = Accessory.Options()
    options.phones = phone.value
    options.role = role?.value
    options.updateRate = rate.value
    options.version = dataVersion
    options.inactivityTimeout = silence.duration > .zero ? silence.duration : nil
    options.idleTimeout = idle.duration > .zero ? idle.duration : nil
    options.maximumSessions = apps
    options.leavesDataToChip = dataToChip
    options.tellsApps = tellApp
    options.isOneToMany = oneToMany
    return options
  }
}

/// The options of Bluetooth LE, for `--listen ble`.
struct BluetoothOptions: ParsableArguments {
  enum Pairing: String, ExpressibleByArgument, CaseIterable {
    case allow, ask, refuse
  }

  @Option(help: "The name that phones show, at most 29 bytes.")
  var bleName = "UWB accessory"
  @Option(help: "The Bluetooth adapter, such as hci0, or its address (default: the first).")
  var bleAdapter: String?
  @Option(help: "Whether phones may pair: allow, ask (on standard input) or refuse.")
  var pairing = Pairing.allow

  func validate() throws {
    try require(1...29 ~= bleName.utf8.count, "--ble-name takes 1 to 29 bytes.")
  }

  var peripheral: BluetoothPeripheral {
    let consent: BluetoothPeripheral.Pairing =
      switch pairing {
      case .allow: .allowed
      case .refuse: .refused
      case .ask:
        .asked { phone in
          (try? await Prompt.confirm("Pair with the phone \(printable(phone))?")) ?? false
        }
      }
    return BluetoothPeripheral(name: bleName, adapter: bleAdapter, pairing: consent)
  }
}
