// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI

@testable import UWBSimulator

/// A recorded chip without input and output of its own.
@Suite struct RecordedChipTests {
  private static let millisecond: UInt64 = 1_000_000

  /// Lines of `> bytes` (host) and `< bytes` (chip), with milliseconds in front where given.
  private static func recording(_ text: String) -> Recording {
    Recording(
      text.split(separator: "\n").map { line in
        let parts = line.split(whereSeparator: { $0 == ">" || $0 == "<" })
        let time = parts.count > 1 ? UInt64(parts[0].filter(\.isNumber)) : nil
        return Recording.Packet(
          time: time.map { $0 * millisecond },
          direction: line.contains(">") ? .outbound : .inbound,
          bytes: bytes(String(parts[parts.count - 1])))
      })
  }

  private static func say(
    _ chip: inout RecordedChip, _ hex: String, at milliseconds: UInt64 = 0
  ) -> [String] {
    chip.receive(bytes(hex), at: milliseconds * millisecond)
    return heard(&chip, at: milliseconds)
  }

  private static func heard(_ chip: inout RecordedChip, at milliseconds: UInt64) -> [String] {
    chip.takeOutput(at: milliseconds * millisecond).map { text($0) }
  }

  private static func text(_ bytes: [UInt8]) -> String {
    bytes.map { String(UInt16($0) + 0x100, radix: 16).dropFirst() }.joined()
  }

  /// A measurement without a peer.
  private static func info(_ sequence: UInt8, token: UInt8 = 1) -> String {
    "62000019\(text([sequence]))000000\(text([token]))00000000c800000001"
      + String(repeating: "00", count: 11)
  }

  @Test func `Repeats a retry before the response`() {
    var chip = RecordedChip(
      Self.recording("> 2000000100\n< 600700010a\n> 2000000100\n< 4000000100\n< 6001000101"))
    #expect(Self.say(&chip, "2000000100") == ["600700010a"])
    #expect(Self.say(&chip, "2000000100") == ["4000000100", "6001000101"])
    // The replay starts again from the beginning.
    #expect(Self.say(&chip, "2000000100") == ["600700010a"])
    #expect(chip.statistics.exact == 3)
  }

  @Test func `Omits commands that a sleeping chip missed`() {
    var chip = RecordedChip(Self.recording("> 20030000\n> 20030000\n< 400300020000"))
    #expect(Self.say(&chip, "20030000") == ["400300020000"])
  }

  @Test func `Refuses commands that are not in the recording`() {
    var chip = RecordedChip(Self.recording("> 2f020000\n< 4f0200020000"))
    #expect(Self.say(&chip, "21050000") == ["4105000108"])
    #expect(Self.say(&chip, "2f030000") == ["4f03000108"])
    #expect(Self.say(&chip, "2e0000020000") == ["4e00000107"])
    #expect(chip.statistics.unknown.values.reduce(0, +) == 3)
    // The first commands of every host are an exception.
    #expect(Self.say(&chip, "2000000100") == ["4000000100", "6001000101"])
    #expect(Self.say(&chip, "20020000").first?.hasPrefix("4002000a000200") == true)
    #expect(chip.statistics.invented[.coreGetDeviceInfo] == 1)
  }

  @Test func `Answers different contents with the last of a series`() {
    var chip = RecordedChip(
      Self.recording(
        """
        > 2103000801000000 01 04 01 09
        < 410300020000
        > 2103000801000000 01 02 01 00
        < 410300020000
        < 6102000601000000 03 00
        """))
    #expect(
      Self.say(&chip, "210300080100000001040105") == ["410300020000", "61020006010000000300"])
    #expect(chip.statistics.similar == 1)
    #expect(Self.say(&chip, "210300080100000001040109") == ["410300020000"])
  }

  @Test func `Sends measurements at their times until the session ends`() {
    let recording = Self.recording(
      """
      10 > 2200000401000000
      11 < 4200000100
      12 < 61020006010000000200
      50 > 2203000401000000
      51 < 420300050000000000
      60 < \(Self.info(0))
      110 < \(Self.info(1))
      160 < \(Self.info(2))
      170 > 2201000401000000
      171 < 4201000100
      172 < 61020006010000000300
      """)
    var chip = RecordedChip(recording)
    // This host does not ask for the count.
    #expect(Self.say(&chip, "2200000401000000", at: 100) == [])
    #expect(chip.nextDeadline == 101 * Self.millisecond)
    #expect(Self.heard(&chip, at: 149) == ["4200000100", "61020006010000000200"])
    #expect(Self.heard(&chip, at: 150) == [Self.info(0)])
    #expect(Self.heard(&chip, at: 250) == [Self.info(1), Self.info(2)])
    #expect(chip.nextDeadline == nil)
    // The session is stopped earlier than in the recording.
    _ = Self.say(&chip, "2200000401000000", at: 300)
    #expect(Self.heard(&chip, at: 352).count == 3)
    _ = Self.say(&chip, "2201000401000000", at: 352)
    #expect(Self.heard(&chip, at: 900) == ["4201000100", "61020006010000000300"])
    // The recording is played at twice the speed, and without delays.
    chip = RecordedChip(recording, speed: 2)
    _ = Self.say(&chip, "2200000401000000")
    #expect(Self.heard(&chip, at: 50).count == 4)
    chip = RecordedChip(recording, speed: .infinity)
    #expect(Self.say(&chip, "2200000401000000").count == 5)
  }

  @Test func `Spaces measurements by the interval if there are no times`() {
    var chip = RecordedChip(
      Self.recording("> 2200000401000000\n< 4200000100\n< \(Self.info(0))\n< \(Self.info(1))"))
    #expect(Self.say(&chip, "2200000401000000") == ["4200000100"])
    #expect(Self.heard(&chip, at: 399) == [Self.info(0)])
    #expect(Self.heard(&chip, at: 400) == [Self.info(1)])
  }

  @Test func `Repeats measurements`() {
    var chip = RecordedChip(
      Self.recording(
        "0 > 2200000401000000\n0 < 4200000100\n5 < \(Self.info(7))\n15 < \(Self.info(8))"),
      repeats: true)
    _ = Self.say(&chip, "2200000401000000")
    #expect(
      Self.heard(&chip, at: 45)
        == [Self.info(7), Self.info(8), Self.info(9), Self.info(10), Self.info(11)])
    _ = Self.say(&chip, "2000000100", at: 46)
    #expect(Self.heard(&chip, at: 900) == [])
  }

  @Test func `Uses the session ID of the host before FiRa 2.0`() {
    var chip = RecordedChip(
      Self.recording(
        """
        > 210000052a00000000
        < 4100000100
        < 610200062a0000000000
        > 220000042a000000
        < 4200000100
        < \(Self.info(0, token: 0x2A))
        """), speed: .infinity)
    #expect(Self.say(&chip, "210000050700000000") == ["4100000100", "61020006070000000000"])
    #expect(Self.say(&chip, "2200000407000000") == ["4200000100", Self.info(0, token: 7)])
    #expect(chip.statistics.exact == 1)
  }

  @Test func `Translates the session ID in first segments only`() {
    let first = "72000008" + "00000000" + "2a000000"
    let last = "62000008" + "00000000" + "2a000000"
    var chip = RecordedChip(
      Self.recording(
        """
        > 210000052a00000000
        < 4100000100
        > 220000042a000000
        < 4200000100
        < \(first)
        < \(last)
        """), speed: .infinity)
    _ = Self.say(&chip, "210000050700000000")
    #expect(
      Self.say(&chip, "2200000407000000")
        == ["4200000100", first.replacing("2a", with: "07"), last])
  }
}
