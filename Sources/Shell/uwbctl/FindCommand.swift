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
      silent. --poses finds the direction from the movement of the device, also without an array of antennas. \
      --ble searches over Bluetooth LE for kits with the Nordic UART Service or Qorvo's QNIS, \
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
  @OptionGroup(title: "Computed values") var poses: PoseOptions
  @OptionGroup(title: "Computed values") var estimation: EstimationOptions
  @OptionGroup(title: "Capture") var capture: CaptureOptions
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
    let file = Mutex<CaptureFile?>(nil)
    let found = try await options.withDevice(
      capture, peers: 1, end, recording: { capture in file.withLock { $0 = capture } }
    ) { device, simulated in
      let find = Finding(
        command: self, device: device, printer: printer, file: file.withLock { $0 })
      if bluetooth.ble {
        return try await bluetooth.withChannel(printer, as: phone) { try await find(over: $0) }
      }
      if let accessory { return try await find(at: ChannelEndpoint(accessory)) }
      guard let chip = simulated?.others.first else { return 0 }
      let other = try await UWBDevice.open(SimulatedPeers.endpoint(chip))
      let served = try Accessory(other)
      let listener = try await SocketListener(ChannelEndpoint("tcp:0"))
      let serving = Task { await served.serve(listener) }
      return try await lending {
        try await find(at: listener.endpoint)
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
}

/// Ranging with an accessory.
private struct Finding {
  let command: FindCommand
  let device: UWBDevice
  let printer: FindPrinter
  let file: CaptureFile?

  /// Ranges until there are enough distances, or the task is cancelled.
  ///
  /// - Returns: The number of distances.
  func callAsFunction(at endpoint: ChannelEndpoint) async throws -> Int {
    try await self(over: SocketChannel.connect(to: endpoint))
  }

  func callAsFunction(over channel: any DataChannel) async throws -> Int {
    // The accessory chooses channel and address later, so the delay for other peers applies.
    let settings = try command.estimation.settings(channel: 9, peers: [])
    settings.noteMissingCalibration(on: device.family)
    let finder = AccessoryFinder(
      device: device, channel: channel, phone: command.android ? .android : .iPhone,
      settings: settings
    ) { [file] in
      file?.record($0, with: "accessory")
    }
    let limit = command.end.count ?? .max
    return try await command.poses.withGuide { guide in
      var (guide, found) = (guide, 0)
      try await finder.run { event in
        if case .found(var sight) = event {
          sight.guidance = guide?.update(range: sight.raw, at: sight.measuredAt)
          found += 1
          printer.print(.found(sight))
        } else {
          printer.print(event)
        }
        return found < limit
      }
      return found
    }
  }
}
