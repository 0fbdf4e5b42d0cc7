// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import UCI
import UWB
import UWBTestSupport

@Suite(.computes) struct PcapngTests {
  @Test func whatIsWrittenIsRead() throws {
    let capture = try CaptureReader.read(Samples.file().bytes)
    #expect(capture.format == .pcapng)
    #expect(capture.problems.isEmpty)
    #expect(capture.packets.map(\.bytes) == Samples.all)
    #expect(
      capture.packets.map(\.direction) == [.outbound, .inbound, .inbound, .inbound, .inbound])
    #expect(capture.packets.first?.time == 1_700_000_000_000_000_001)
    #expect(capture.packets.last?.time == 1_700_000_000_000_000_005)
  }

  @Test func theBlocksHaveTheirLayout() {
    #expect(
      PcapngEncoder.preamble()
        == bytes(
          """
          0a0d0d0a 1c000000 4d3c2b1a 01000000 ffffffffffffffff 1c000000
          01000000 20000000 2b01 0000 00000000 0900 0100 09000000 0000 0000 20000000
          """))
    // shb_hardware, shb_os, shb_userappl; if_name, if_description, if_tsresol.
    let described = PcapngEncoder.preamble(
      .init(
        hardware: "ab", os: "c", userApplication: "defg", interfaceName: "h",
        interfaceDescription: "ij"))
    #expect(
      described
        == bytes(
          """
          0a0d0d0a 38000000 4d3c2b1a 01000000 ffffffffffffffff
          0200 0200 61620000 0300 0100 63000000 0400 0400 64656667 0000 0000 38000000
          01000000 30000000 2b01 0000 00000000
          0200 0100 68000000 0300 0200 696a0000 0900 0100 09000000 0000 0000 30000000
          """))
    var encoder = PcapngEncoder()
    #expect(
      encoder.packet(.outbound, Samples.reset, time: 0x1_0000_0002)
        == bytes(
          """
          06000000 34000000 00000000 01000000 02000000 05000000 05000000 2000000100000000
          0200 0400 02000000 00000000 34000000
          """))
  }

  /// Messages of phones are beside the packets, and are not packets themselves.
  @Test func messagesOfPhonesAreReadInTheirPlaces() throws {
    var encoder = PcapngEncoder()
    var file = PcapngEncoder.preamble()
    file += encoder.packet(.outbound, Samples.reset, time: 1)
    file += encoder.message(
      .inbound, [3, 0, 1, 0], time: 2, comment: "android from phone with app 1")
    file += encoder.packet(.inbound, Samples.resetResponse, time: 3)
    file += encoder.message(
      .outbound, [3, 1, 0, 0], time: 4, comment: "android from accessory with app 1")
    let capture = try CaptureReader.read(file)
    #expect(capture.problems.isEmpty)
    #expect(capture.packets.map(\.bytes) == [Samples.reset, Samples.resetResponse])
    #expect(capture.messages.map(\.bytes) == [[3, 0, 1, 0], [3, 1, 0, 0]])
    #expect(capture.messages.map(\.packets) == [1, 2])
    #expect(capture.messages.map(\.isInbound) == [true, false])
    #expect(capture.messages.map(\.time) == [2, 4])
    #expect(capture.messages.first?.comment == "android from phone with app 1")
  }

  @Test(arguments: [false, true]) func bothByteOrders(_ bigEndian: Bool) throws {
    var blocks = Blocks(bigEndian: bigEndian)
    blocks.section()
    blocks.interface(
      options: blocks.option(9, [9]) + blocks.option(14, blocks.number(Int64(2)))
        + blocks.option(0, []))
    blocks.interface(linkType: 293)
    blocks.interface(linkType: 1)
    blocks.interface(options: blocks.option(9, [UInt8(0x8A)]) + blocks.option(0, []))
    // Statistics, and a block of an unknown type.
    blocks.block(5, Array(repeating: 1, count: 12))
    blocks.block(0x8000_0001, [1, 2, 3, 4])
    blocks.packet(Samples.ready, ticks: 7, flags: 1)
    blocks.packet(Samples.reset, ticks: 5, interface: 1, flags: 2)
    blocks.packet(Samples.ready, interface: 2)
    // The first packet has the time 1.5 s, in units of 1/1024 s. It has no flags, so its type gives
    // the direction.
    blocks.packet(Samples.resetResponse, ticks: 1_536, interface: 3)
    blocks.packet(Samples.ready, originalLength: 60)
    blocks.block(3, blocks.number(UInt32(5)) + Samples.ready)
    let capture = try CaptureReader.read(blocks.bytes)
    #expect(
      capture.packets == [
        CapturedPacket(time: 2_000_000_007, direction: .inbound, bytes: Samples.ready),
        CapturedPacket(time: 5_000, direction: .outbound, bytes: Samples.reset),
        CapturedPacket(time: 1_500_000_000, direction: .inbound, bytes: Samples.resetResponse),
        CapturedPacket(time: nil, direction: .inbound, bytes: Samples.ready),
      ])
    #expect(capture.problems.count == 2)
    #expect(capture.problems.last == .otherLinkType(1, count: 1))
  }

  /// if_tsresol: powers of ten, or of two with bit 7.
  @Test(
    arguments: [
      (0, 3, 3_000_000_000), (6, 3, 3_000), (9, 3, 3), (12, 5_999, 5), (0x7F, 5, 0),
      (0x80, 3, 3_000_000_000), (0x80 | 1, 3, 1_500_000_000), (0x80 | 30, 1 << 29, 500_000_000),
      (0x80 | 63, 1 << 62, 500_000_000), (0x80 | 63, 3 << 62, 1_500_000_000), (0x80 | 64, 5, 0),
    ] as [(UInt8, UInt64, UInt64)])
  func everyUnitOfTime(_ resolution: UInt8, _ ticks: UInt64, _ nanoseconds: UInt64) throws {
    var blocks = Blocks(bigEndian: false)
    blocks.section()
    blocks.interface(options: blocks.option(9, [resolution]) + blocks.option(0, []))
    blocks.packet(Samples.ready, ticks: ticks)
    #expect(try CaptureReader.read(blocks.bytes).packets.map(\.time) == [nanoseconds])
  }

  /// The block repeats its length, 28, after the options.
  @Test func anOptionThatIsLongerThanItsBlockIsNone() throws {
    var blocks = Blocks(bigEndian: false)
    blocks.section()
    blocks.interface(options: blocks.number(UInt16(9)) + blocks.number(UInt16(1)))
    blocks.packet(Samples.ready, ticks: 3)
    let capture = try CaptureReader.read(blocks.bytes)
    #expect(capture.packets.map(\.time) == [3_000] && capture.problems.isEmpty)
  }

  /// The flags follow the padded packet, and contradict its type.
  @Test(arguments: 1...8) func packetsOfAnyLengthArePadded(_ count: Int) throws {
    let packet = [0x60, 0x01, 0x00, UInt8(count)] + [UInt8](repeating: 1, count: count)
    var blocks = Blocks(bigEndian: false)
    blocks.section()
    blocks.interface()
    blocks.packet(packet, flags: 2)
    let capture = try CaptureReader.read(blocks.bytes)
    #expect(capture.packets.map(\.bytes) == [packet])
    #expect(capture.packets.map(\.direction) == [.outbound])
  }

  /// A packet block of the old type, which has 16 bits of interface, and a simple block that is cut
  /// by the interface.
  @Test func olderBlocksOfPackets() throws {
    var blocks = Blocks(bigEndian: false)
    blocks.section()
    blocks.interface(snapLength: 4)
    let lengths = blocks.number(UInt32(5)) + blocks.number(UInt32(5))
    let time = blocks.number(UInt32(0)) + blocks.number(UInt32(7))
    let padded = Samples.ready + [0, 0, 0]
    blocks.block(2, blocks.number(UInt16(0)) + blocks.number(UInt16(3)) + time + lengths + padded)
    let simple = blocks.bytes.count
    blocks.block(3, blocks.number(UInt32(5)) + Samples.ready.prefix(4))
    let damaged = blocks.bytes.count
    blocks.block(2, blocks.number(UInt16(1)) + blocks.number(UInt16(0)) + time + lengths + padded)
    let capture = try CaptureReader.read(blocks.bytes)
    #expect(
      capture.packets == [CapturedPacket(time: 7_000, direction: .inbound, bytes: Samples.ready)])
    #expect(capture.problems == [.cutPacket(offset: simple), .damaged(offset: damaged)])
  }

  @Test func sectionsOfDifferentByteOrders() throws {
    var first = Blocks(bigEndian: true)
    first.section()
    first.interface()
    first.packet(Samples.ready)
    let capture = try CaptureReader.read(first.bytes + Samples.file().bytes)
    #expect(capture.packets.count == 1 + Samples.all.count)
    #expect(capture.problems.isEmpty)
  }

  @Test func cutAnywhereTheWholeBlocksRemain() throws {
    let (file, ends) = Samples.file()
    let preamble = PcapngEncoder.preamble(
      .init(
        hardware: "board", os: "Linux", userApplication: "tests", interfaceName: "/dev/ttyACM0",
        interfaceDescription: "UCI"))
    for length in 0...file.count {
      let whole = ends.prefix { $0 <= length }.count
      guard let capture = try? CaptureReader.read(Array(file[..<length])) else {
        #expect(length < 4)
        continue
      }
      #expect(capture.packets.map(\.bytes) == Array(Samples.all[..<whole]))
      let atBoundary = ends.contains(length) || length == preamble.count
      if atBoundary {
        #expect(capture.problems.isEmpty)
      } else if length > preamble.count {
        #expect(
          capture.problems == [.truncated(offset: whole == 0 ? preamble.count : ends[whole - 1])])
      }
    }
  }

  @Test func aFileIsReadInPieces() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    var blocks = Blocks(bigEndian: false)
    blocks.section()
    blocks.interface()
    for _ in 0..<10_000 { blocks.packet(Samples.ready) }
    blocks.bytes.removeLast()
    let path = folder.path("capture")
    try Data(blocks.bytes).write(to: URL(filePath: path))
    var (packets, problems) = ([CapturedPacket](), [CaptureProblem]())
    var pieces = 0
    try CaptureReader.read(asItComes: path) {
      pieces += 1
      packets += $0.packets
      problems += $0.problems
    } line: { _ in
      Issue.record("it is no text")
    }
    let whole = try CaptureReader.read(blocks.bytes)
    #expect(packets == whole.packets && packets.count == 9_999)
    #expect(problems == whole.problems && problems.count == 1)
    #expect(pieces > 2)
  }

  @Test func blocksThatContradictThemselves() throws {
    var blocks = Blocks(bigEndian: false)
    blocks.section()
    blocks.packet(Samples.ready)
    blocks.interface()
    let lengthOfPacket = blocks.bytes.count + 20
    blocks.packet(Samples.ready)
    let good = blocks.bytes.count
    blocks.packet(Samples.ready)
    // A packet without an interface; a packet that claims 4 GiB; a length that is not repeated.
    blocks.bytes[lengthOfPacket + 3] = 0xFF
    blocks.bytes[blocks.bytes.count - 4] ^= 4
    let capture = try CaptureReader.read(blocks.bytes)
    #expect(capture.packets.isEmpty)
    #expect(capture.problems.count == 3)
    #expect(capture.problems.last == .damaged(offset: good))
  }

  @Test func theListOfProblemsIsBounded() throws {
    var blocks = Blocks(bigEndian: false)
    blocks.section()
    for _ in 0..<1_000 { blocks.packet(Samples.ready) }
    let capture = try CaptureReader.read(blocks.bytes)
    #expect(capture.problems.count == 100)
    #expect(capture.problems.last == .andMore(901))
  }
}
