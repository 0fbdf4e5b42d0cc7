// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocol
import ArgumentParser
import UCI
import UWB
import UWBLink

struct AccessoryCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "accessory",
    abstract: "Make a chip a Nearby Interaction accessory.",
    discussion: """
      Apps connect to a socket, receive the accessory's configuration data and range with the chip, each \
      in its own session. Each message is preceded by its length in two bytes, the lower one first. A \
      Unix socket accepts only its owner, TCP everyone who can reach it. Without --device, embedded \
      simulated chips play both sides. Stops on Ctrl-C.
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

  @OptionGroup(title: "Device") var options: DeviceOptions
  @OptionGroup(title: "Accessory") var accessory: AccessoryOptions
  @OptionGroup(title: "Capture") var capture: CaptureOptions
  @OptionGroup(title: "End") var end: RunOptions

  @Option(help: "Output format: text or json.") var format = OutputFormat.text

  func execute() async throws {
    let target = try OpenTarget(options, capture, peers: 1)
    defer { target.finish() }
    var driverOptions = options.driverOptions
    driverOptions.recovery = end.recovery
    let device = try await target.open(driverOptions)
    do {
      try await serve(device, target.simulated)
    } catch {
      await device.close()
      throw error
    }
    await device.close()
  }

  private func serve(_ device: UWBDevice, _ simulated: SimulatedPeers?) async throws {
    let accessory = try Accessory(device, options: accessory.options)
    let listener = try await SocketListener(try ChannelEndpoint(self.accessory.listen))
    let printer = AccessoryPrinter(format)
    printer.print(listening: listener.endpoint)
    let (events, ends) = (accessory.events, device.events)
    let this = self
    // Ends with the last round, the time limit, the device, or Ctrl-C.
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await accessory.serve(listener) }
      group.addTask { await this.print(events, printer) }
      group.addTask {
        for await case .disconnected(let error) in ends { throw error }
        // The group was cancelled.
        try await Task.sleep(for: .seconds(1e9))
      }
      if let limit = end.time.limit {
        group.addTask { try await Task.sleep(for: limit) }
      }
      if let simulated {
        group.addTask { try await SimulatedApp(simulated).range(over: listener.endpoint) }
      }
      let outcome = await group.nextResult()
      group.cancelAll()
      await accessory.close()
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
