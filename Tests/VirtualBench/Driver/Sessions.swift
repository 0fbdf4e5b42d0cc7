// SPDX-License-Identifier: Apache-2.0

import Glibc
import UCI
import UWBDriver
import UWBLink

/// `sessions DEVICE COUNT`: one session ranges while another one is created, configured and removed so
/// many times; commands and notifications collide all the while, and none may be lost.
enum Sessions {
  static func run(_ arguments: [String]) async {
    guard arguments.count == 2, let count = Int(arguments[1]) else { fail("sessions DEVICE COUNT") }
    do {
      let device = try await UWBDevice.open(LinkEndpoint(arguments[0]))
      var ranging = SessionConfiguration(
        role: .controller, sessionID: 42, address: MACAddress(0x0000), peers: [MACAddress(0x0001)])
      ranging.interval = 20
      ranging.slotsPerRound = 6
      let (rounds, lost) = try await device.withSession(ranging) { session in
        let measurements = session.measurements()
        try await session.start()
        for number in 1...count {
          let other = SessionConfiguration(
            role: .controller, sessionID: UInt32(1_000 + number), address: MACAddress(0x0010),
            peers: [MACAddress(0x0011)])
          try await device.withSession(other) { _ in }
        }
        // What came meanwhile, up to what the ring of a stream keeps.
        var (rounds, lost) = (0, UInt64(0))
        for try await measurement in measurements.prefix(20) {
          rounds += 1
          lost += UInt64(measurement.lostBefore)
        }
        return (rounds, lost)
      }
      let statistics = device.statistics
      await device.close()
      say("\(count) sessions, \(rounds) rounds taken, \(lost) lost, \(statistics)")
    } catch {
      fail("\(error)")
    }
  }
}
