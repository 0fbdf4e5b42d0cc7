// SPDX-License-Identifier: Apache-2.0

import UCI
import UWB
import UWBLink

/// `rounds DEVICE COUNT FILE [--controlee]`: ranges for this number of rounds, and records the
/// arrival of each measurement on a thread that waits for it. A controlee ends with the controller.
enum Rounds {
  static func run(_ arguments: [String]) async {
    var arguments = arguments
    let isControlee = arguments.last == "--controlee"
    if isControlee { arguments.removeLast() }
    guard arguments.count == 3, let count = Int(arguments[1]) else {
      fail("rounds DEVICE COUNT FILE [--controlee]")
    }
    do {
      let device = try await UWBDevice.open(LinkEndpoint(arguments[0]))
      let lines = try await range(on: device, count, isControlee)
      let statistics = device.statistics
      await device.close()
      Stamps.save(lines, to: arguments[2])
      say("\(lines.count) rounds, \(statistics)")
    } catch {
      fail("\(error)")
    }
  }

  private static func range(
    on device: UWBDevice, _ count: Int, _ isControlee: Bool
  ) async throws -> [String] {
    let own = MACAddress(isControlee ? 0x0001 : 0x0000)
    let other = MACAddress(isControlee ? 0x0000 : 0x0001)
    var configuration = SessionConfiguration(
      role: isControlee ? .controlee : .controller, sessionID: 42, address: own, peers: [other])
    configuration.interval = 20
    configuration.slotsPerRound = 6
    return try await device.withSession(configuration) { session in
      let measurements = session.measurements()
      try await session.start()
      return try take(measurements, count, patience: .seconds(isControlee ? 3 : 30))
    }
  }

  /// Waits on this thread, as does a program with a thread for measurements.
  private static func take(
    _ measurements: RangingStream<RangingMeasurement>, _ count: Int, patience: Duration
  ) throws -> [String] {
    var lines: [String] = []
    while lines.count < count, let measurement = try measurements.next(timeout: patience) {
      lines.append("\(measurement.sequenceNumber) \(monotonic())")
      if measurement.lostBefore > 0 { fail("\(measurement.lostBefore) were dropped by the ring") }
    }
    return lines
  }
}
