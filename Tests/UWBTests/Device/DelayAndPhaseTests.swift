// SPDX-License-Identifier: Apache-2.0
import DriverTestSupport
import Testing
import UCI
import UWBSimulator

@testable import UWB

/// Computed values that are written into a chip's calibration.
@Suite(.timeLimit(.minutes(10))) struct DelayAndPhaseTests {
  /// A Qorvo chip with these values.
  private static func withDevice(
    _ values: [String: [UInt8]], _ body: (UWBDevice) async throws -> Void
  ) async throws {
    let chip = try ScriptedChip(greeting: [DWM3001CDK.ready]) { packet, _ in
      guard packet.starts(with: [0x2E, 0x2B]) else { return DWM3001CDK.answers(packet) }
      var rest = packet.dropFirst(6)
      var payload: [UInt8] = [0x00, packet[4], packet[5]]
      while let length = rest.first {
        let name = rest.dropFirst().prefix(Int(length))
        let value = values[String(decoding: name, as: UTF8.self)]
        payload += [length] + name + [value == nil ? 0x04 : 0x00, UInt8(value?.count ?? 0)]
        payload += value ?? []
        rest = rest.dropFirst(1 + Int(length))
      }
      return [[0x4E, 0x2B, 0x00, UInt8(payload.count)] + payload]
    }
    let device = try await UWBDevice.open(chip.endpoint, options: .patient)
    try await body(device)
    await device.close()
  }

  private static func delays(_ value: UInt32 = 16_405) -> [String: [UInt8]] {
    var values: [String: [UInt8]] = [:]
    for antenna in 0...3 { values["ant\(antenna).ch9.ant_delay"] = value.littleEndianBytes }
    return values
  }

  // A tick is 4.69 mm.
  @Test(
    arguments: [
      (0.469036, [], 16_505), (-0.469036, [], 16_305), (0.0023, [], 16_405), (0.0024, [], 16_406),
      (0.469036, [3, 1], 16_505),
    ] as [(Double, [UInt8], UInt32)])
  func delaysOfAFirmwareWithOneAntenna(
    _ metres: Double, _ antennas: [UInt8], _ ticks: UInt32
  ) async throws {
    try await Self.withDevice(Self.delays()) { device in
      let list = try await device.antennaDelays(
        channel: 9, shorteningBy: metres, antennas: antennas)
      let numbers = antennas.isEmpty ? [0] : antennas
      #expect(list.map(\.name) == numbers.map { "ant\($0).ch9.ant_delay" })
      #expect(list.allSatisfy { $0.bytes == ticks.littleEndianBytes })
    }
  }

  @Test(
    "The antennas that a set ranges with",
    arguments: [
      ([0], 1, [1, 0xFF, 0xFF], false, [0, 1]), ([0], 2, [0xFF, 2, 3], false, [0, 2]),
      ([3], 0, [1, 2, 3], false, [3]), ([0], 2, [0, 1, 0xFF], true, [0, 1, 2, 3]),
      ([0], 3, [0xFF, 1, 0xFF], true, [0, 2, 3]), ([0xFF], 0xFF, [1, 2, 3], false, [0]),
      ([4], 1, [9, 1, 1], false, [0]),
    ] as [([UInt8], UInt8, [UInt8], Bool, [UInt8])])
  func antennas(
    _ sending: [UInt8], _ count: UInt8, _ receiving: [UInt8], _ arePairs: Bool, _ used: [UInt8]
  ) async throws {
    var values = Self.delays()
    values["ant_set0.tx_ant_path"] = sending
    values["ant_set0.nb_rx_ants"] = [count]
    values["ant_set0.rx_ants"] = receiving
    values["ant_set0.rx_ants_are_pairs"] = [arePairs ? 1 : 0]
    values["ant_pair0.ant_paths"] = [1, 2]
    values["ant_pair1.ant_paths"] = [2, 3]
    try await Self.withDevice(values) { device in
      let list = try await device.antennaDelays(channel: 9, shorteningBy: 0)
      #expect(list.map(\.name) == used.map { "ant\($0).ch9.ant_delay" })
    }
  }

  @Test("A delay stays between nothing and what its bytes hold")
  func limits() async throws {
    let tick = 0.00469036
    try await Self.withDevice(Self.delays(.max - 5)) { device in
      let list = try await device.antennaDelays(channel: 9, shorteningBy: 5 * tick)
      #expect(list.map(\.bytes) == [[0xFF, 0xFF, 0xFF, 0xFF]])
      for metres in [6 * tick, 1e9, -1e9, .infinity, .nan] {
        await #expect(throws: CalibrationError.self, "\(metres)") {
          try await device.antennaDelays(channel: 9, shorteningBy: metres)
        }
      }
    }
    try await Self.withDevice(Self.delays(5)) { device in
      let list = try await device.antennaDelays(channel: 9, shorteningBy: -5 * tick)
      #expect(list.map(\.bytes) == [[0, 0, 0, 0]])
      let error = await #expect(throws: CalibrationError.self) {
        try await device.antennaDelays(channel: 9, shorteningBy: -6 * tick)
      }
      #expect(error?.description.contains("it takes 0 to 4294967295") == true)
    }
  }

  // MARK: phases

  private static let table = [(-1.0, -3.0), (0.0, 0.0), (1.0, 1.0)].map { (angle: $0, phase: $1) }

  private static func words(_ bytes: [UInt8]) -> [Double] {
    stride(from: 0, to: bytes.count, by: 2).map {
      Double(Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)) / 2_048
    }
  }

  @Test("A table has 31 points between its ends, by rising phases", arguments: [1.0, -1.0])
  func tables(_ turn: Double) async throws {
    let values = [
      "ant_pair1.ch9.pdoa.offset": [0x00, 0x08], "ant_pair1.ch9.pdoa.lut_id": [0xFF],
      "pdoa_lut1.data": [UInt8](repeating: 0, count: 124),
    ]
    try await Self.withDevice(values) { device in
      let (entries, missing) = try await device.phaseCalibration(
        channel: 9, pair: 1, offset: 0.5, table: Self.table.map { ($0.angle, turn * $0.phase) })
      #expect(missing == nil)
      #expect(
        entries.map(\.name) == [
          "ant_pair1.ch9.pdoa.offset", "pdoa_lut1.data", "ant_pair1.ch9.pdoa.lut_id",
        ])
      #expect(entries[0].bytes == [0x00, 0x0C], "1 and a half")
      #expect(entries[2].bytes == [1])
      let words = Self.words(entries[1].bytes)
      try #require(words.count == 62)
      for point in 0...30 {
        let angle = turn * (-1 + Double(point) / 15)
        #expect(abs(words[2 * point + 1] - angle) < 0.0005, "\(point)")
        let phase = turn * (angle < 0 ? 3 * angle : angle)
        #expect(abs(words[2 * point] - phase) < 0.0005, "\(point)")
      }
    }
  }

  /// The rounded sum -0.01 + (1.07 - -0.01) is greater than 1.07.
  @Test("The last point is that of the table, however its angle is rounded")
  func lastPoint() async throws {
    let values = [
      "ant_pair0.ch9.pdoa.offset": [0, 0], "ant_pair0.ch9.pdoa.lut_id": [0],
      "pdoa_lut0.data": [UInt8](repeating: 0, count: 124),
    ]
    try await Self.withDevice(values) { device in
      let table = [(-0.01, 0.0), (0.5, 1.0), (1.07, 3.0)].map { (angle: $0, phase: $1) }
      let (entries, _) = try await device.phaseCalibration(
        channel: 9, pair: 0, offset: 0, table: table)
      #expect(Self.words(entries[1].bytes)[60] == 3)
    }
  }

  @Test("Offsets stay within a turn, phases within their bytes")
  func wrapping() async throws {
    let values = [
      "ant_pair0.ch5.pdoa.offset": [0x00, 0x10], "ant_pair0.ch5.pdoa.lut_id": [0xFF],
      "pdoa_lut0.data": [UInt8](repeating: 0, count: 124),
    ]
    try await Self.withDevice(values) { device in
      let table = [(angle: -1.0, phase: -20.0), (angle: 1.0, phase: 20.0)]
      let (entries, _) = try await device.phaseCalibration(
        channel: 5, pair: 0, offset: 2, table: table)
      #expect(abs(Self.words(entries[0].bytes)[0] - (4 - 2 * .pi)) < 0.0005)
      let words = Self.words(entries[1].bytes)
      #expect(words.first == -16 && words[60] == 32_767 / 2_048)
    }
  }

  @Test("What a firmware cannot take is said, and the offset is written")
  func missing() async throws {
    var values = ["ant_pair0.ch9.pdoa.offset": [0, 0] as [UInt8]]
    func calibration(
      _ table: [(angle: Double, phase: Double)] = Self.table
    ) async throws -> (entries: [CalibrationEntry], missing: String?) {
      var result: (entries: [CalibrationEntry], missing: String?) = ([], nil)
      try await Self.withDevice(values) { device in
        result = try await device.phaseCalibration(channel: 9, pair: 0, offset: 1, table: table)
      }
      return result
    }
    for (present, part) in [
      (nil, "This firmware has no pdoa_lut0.data"), (120, "does not fit"), (124, "does not fit"),
    ] as [(Int?, String)] {
      values["pdoa_lut0.data"] = present.map { [UInt8](repeating: 0, count: $0) }
      values["ant_pair0.ch9.pdoa.lut_id"] = present.map { _ in [0] }
      let result = try await calibration(present == 124 ? [Self.table[0]] : Self.table)
      #expect(result.entries.map(\.bytes) == [[0x00, 0x08]])
      #expect(result.missing?.contains(part) == true)
    }
    values["ant_pair0.ch9.pdoa.offset"] = [0]
    await #expect(
      throws: CalibrationError.wrongLength(
        name: "ant_pair0.ch9.pdoa.offset", expected: 2, given: 1)
    ) { try await calibration() }
  }

  @Test("NXP's chips have all antennas, and all pairs, in one value")
  func numbered() async throws {
    try await CalibrationTests.withDevice(.sr250) { device in
      // A quarter of the delay is a few centimetres of distance.
      for (antennas, bytes) in [
        ([], "04 01 084a 02 024a 03 064a 04 f949"), ([2], "04 01 7848 02 024a 03 7648 04 6948"),
      ] as [([UInt8], String)] {
        let list = try await device.antennaDelays(
          channel: 5, shorteningBy: 1, antennas: antennas)
        #expect(list.map(\.bytes) == [UWBTests.bytes(bytes)])
      }
      let degree = Double.pi / 180
      for (pair, offset, bytes) in [
        (1, 10 * degree, "02 01 d23f 02 46c2"), (2, -100 * degree, "02 01 d23a 02 4644"),
      ] as [(UInt8, Double, String)] {
        let (entries, missing) = try await device.phaseCalibration(
          channel: 5, pair: pair, offset: offset, table: Self.table)
        #expect(entries.map(\.bytes) == [UWBTests.bytes(bytes)])
        #expect(missing?.contains("only the offset") == true)
      }
      await #expect(throws: CalibrationError.self) {
        try await device.phaseCalibration(channel: 5, pair: 3, offset: 0, table: Self.table)
      }
    }
    try await CalibrationTests.withDevice(.fira1) { device in
      let error = CalibrationError.unsupported(chip: "UCI device")
      await #expect(throws: error) { try await device.antennaDelays(channel: 5, shorteningBy: 0) }
      await #expect(throws: error) {
        try await device.phaseCalibration(channel: 5, pair: 1, offset: 0, table: Self.table)
      }
    }
  }
}
