// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocol
import Channels
import UWB

/// `VirtualBench accessory-times DEVICE ADAPTER NAME ENDPOINT`: measures an accessory over
/// Bluetooth LE, and over a socket in the same run. Prints a line for each link: the median of five
/// visits.
enum AccessoryTimes {
  private struct Times {
    /// The time from the request to connect to its end.
    var connected: [UInt64] = []
    /// The time from the message 0x0A to its answer 0x01.
    var offered: [UInt64] = []
    /// The time from the request to connect to the first distance.
    var distance: [UInt64] = []
  }

  private struct Visit {
    let connect: () async throws -> any DataChannel
    /// Waits until the connection has ended.
    let end: () async -> Void
  }

  static func run(_ arguments: [String]) async {
    guard arguments.count == 4 else { fail("accessory-times DEVICE ADAPTER NAME ENDPOINT") }
    do {
      let device = try await UWBDevice.open(arguments[0])
      try await measure("Bluetooth LE", device) {
        let central = try await BluetoothCentral.open(adapter: arguments[1])
        for await found in try await central.accessories() where found.name == arguments[2] {
          return Visit {
            try await central.connect(to: found)
          } end: {
            await central.close()
          }
        }
        fail("\(arguments[2]) is not heard")
      }
      let endpoint = try ChannelEndpoint(arguments[3])
      try await measure("TCP", device) {
        Visit {
          try await SocketChannel.connect(to: endpoint)
        } end: {
        }
      }
      await device.close()
    } catch {
      fail("\(error)")
    }
  }

  private static func measure(
    _ link: String, _ device: UWBDevice, _ visit: () async throws -> Visit
  ) async throws {
    var times = Times()
    for _ in 0..<5 {
      let visit = try await visit()
      let start = monotonic()
      let channel = try await visit.connect()
      var messages = channel.messages.makeAsyncIterator()
      times.connected.append(monotonic() - start)
      let asked = monotonic()
      try await channel.send(AppMessage.initialize.bytes)
      let accessory = try await configuration(&messages)
      times.offered.append(monotonic() - asked)
      let data = ShareableConfigurationData.answering(accessory)
      let session = try await device.makeSession(try data.session(of: .app, with: accessory.uwb))
      let measurements = session.measurements()
      try await session.start()
      try await channel.send(AppMessage.configureAndStart(data.bytes).bytes)
      for try await measurement in measurements where measurement.result.status.isSuccess { break }
      times.distance.append(monotonic() - start)
      try await channel.send(AppMessage.stop.bytes)
      while let message = await messages.next(), message.first != 0x03 {}
      try await session.close()
      channel.close()
      await visit.end()
    }
    func text(_ times: [UInt64]) -> String {
      String(Double(times.sorted()[times.count / 2] / 100_000) / 10)
    }
    say(
      "\(link): connected \(text(times.connected)) ms, 0x0A to 0x01 \(text(times.offered)) ms, "
        + "connection to first distance \(text(times.distance)) ms")
  }

  private static func configuration(
    _ messages: inout AsyncStream<[UInt8]>.Iterator
  ) async throws -> AccessoryConfigurationData {
    guard let message = await messages.next(),
      case .accessoryConfigurationData(let data) = try AccessoryMessage(message)
    else { fail("0x0A is not answered with 0x01") }
    return try AccessoryConfigurationData(data)
  }
}
