// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocol
import UWB
import UWBSimulator

/// An app on the first embedded peer, for an accessory on an embedded chip.
struct SimulatedApp {
  private let chip: SimulatedBench.Chip

  init(_ simulated: SimulatedPeers) { chip = simulated.others[0] }

  /// Connects to the accessory, and ranges until cancelled or disconnected.
  func range(over endpoint: ChannelEndpoint) async throws {
    let device = try await UWBDevice.open(SimulatedPeers.endpoint(chip))
    do {
      try await range(with: device, over: try await SocketChannel.connect(to: endpoint))
    } catch {
      await device.close()
      throw error
    }
    await device.close()
  }

  private func range(with device: UWBDevice, over channel: SocketChannel) async throws {
    defer { channel.close() }
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
  }
}
