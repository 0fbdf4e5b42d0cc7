// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Testing
import UCI
import UWB

@Suite struct ScheduleTests {
  @Test(arguments: [
    (UInt32(200), 1, UInt8(25), UInt16(2_400)), (5, 8, 13, 400), (20, 1, 6, 2_400),
    (20, 8, 13, 1_800), (1, 1, 6, 200),
  ])
  func slotsFitIntoTheInterval(
    _ interval: UInt32, _ controlees: Int, _ slots: UInt8, _ duration: UInt16
  ) {
    let schedule = SessionConfiguration.schedule(interval: interval, controlees: controlees)
    #expect(schedule.slots == slots && schedule.duration == duration)
    #expect(Int(schedule.slots) * Int(schedule.duration) <= Int(interval) * 1_200)
  }

  @Test func givenValuesAreKept() {
    let schedule = SessionConfiguration.schedule(
      interval: 200, slot: 1_200, slots: 30, controlees: 1)
    #expect(schedule.slots == 30 && schedule.duration == 1_200)
  }

  @Test func eachPeerGetsTheOtherEnd() {
    var own = SessionConfiguration(
      role: .controller, sessionID: 7, address: MACAddress(0),
      peers: [MACAddress(1), MACAddress(2)])
    own.channel = 5
    own.additional = [TLV(AppConfigID.deviceRole.rawValue, [1]), TLV(0xE3, [4])]
    let others = own.mirrored
    #expect(others.map(\.address) == own.peers)
    #expect(others.allSatisfy { $0.role == .controlee && $0.peers == [own.address] })
    #expect(others.allSatisfy { $0.channel == 5 && $0.sessionID == 7 })
    #expect(others[0].additional == [TLV(AppConfigID.deviceRole.rawValue, [0]), TLV(0xE3, [4])])
  }
}
