// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI
import UCIReference
import UCITestSupport

/// NXP's data after the measurements, and the diagnostics of Qorvo and Android.
@Suite struct VendorTailTests {
  // Constructed by the layout, except for the first, which is from a published log.
  private let log = "0e00 00 00 00 01 01 00 01 01 000000000000"

  /// The vendor's data as values; nil where there is none.
  private struct Tail: Equatable {
    var measurements: [Measurement] = []
    var antennas, debugAntennas: [UInt8]
    var wifiCoexistence, rxMode: UInt8
    var messageControl: UInt32?
    var txAntenna: UInt8?
    var authenticationTag: [UInt8]?

    struct Measurement: Equatable {
      var angles: [NXPVendorTail.AngleEntry] = []
      var receivers: [NXPVendorTail.ReceiverEntry] = []
      var pairs: [UInt8] = []
      var secondDistance: UInt16?
      var distanceMillimetres: UInt32?
    }

    init?(_ bytes: [UInt8], _ count: Int) {
      guard let tail = NXPVendorTail(bytes.span.bytes, measurements: count) else { return nil }
      (antennas, debugAntennas) = (tail.antennas, tail.debugAntennas)
      (wifiCoexistence, rxMode) = (tail.wifiCoexistence, tail.rxMode)
      (messageControl, txAntenna) = (tail.messageControl, tail.txAntenna)
      authenticationTag = tail.authenticationTag
      for index in 0..<tail.count {
        var measurement = Measurement()
        for angle in 0..<tail.angleCount {
          measurement.angles.append(tail.angle(angle, of: index))
          measurement.pairs.append(tail.pair(angle))
        }
        for receiver in 0..<tail.receiverCount {
          measurement.receivers.append(tail.receiver(receiver, of: index))
        }
        measurement.secondDistance = tail.secondDistance(of: index)
        measurement.distanceMillimetres = tail.distanceMillimetres(of: index)
        measurements.append(measurement)
      }
    }
  }

  private func tail(_ text: String, _ count: Int = 1) -> Tail? { Tail(bytes(text), count) }

