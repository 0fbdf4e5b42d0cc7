// SPDX-License-Identifier: Apache-2.0
import Foundation
import SystemPackage
import Testing
import UCI
import UWB
import UWBLink
import UWBSimulator
import UWBTestSupport

/// Anchors and tags of one-way ranging: drivers and simulated chips, with the kernel's
/// pseudo-terminals between them.
@Suite(.timeLimit(.minutes(10))) struct OneWayEndToEndTests {
  static let places: [SIMD3<Double>] = [SIMD3(0, 0, 2), SIMD3(8, 0, 2), SIMD3(8, 6, 2)]

  private static func configuration(
    _ role: SessionConfiguration.Role, _ address: UInt16
  ) -> SessionConfiguration {
    var session = SessionConfiguration(role: role, sessionID: 42, address: MACAddress(address))
    (session.interval, session.slotsPerRound, session.slotDuration) = (20, 6, 1_200)
    return session
  }

  static func anchor(_ index: Int) -> SessionConfiguration {
    let responders = places.indices.dropFirst().map { MACAddress(UInt16($0)) }
    let place = places[index]
    let location = AnchorLocation.relative(
      x: Int32(place.x * 1_000), y: Int32(place.y * 1_000), z: Int32(place.z * 1_000))
    return configuration(
      .downlinkAnchor(
        .init(
          rounds: [.init(1, index == 0 ? .initiator(responders: responders) : .responder)],
          location: location)), UInt16(index))
  }

  /// Opens a device for each configuration, ranges with all, and calls `body` with the first
  /// session and its stream.
  static func range(
    _ profiles: [ChipProfile], _ sessions: [SessionConfiguration],
    tap: UWBDevice.PacketTap? = nil,
    _ body: (UWBSession, RangingStream<OneWayMeasurement>) async throws -> Void
  ) async throws {
    let bench = SimulatedBench(scene: Scene(seed: 5))
    defer { bench.stop() }
    let chips = try profiles.enumerated().map { index, profile in
      let place = index == 0 ? SIMD3(3, 2, 1) : places[(index - 1) % places.count]
      return try bench.add(profile: profile, at: place)
    }
    bench.start()
    var devices: [UWBDevice] = []
    var open: [UWBSession] = []
    for (index, chip) in chips.enumerated() {
      var options = EndToEndTests.options(chip)
      if index == 0 { options.tap = tap }
      devices.append(
        try await UWBDevice.open(.serial(path: FilePath(chip.path)), options: options))
      open.append(try await devices[index].makeSession(sessions[index]))
    }
    let stream = open[0].oneWayMeasurements()
    // The initiator starts last, because the other devices wait for its poll.
    for session in open.reversed() { try await session.start() }
    try await body(open[0], stream)
    for device in devices { await device.close() }
  }

  @Test("A tag receives typed messages in both layouts", arguments: [ChipProfile.fira2, .fira3])
  func downlink(_ profile: ChipProfile) async throws {
    let tag = Self.configuration(.downlinkTag(.init(rounds: [1])), 0x100)
    try await Self.range(
      Array(repeating: profile, count: 4), [tag] + Self.places.indices.map(Self.anchor)
    ) { session, stream in
      var blocks: [UInt16: [OneWayMeasurement]] = [:]
      for try await measurement in stream {
        guard case .downlink(let message) = measurement.result else {
          Issue.record("not downlink")
          return
        }
        blocks[message.values.blockIndex, default: []].append(measurement)
        if blocks.count == 4 { break }
      }
      let whole = try #require(blocks.values.first { $0.count == 4 })
      #expect(whole.map(\.peer) == [0, 1, 2, 0].map { MACAddress($0) })
      #expect(whole.allSatisfy { $0.status == .ok && $0.sessionToken == session.token })
      for (index, measurement) in whole.enumerated() {
        guard case .downlink(let message) = measurement.result else { continue }
        #expect(message.values.messageType == [0, 1, 1, 2][index])
        #expect(message.values.roundIndex == 1)
        #expect(message.sentBits == 40 && message.receivedBits == 40)
        #expect(message.sent != nil && message.received != nil)
        let place = Self.places[[0, 1, 2, 0][index]]
        #expect(
          message.location
            == .relative(x: Int32(place.x * 1_000), y: Int32(place.y * 1_000), z: 2_000))
      }
    }
  }

  @Test("An anchor stamps tags and synchronisation anchors; an observer measures angles")
  func uplinkAndAngles() async throws {
    let tag = SessionConfiguration.UplinkTag(interval: 20, deviceID: [1, 2], stampWidth: .bits64)
    try await Self.range(
      [.fira2, .fira2, .fira2],
      [
        Self.configuration(.uplinkAnchor, 1), Self.configuration(.uplinkTag(tag), 0x100),
        Self.configuration(.uplinkSyncAnchor(.bits40), 0x50),
      ]
    ) { _, stream in
      var kinds: Set<UInt8> = []
      for try await measurement in stream {
        guard case .uplink(let blink) = measurement.result else { continue }
        kinds.insert(blink.frameType)
        #expect(blink.rxBits == 40 && blink.rxTimestamp > 0)
        #expect(blink.txBits == (blink.frameType == 0 ? 64 : 40))
        #expect(blink.deviceID == (blink.frameType == 0 ? [1, 2] : []))
        if kinds.count == 2 { break }
      }
      #expect(kinds == [0, 1])
    }
    try await Self.range(
      [.fira2, .fira2],
      [
        Self.configuration(.observer(.init()), 1), Self.configuration(.advertiser(.init()), 2),
      ]
    ) { _, stream in
      for try await measurement in stream {
        guard case .angle(let frame) = measurement.result else { continue }
        #expect(frame.peer == MACAddress(2) && frame.azimuth.figureOfMerit > 0)
        break
      }
    }
  }

  @Test("A chip without the role refuses it, and no other session takes its place")
  func refusals() async throws {
    let tag = Self.configuration(.downlinkTag(.init()), 1)
    await #expect {
      try await Self.range([.qm33], [tag]) { _, _ in }
    } throws: { error in
      let error = error as? DriverError
      return error?.code == .parametersRefused && error?.refusedParameters.map(\.id) == [0x11]
    }
    let many = Self.configuration(.downlinkTag(.init(rounds: Array(0..<3))), 1)
    var profile = ChipProfile.fira2
    profile.maximumTagRounds = 2
    await #expect {
      try await Self.range([profile], [many]) { _, _ in }
    } throws: { error in
      "\(error)".contains("for ranging round 2") && (error as? DriverError)?.code == .refused
    }
  }

  @Test("A capture has the same messages as the stream")
  func captures() async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let file = try CaptureFile(folder.path("tag.pcapng"))
    var live: [OneWayMeasurement] = []
    let tag = Self.configuration(.downlinkTag(.init(rounds: [1])), 0x100)
    try await Self.range(
      Array(repeating: .fira2, count: 4), [tag] + Self.places.indices.map(Self.anchor),
      tap: { _ = file.record($0, $1, time: $2) }
    ) { _, stream in
      for try await measurement in stream {
        live.append(measurement)
        if live.count == 12 { break }
      }
    }
    let read = try CaptureReader.read(file: folder.path("tag.pcapng")).oneWayMeasurements()
    #expect(read.count >= 12)
    #expect(live.map(\.result) == read.prefix(12).map(\.result))
  }
}
