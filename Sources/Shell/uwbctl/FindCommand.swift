// SPDX-License-Identifier: Apache-2.0

import Accessory
import Channels
import ArgumentParser
import CommandSupport
import Formats
import Ranging
import Synchronization
import UCI
import UWB
import UWBLink
import UWBTools

struct FindCommand: DeviceCommand {
  static let configuration = CommandConfiguration(
    commandName: "find",
    abstract: "Show the distance and direction of an accessory.",
    discussion: """
      Acts as the app: connects to an accessory, such as uwbctl accessory, ranges with it and shows its \
      smoothed distance and its direction as seen from the chip. Tries again when the accessory falls \
      silent. --ble searches over Bluetooth LE for kits with the Nordic UART Service or Qorvo's QNIS, \
      which needs bluetoothd. --android acts as an Android phone, which chooses a session by the \
      out-of-band protocol of Android's ranging. Without --device, embedded simulated chips play both \
      sides. Stops on Ctrl-C, and when the accessory closes the connection. On a terminal, ? lists the \
      keys.
      """)

  @OptionGroup(title: "Device") var device: DeviceOption
  @OptionGroup(title: "Device") var chip: ChipOptions
  @Option(
    help: "Where the accessory listens: tcp:port (this machine), tcp:host:port or unix:/path.")
  var accessory: String?
  @Flag(help: "Act as an Android phone instead of an iPhone.") var android = false
  @OptionGroup(title: "Bluetooth LE") var bluetooth: BluetoothFindOptions
  @Option(help: "Output format (default: text on a terminal, otherwise json).")
  var format: OutputFormat?
  @OptionGroup(title: "Computed values") var estimation: EstimationOptions
  @OptionGroup(title: "End") var end: RunOptions

  func validate() throws {
    try require(
      accessory == nil || !bluetooth.ble, "Give either --accessory or --ble.")
    if bluetooth.list { return }
    let isSimulated = accessory == nil && !bluetooth.ble
    guard options.isSimulated == isSimulated else {
      throw ValidationError(
        options.isSimulated
          ? "\(bluetooth.ble ? "--ble" : "--accessory") needs --device: a simulated chip can only reach a "
            + "simulated accessory."
          : "Name the address of the accessory: --accessory tcp:host:port, or give --ble.")
    }
    if let accessory { try AccessoryOptions.check(accessory) }
  }

  func execute() async throws {
    let printer = FindPrinter(format ?? (standardOutput.isTerminal ? .text : .json))
    defer { printer.finish() }
    let phone = android ? AccessoryFinder.Phone.android : .iPhone
    if bluetooth.list { return try await bluetooth.list(printer, as: phone) }
    let found = try await options.withDevice(peers: 1, end) { device, simulated in
      if bluetooth.ble {
        return try await bluetooth.withChannel(printer, as: phone) {
          try await find(with: device, over: $0, printer)
        }
      }
      if let accessory {
        return try await find(with: device, at: ChannelEndpoint(accessory), printer)
      }
      guard let chip = simulated?.others.first else { return 0 }
      let other = try await UWBDevice.open(SimulatedPeers.endpoint(chip))
      let served = try Accessory(other)
      let listener = try await SocketListener(ChannelEndpoint("tcp:0"))
      let serving = Task { await served.serve(listener) }
      return try await lending {
        try await find(with: device, at: listener.endpoint, printer)
      } end: {
        serving.cancel()
        await served.close()
        await other.close()
      }
    }
    if found ?? 0 == 0, !Task.isCancelled {
      throw Failure(
        .noPeer, "The accessory was not measured.",
        try: "Check that it is near, and that its chip works: uwbctl doctor DEVICE.")
    }
  }

  /// Ranges until there are enough distances, or the task is cancelled.
  ///
  /// - Returns: The number of distances.
  private func find(
    with device: UWBDevice, at endpoint: ChannelEndpoint, _ printer: FindPrinter
  ) async throws -> Int {
    try await find(with: device, over: SocketChannel.connect(to: endpoint), printer)
  }

  private func find(
    with device: UWBDevice, over channel: any DataChannel, _ printer: FindPrinter
  ) async throws -> Int {
    // The accessory chooses channel and address later: the delay of other peers applies.
    let settings = try estimation.settings(channel: 9, peers: [])
    settings.noteMissingCalibration(on: device.family)
    let finder = AccessoryFinder(
      device: device, channel: channel, phone: android ? .android : .iPhone, settings: settings)
    let limit = end.count ?? .max
    var found = 0
    try await finder.run { event in
      printer.print(event)
      if case .found = event { found += 1 }
      return found < limit
    }
    return found
  }
}
