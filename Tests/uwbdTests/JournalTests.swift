// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import UWBService
@testable import uwbd

@Suite struct JournalTests {
  @Test func fieldsAreThoseOfTheJournal() {
    let id = JournalMessage.chipOpened.rawValue
    let entry = JournalLog.entry("a", 5, [("chip", "b"), ("pid", "7"), ("MESSAGE_ID", id)])
    #expect(
      String(decoding: entry, as: UTF8.self)
        == "MESSAGE=a\nPRIORITY=5\nSYSLOG_IDENTIFIER=uwbd\nUWB_CHIP=b\nUWB_PEER_PID=7\n"
        + "MESSAGE_ID=\(id)\n")
    // The field has a length, so its text cannot add another field.
    let broken = JournalLog.entry("a", 5, [("cause", "b\nPRIORITY=0")])
    let value = Array("b\nPRIORITY=0".utf8)
    var field = Array("UWB_CAUSE\n".utf8)
    field += [UInt8(value.count), 0, 0, 0, 0, 0, 0, 0]
    field += value
    field.append(10)
    #expect(broken.suffix(value.count + 19) == field)
  }
}
