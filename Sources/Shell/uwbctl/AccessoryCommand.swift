// SPDX-License-Identifier: Apache-2.0

import Accessory
import AccessoryProtocol
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

struct AccessoryCommand: DeviceCommand {
  static let configuration = CommandConfiguration(
    commandName: "accessory",
    abstract: "Let a chip serve as an accessory of iPhones and Android phones.",
    discussion: """
      Apps connect to a socket, receive the accessory's configuration data and range with the chip, each \
      in its own session. Each message is preceded by its length in two bytes, the lower one first. A \
      Unix socket accepts only its owner. tcp:port accepts every user of this machine, and \
      tcp:0.0.0.0:port everyone in all its networks. Apps are not authenticated: each can range with the \
      chip and so measure its distance. With ble, phones find the accessory over Bluetooth LE, which \
      needs bluetoothd; --pairing controls whether phones may pair. iPhones use Nearby Interaction, and \
      Android phones the out-of-band protocol of Android's ranging: --phone selects one of them. --capture \
      records the messages beside the packets. Without --device, embedded simulated chips play both sides. Stops on Ctrl-C. On a terminal, ? lists the keys.
      """)

  enum Rate: String, ExpressibleByArgument, CaseIterable {
    case automatic, infrequent
    case userInteractive = "user-interactive"
    var value: AccessoryConfigurationData.UpdateRate {
      switch self {
      case .automatic: .automatic
      case .infrequent: .infrequent
      case .userInteractive: .userInteractive
      }
    }
  }

  @OptionGroup(title: "Device") var device: DeviceOption
  @OptionGroup(title: "Device") var chip: ChipOptions
  @OptionGroup(title: "Accessory") var accessory: AccessoryOptions
  @OptionGroup(title: "Bluetooth LE") var bluetooth: BluetoothOptions
  @OptionGroup(title: "Regions") var regions: RegionOptions
  @OptionGroup(title: "Capture") var capture: CaptureOptions
  @OptionGroup(title: "End") var end: RunOptions

  @Option(help: "Output format.") var format = OutputFormat.text

  func execute() async throws {
    let file = Mutex<CaptureFile?>(nil)
    _ = try await options.withDevice(
      capture, peers: 1, end, recording: { capture in file.withLock { $0 = capture } }
    ) { device, simulated in
      try await serve(device, simulated, file.withLock { $0 })
    }
  }

  private func serve(
    _ device: UWBDevice, _ simulated: SimulatedPeers?, _ file: CaptureFile?
  ) async throws {
    var options = accessory.options
    options.regions = try regions.rules
    let accessory = try Accessory(device, options: options) { app, message in
      file?.record(message, with: app.name)
    }
    try accessory.warnings.report(strictly: self.accessory.strict)
    var listeners: [SocketListener] = []
    for endpoint in try self.accessory.endpoints {
      listeners.append(try await SocketListener(endpoint))
    }
    let peripheral = self.accessory.isOnBluetooth ? bluetooth.peripheral : nil
    // Questions about pairing and the output of commands would disturb the lines.
    let isDisturbed =
      regions.hasCommands || self.accessory.isOnBluetooth && bluetooth.pairing == .ask
    let printer = AccessoryPrinter(format, live: !isDisturbed)
    defer { printer.finish() }
    let actions = try RegionActions(regions)
    actions.report { printer.print($0) }
    for listener in listeners { printer.print(listening: listener) }
    // Actions read a stream of events of their own: when output blocks, the stream of printed
    // events loses its oldest events.
    let acting = Task { [changes = accessory.events] in
      for await case .regionChanged(let app, let change, let measurement) in changes {
        actions.take(change, measurement, app: app.name)
      }
    }
    let (events, ends) = (accessory.events, device.events)
    let this = self
    // The group ends after the last round, when the device is lost, at the time limit, or on
    // Ctrl-C.
    try await withThrowingTaskGroup(of: Void.self) { group in
      for listener in listeners { group.addTask { await accessory.serve(listener) } }
      if let peripheral {
        group.addTask { try await accessory.serve(peripheral) { printer.print($0) } }
      }
      group.addTask { await this.print(events, printer) }
      group.addTask {
        for await case .disconnected(let error) in ends { throw error }
        // The group was cancelled.
        try await Task.sleep(for: .seconds(1e9))
      }
      if let simulated, let listener = listeners.first {
        let phone = this.accessory.phone
        group.addTask { try await runApp(on: simulated, over: listener.endpoint, as: phone) }
      }
      let outcome = await group.nextResult()
      group.cancelAll()
      await accessory.close()
      await acting.value
      await actions.finish()
      try outcome?.get()
    }
  }

  /// Prints events until the given number of rounds has been measured.
  private func print(
    _ events: AsyncStream<Accessory.Event>, _ printer: AccessoryPrinter
  ) async {
    var left = end.count ?? Int.max
    for await event in events {
      printer.print(event)
      guard case .measured(_, let measurement) = event, measurement.result.status.isSuccess else {
        continue
      }
      left -= 1
      if left == 0 { return }
    }
  }
}

/// Runs an app on the first embedded peer, for an accessory on an embedded chip. The app connects
/// to the accessory, and ranges until it is cancelled or disconnected.
private func runApp(
  on simulated: SimulatedPeers, over endpoint: ChannelEndpoint, as phone: AccessoryOptions.Phone
) async throws {
  let device = try await UWBDevice.open(SimulatedPeers.endpoint(simulated.others[0]))
  try await lending {
    let channel = try await SocketChannel.connect(to: endpoint)
    defer { channel.close() }
    if phone == .android {
      let finder = AccessoryFinder(device: device, channel: channel, phone: .android)
      return try await finder.run { _ in true }
    }
    try await channel.send(AppMessage.initialize.bytes)
    for await bytes in channel.messages {
      guard case .accessoryConfigurationData(let data) = try AccessoryMessage(bytes) else {
        continue
      }
      let accessory = try AccessoryConfigurationData(data)
      let shareable = ShareableConfigurationData.answering(accessory)
      let session = try await device.makeSession(
        try shareable.session(of: .app, with: accessory.uwb))
      try await session.start()
      try await channel.send(AppMessage.configureAndStart(shareable.bytes).bytes)
    }
  } end: {
    await device.close()
  }
}