  @Test("The vendor's part is bounded by its length, whatever its counts say")
  func bounded() throws {
    let published = try #require(tail(log))
    #expect(published.antennas == [1] && published.debugAntennas == [1])
    #expect(published.measurements.map(\.angles.count) == [0])
    #expect(published.measurements.map(\.receivers.count) == [1])
    // The tails have counts beyond the end, a length beyond the end, no length, no bytes, and a
    // truncated tag.
    for text in [
      "0e00 00 00 00 ff 01 00 01 01 000000000000", "ff00 00 00", "01", "", "0000",
      log + "01" + String(repeating: "5a", count: 15),
    ] { #expect(tail(text) == nil, "\(text)") }
    for count in [0, 2, 255] { #expect(tail(log, count) == nil) }
    // Every truncated or changed tail is either decoded or kept as bytes.
    let bytes = bytes(log)
    for index in bytes.indices {
      #expect(Tail(Array(bytes[..<index]), 1) == nil)
      for value in [0, 1, 0xA0, 0xA1, 0xFF] as [UInt8] {
        var changed = bytes
        changed[index] = value
        _ = Tail(changed, 1)
        _ = Tail(changed, 255)
      }
    }
  }

  @Test("Whatever the bytes, only those of the part are read")
  func changes() {
    var random = SystemRandomNumberGenerator()
    let seeds = [
      log, "1400 00 01 01 01 02 01 01 03 80f7 4006 4003 14 19 4001 8001",
      "1c00 a1 01000300 05 00 00 01 01 02 01 01 0000 0000 0000 14 19 4001",
    ].map(bytes)
    for seed in seeds {
      for _ in 0..<2_000 {
        var changed = seed
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          let index = Int.random(in: 0..<min(14, seed.count), using: &random)
          changed[index] = .random(in: 0...3, using: &random)
        }
        for count in 0...2 {
          // Bytes after a tag belong to no field, and change nothing.
          let read = Tail(changed, count)
          #expect(read == nil || read == Tail(changed + [0], count), "\(changed)")
        }
      }
    }
  }

  @Test func distancesByFrame() throws {
    // A report of the times of arrival by frame has a second distance after the receivers, and no
    // angles.
    let body = "a1 00000100 00 03 01 02 03 01 04" + "14 19 4001 8001 2c01 d2040000"
    let length = hexadecimal([UInt8(bytes(body).count), 0])
    let read = try #require(tail(length + body))
    #expect(read.rxMode == 3 && read.txAntenna == nil && read.debugAntennas == [4])
    let measurement = try #require(read.measurements.first)
    #expect(measurement.angles.isEmpty && measurement.receivers.count == 1)
    #expect(measurement.secondDistance == 300 && measurement.distanceMillimetres == 1234)
  }

  @Test("The vendor's part is there only where it was asked for")
  func optional() throws {
    let dialect = Dialect(generation: .fira3, vendor: .nxp)
    func fields(_ packet: String) throws -> [Field] {
      try Message(packet: bytes(packet), dialect: dialect).fields(dialect: dialect)
    }
    #expect(try fields(TwoWayVectors.vendorTail).contains { $0.name == "vendor" })
    #expect(try !fields(TwoWayVectors.timeout).contains { $0.name == "vendor" })
    let other = try Message(packet: bytes(TwoWayVectors.vendorTail))
    #expect(!other.fields().contains { $0.name == "vendor" })
  }

  @Test func anglesAndReceivers() throws {
    let body = "00 01 01 01 02 01 01 03 80f7 4006 4003 14 19 4001 8001"
    let length = hexadecimal([UInt8(bytes(body).count), 0])
    let read = try #require(tail(length + body + "00"))
    #expect(read.wifiCoexistence == 1 && read.rxMode == 1)
    #expect(read.antennas == [2] && read.debugAntennas == [3])
    #expect(read.measurements.first?.pairs == [2])
    let angle = try #require(read.measurements.first?.angles.first)
    #expect(angle.degrees == -17 && angle.phaseDifferenceDegrees == 12.5 && angle.index == 832)
    let receiver = try #require(read.measurements.first?.receivers.first)
    #expect(receiver.snrFirstPath == 20 && receiver.snrMainPath == 25)
    #expect(receiver.firstPathNanoseconds == 5 && receiver.mainPathNanoseconds == 6)
    #expect(receiver.rssiDBm == nil && read.authenticationTag == nil)
  }

  @Test func messageControl() throws {
    // The report has a TX antenna, millimetres, and all frames.
    let control = "a1 01000300 05 00 00 01 01 02 01 01"
    let entry = "0000 0000 0000" + "14 19 4001 8001 0014 00c0" + "d2040000"
    let body = control + entry + entry
    let length = hexadecimal([UInt8(bytes(body).count), 0])
    let tag = String(repeating: "5a", count: 16)
    let read = try #require(tail(length + body + "01" + tag, 2))
    #expect(read.messageControl == 0x0003_0001 && read.txAntenna == 5)
    #expect(read.measurements.map(\.distanceMillimetres) == [1234, 1234])
    #expect(read.measurements[1].receivers[0].rssiDBm == -64)
    #expect(read.authenticationTag == Array(repeating: 0x5A, count: 16))
  }

  @Test func oneWay() throws {
    let angles = SessionInfo.Measurements.oneWayAoA(
      try decode(
        "62000026 00000000 01000000 00 c8000000 03 00 00 00000000 00000000 01 "
          + "aabb 00 00 01 0100 0304 60 0506 50", as: SessionInfo.self
      ).map { info in
        if case .oneWayAoA(let list) = info.measurements { list } else { [] }
      } ?? [])
    let aoa = NXPOneWayTail(bytes("0c00 00 01 01 02 80f7 4006 4003 00c0"), behind: angles)
    guard case .angles(let read)? = aoa else {
      Issue.record("the part behind an angle was not read")
      return
    }
    #expect(read.antennas == [2] && read.measurements.first?.rawRSSI == -16_384)
    #expect(read.measurements.first?.angles.first?.degrees == -17)
    #expect(NXPOneWayTail(bytes("0b00 00 01 01 02 80f7 4006 4003 00"), behind: angles) == nil)
    #expect(NXPOneWayTail(bytes("ff00 00"), behind: angles) == nil)
    let uplink = NXPOneWayTail(
      bytes("0f00 09 00c0 00bf 01 4006 4003 0000 02 00be"), behind: .uplinkTDoA([]))
    guard case .uplink(let tail)? = uplink else {
      Issue.record("the part behind uplink TDoA was not read")
      return
    }
    #expect(tail.rawRSSI == [-16_384, -16_640])
    #expect(tail.phases.map(\.rawPDoA) == [1600] && tail.phases.map(\.index) == [832])
    #expect(tail.rest == [0x00, 0x00, 0x02, 0x00, 0xBE])
    // One byte too many and one byte too few for the phases.
    for body in ["0b00 0a 00c0 00bf 01 4006 4003 00", "0900 08 00c0 00bf 01 4006 40"] {
      #expect(NXPOneWayTail(bytes(body), behind: .uplinkTDoA([])) == nil, "\(body)")
    }
    #expect(NXPOneWayTail(bytes("0100 00"), behind: .twoWay([])) == nil)
  }

  @Test("Items of diagnostics have lengths of 16 bits, and unknown ones are kept")
  func diagnostics() throws {
    let long = String(repeating: "11", count: 300)
    let body =
      "01000000 02000000 01 01 00 ff 04"
      + "01 0800 0100 0200 2406 c8 01" + "63 2c01" + long + "04 0400 00000100"
      + "06 1100 08 b0ff 003c e102 a1ff 52b8 e302 c4ff c0b8"
    let payload = bytes(body)
    let diagnostics = try RangeDiagnosticsNotification(decoding: payload)
    #expect(diagnostics.encoded() == payload)
    let items = try #require(diagnostics.reports.first?.items)
    #expect(items.map(\.type) == [1, 0x63, 4, 6])
    #expect(items[1].value.count == 300 && items[1].reading == nil)
    guard case .aoa(let angles)? = items[0].reading,
      case .clockOffset(let offset)? = items[2].reading,
      case .segments(let segments)? = items[3].reading
    else {
      Issue.record("known items were not read")
      return
    }
    #expect(abs((angles.first?.degrees ?? 0) - 43.98) < 0.01)
    #expect(offset == 0x10000)
    #expect(segments.first?.levelDBm == -60)
    #expect(segments.first?.firstPath.index == 737)
    // Items in an invalid form are kept as bytes.
    #expect(RangeDiagnosticsNotification.Item(type: 6, value: [1, 2]).reading == nil)
    #expect(RangeDiagnosticsNotification.Item(type: 3, value: [1]).reading == nil)
    let window = RangeDiagnosticsNotification.Item(type: 7, value: bytes("01 02 01 02 aabb"))
    guard case .impulseResponses(let responses)? = window.reading else {
      Issue.record("a window was not read")
      return
    }
    #expect(responses.map(\.samples) == [[0xAA, 0xBB]])
    #expect(responses.first?.firstPathIndex == 2)
  }

  @Test func receivedFrames() throws {
    let entry =
      "83 04 00 4001 8001 19 14 0014 00c0 01000000 02000000 03000000 0008 80f7"
      + String(repeating: "0100ffff", count: 16) + "7c000000 0001"
    let size = bytes(entry).count
    #expect(size == 99)
    let payload = bytes("01000000 02000000 01 02 63 00" + entry + entry)
    let log = try NXPRFrameLogNotification(decoding: payload)
    #expect(log.encoded() == payload)
    let frame = try #require(log.frames.first)
    #expect(log.frames.count == 2)
    #expect(frame.snrMainPath == 25 && frame.rawRSSI == -16384 && frame.taps.count == 32)
    #expect(frame.taps[1] == -1 && frame.timestamp == 124)
    #expect(NXPReceivedFrame(Array(bytes(entry).dropLast())) == nil)
  }
}
