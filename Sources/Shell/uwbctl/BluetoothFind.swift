// SPDX-License-Identifier: Apache-2.0

import Channels
import ArgumentParser
import CommandSupport
import Formats
import UWBTools

/// The options that select an accessory over Bluetooth LE.
struct BluetoothFindOptions: ParsableArguments {
  @Flag(help: "Look for the accessory over Bluetooth LE.") var ble = false
  @Flag(help: "Only list the accessories in range; no --device is needed.")
  var list = false
  @Option(help: "The name or the address of the accessory (default: the first one found).")
  var to: String?
  @Flag(help: "Pair with the accessory, without comparing a code.") var pair = false
  @Option(help: "The Bluetooth adapter, such as hci0, or its address (default: the first).")
  var bleAdapter: String?
  @Option(
    help: "How many seconds to look; 0: until Ctrl-C (default: 60, with --list 10).")
  var wait: Seconds?

  func validate() throws {
    let isUsed = list || to != nil || pair || bleAdapter != nil || wait != nil
    try require(
      ble || !isUsed, "--list, --to, --pair, --ble-adapter and --wait need --ble.")
    try require(!list || to == nil && !pair, "--list takes no --to or --pair.")
  }

  private var limit: Duration? {
    let limit = wait?.duration ?? .seconds(list ? 10 : 60)
    return limit > .zero ? limit : nil
  }

  private nonisolated(nonsending) func open(
    as phone: AccessoryFinder.Phone
  ) async throws(ChannelError) -> BluetoothCentral {
    try await BluetoothCentral.open(
      adapter: bleAdapter, bus: nil,
      service: phone == .android ? PeripheralServices.android : nil)
  }

  /// Lists accessories until the time limit.
  nonisolated(nonsending) func list(
    _ printer: FindPrinter, as phone: AccessoryFinder.Phone
  ) async throws {
    let central = try await open(as: phone)
    let seen = try await lending {
      // Names by address. An advertisement with the name may come later.
      var seen: [String: String?] = [:]
      _ = try await first(of: central) { found in
        if let name = seen[found.address], name != nil || found.name == nil { return false }
        seen[found.address] = found.name
        printer.print(found)
        return false
      }
      return seen
    } end: {
      await central.close()
    }
    if seen.isEmpty, !Task.isCancelled { throw Self.nothing }
  }

  /// Opens a channel to the accessory, and passes the channel to `body`.
  nonisolated(nonsending) func withChannel<R: Sendable>(
    _ printer: FindPrinter, as phone: AccessoryFinder.Phone,
    _ body: nonisolated(nonsending) (any DataChannel) async throws -> R
  ) async throws -> R {
    let central = try await open(as: phone)
    return try await lending {
      guard let accessory = try await first(of: central, where: { $0.isCalled(to) }) else {
        try Task.checkCancellation()
        throw Self.nothing
      }
      printer.print(accessory)
      return try await body(try await central.connect(to: accessory, pairing: pair))
    } end: {
      await central.close()
    }
  }

  /// The time to wait for the advertisement of an accessory that was found earlier.
  private static let grace = Duration.seconds(5)

  /// Returns the first matching accessory; nil after the time limit or a cancellation. Advertising
  /// accessories come first; a paired or connected accessory, which may not advertise, is returned
  /// later. So is an accessory that is not known to have the service of the phone.
  private nonisolated(nonsending) func first(
    of central: BluetoothCentral, where isWanted: (BluetoothAccessory) -> Bool
  ) async throws -> BluetoothAccessory? {
    let (found, accessories) = AsyncStream<BluetoothAccessory>.makeStream()
    let heard = try await central.accessories()
    let looking = Task {
      for await accessory in heard { accessories.yield(accessory) }
      accessories.finish()
    }
    func timer(_ limit: Duration) -> Task<Void, any Error> {
      Task {
        try await Task.sleep(for: limit)
        accessories.finish()
      }
    }
    var timers = limit.map { [timer($0)] } ?? []
    defer {
      looking.cancel()
      for timer in timers { timer.cancel() }
    }
    var silent: BluetoothAccessory?
    for await accessory in found where isWanted(accessory) {
      if accessory.isHeard, central.isSuitable(accessory) { return accessory }
      if silent == nil { timers.append(timer(Self.grace)) }
      silent = accessory
    }
    return Task.isCancelled ? nil : silent
  }

  private static let nothing = Failure(
    .noPeer, "No such accessory was found.",
    try: "Check that it is near and on, and not connected to a phone: it may not advertise then. "
      + "uwbctl find --ble --list shows the accessories in range.")
}

extension BluetoothAccessory {
  /// Reports whether the accessory has a name or an address.
  ///
  /// - Parameter wanted: The name or address; nil matches an accessory that advertises now.
  fileprivate func isCalled(_ wanted: String?) -> Bool {
    wanted.map { $0 == name || $0.uppercased() == address } ?? isHeard
  }
}

extension FindPrinter {
  fileprivate func print(_ accessory: BluetoothAccessory) {
    let strength = accessory.signalStrength.map { "\($0) dBm" } ?? "–"
    say(
      "accessory",
      "\(accessory.address)  \(strength.right(8))  \(accessory.isPaired ? "paired" : "      ")  "
        + (accessory.name.map(printable) ?? "–"),
      [
        "address": accessory.address, "name": accessory.name,
        "rssi_dbm": Fixed(accessory.signalStrength.map(Double.init), 1),
        "paired": accessory.isPaired,
      ])
  }
}
