// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import UCI

@testable import UWBSimulator

/// Diagnostics of single frames, and the settings that enable them.
@Suite struct SimulatedDiagnosticsTests {
  /// A pair that ranges, with the boards facing each other.
  private func pair(
    _ profile: ChipProfile, _ scene: Scene, peer: Placement,
    changes: [UInt8: [UInt8]], vendor: [TLV] = []
  ) -> (Stage, Simulation.ChipID, Simulation.ChipID) {
    var stage = Stage(scene)
    let a = stage.add(profile, Placement(at: SIMD3(0, 0, 0), clockOffset: 4))
    let b = stage.add(profile, peer)
    for (chip, isController) in [(b, false), (a, true)] {
      if profile.diagnostics == .nxp { stage.send("20040005 01 e4 33 01 01", to: chip) }
      let session = TestSession(
        isController: isController, address: isController ? 0 : 1,
        destinations: [isController ? 1 : 0], changes: changes)
      let token = session.prepare(on: chip, &stage)
      if !vendor.isEmpty {
        stage.send(NXPSetAppConfig(sessionToken: token, parameters: vendor), to: chip)
        #expect(stage.response(from: chip) == "0000")
      }
      stage.send(SessionStart(sessionToken: token), to: chip)
    }
    _ = (stage.heard(from: a), stage.heard(from: b))
    return (stage, a, b)
  }

  private func payloads(_ packets: [String], _ opcode: Opcode) -> [[UInt8]] {
    var result: [[UInt8]] = []
    var joined: [UInt8] = []
    for packet in packets.map(bytes) {
      guard let header = try? PacketHeader(parsing: packet.span.bytes), header.opcode == opcode
      else { continue }
      joined += packet[4...]
      if !header.moreFollows {
        result.append(joined)
        joined = []
      }
    }
    return result
  }

  private static let peer = Placement(at: SIMD3(3, 0, 0), yaw: 180, clockOffset: -6)

  @Test("Qorvo: six messages of which two were received, 117 bytes, as the SDK has it")
  func qorvo() throws {
    var (stage, a, b) = pair(
      .qm33, Scene(), peer: Self.peer, changes: [0xE8: [1], 0xE9: [0x2A]])
    stage.pass(milliseconds: 1_000)
    let near = stage.heard(from: a)
    let reports = payloads(near, RangeDiagnosticsNotification.qorvoOpcode)
    #expect(reports.count == 5 && reports.allSatisfy { $0.count == 117 })
    // After the measurement of its round, with the same number.
    #expect(near.map { $0.prefix(4) }.prefix(4) == ["6200", "6b03", "6200", "6b03"])
    let info = payloads(near, .sessionInfo)
    let numbered: [ArraySlice<UInt8>] = reports.map { $0[4..<8] + $0[..<4] }
    #expect(info.map { $0.prefix(8) } == numbered)
    let first = try RangeDiagnosticsNotification(decoding: reports[0])
    #expect(first.reports.map(\.message) == [3, 0, 1, 2, 4, 5])
    #expect(first.reports.map(\.action) == [1, 1, 0, 1, 1, 0])
    let far = try payloads(stage.heard(from: b), RangeDiagnosticsNotification.qorvoOpcode).map {
      try RangeDiagnosticsNotification(decoding: $0)
    }
    #expect(far.first?.reports.map(\.action) == [0, 0, 1, 0, 0, 1])
    for (list, ppm) in [(first.reports, -10.0), (far[0].reports, 10)] {
      for case .clockOffset(let raw) in list.flatMap(\.items).compactMap(\.reading) {
        #expect(abs(Double(raw) / 67.108864 - ppm) < 0.3, "the sender less the receiver")
      }
      for case .segments(let segments) in list.flatMap(\.items).compactMap(\.reading) {
        #expect(segments.count == 1 && segments[0].id == 0b1001)
        #expect(abs(segments[0].levelDBm - -73) < 3)
        #expect(segments[0].firstPath == segments[0].peakPath || segments[0].firstPath.index == 737)
      }
    }
  }

  @Test("Qorvo: only enabled diagnostics")
  func switches() throws {
    for (changes, types) in [
      ([:], nil), ([0xE8: [0], 0xE9: [0x2A]], nil), ([0xE8: [1], 0xE9: [0x08]], [3, 4]),
      ([0xE8: [1], 0xE9: [0x7A]], [3, 1, 4, 5, 6, 7]), ([0xE8: [1]], [3]),
    ] as [([UInt8: [UInt8]], [UInt8]?)] {
      var (stage, a, _) = pair(.qm33PDoA, Scene(), peer: Self.peer, changes: changes)
      stage.pass(milliseconds: 200)
      let reports = payloads(stage.heard(from: a), RangeDiagnosticsNotification.qorvoOpcode)
      #expect((reports.isEmpty ? nil : reports.count) == types.map { _ in 1 })
      guard let types else { continue }
      let received = try RangeDiagnosticsNotification(decoding: reports[0]).reports.filter {
        $0.action == 0
      }
      #expect(received.allSatisfy { $0.items.map(\.type) == types })
      #expect(received.allSatisfy { $0.items.allSatisfy { $0.reading != nil } })
    }
  }

  @Test("Phases follow the antennas of the scene, wrapped; the chip assumes ideal ones")
  func phases() throws {
    // The curve has phases from -200 to 160 degrees for angles of 90 degrees to either side.
    let curve = Curve([(-90, -200 * .pi / 180), (0, 0.1), (90, 160 * .pi / 180)])
    for (degrees, curve) in [(-80, nil), (40, nil), (-80, curve), (40, curve)]
      as [(Double, Curve?)]
    {
      let bearing = degrees * .pi / 180
      var stage = Stage(Scene(angleNoise: 0))
      var placement = Placement(at: SIMD3(0, 0, 0), yaw: 0)
      placement.antenna = curve
      let a = stage.add(.qm33PDoA, placement)
      let b = stage.add(.qm33PDoA, at: SIMD3(3 * cos(bearing), -3 * sin(bearing), 0))
      let changes: [UInt8: [UInt8]] = [0xE8: [1], 0xE9: [0x42]]
      TestSession(isController: false, address: 1, destinations: [0]).start(on: b, &stage)
      TestSession(isController: true, address: 0, destinations: [1], changes: changes)
        .start(on: a, &stage)
      _ = stage.heard(from: a)
      stage.pass(milliseconds: 200)
      let packets = stage.heard(from: a)
      let info = try SessionInfo(decoding: payloads(packets, .sessionInfo)[0])
      let told = info.entries[0].azimuth.degrees
      #expect((abs(told - degrees) < 0.01) == (curve == nil), "\(told) for \(degrees)")
      let diagnostics = try RangeDiagnosticsNotification(
        decoding: payloads(packets, RangeDiagnosticsNotification.qorvoOpcode)[0])
      let real = curve.map { $0.value(at: degrees) } ?? 0.9 * .pi * sin(bearing)
      let expected = real.remainder(dividingBy: 2 * .pi)
      for reading in diagnostics.reports.flatMap(\.items).compactMap(\.reading) {
        switch reading {
        case .aoa(let angles): #expect(abs(angles[0].phaseDifference - expected) < 1e-3)
        case .impulseResponses(let windows):
          // The phases of the first path at the two receivers have the same difference.
          let phases = windows.map { window -> Double in
            let at = Int(window.firstPathIndex) * 4
            func part(_ o: Int) -> Double {
              Double(
                Int16(
                  bitPattern: UInt16(window.samples[at + o]) | UInt16(window.samples[at + o + 1])
                    << 8))
            }
            return atan2(part(2), part(0))
          }
          let difference = (phases[1] - phases[0]).remainder(dividingBy: 2 * .pi)
          #expect(abs((difference - expected).remainder(dividingBy: 2 * .pi)) < 1e-3)
        default: break
        }
      }
    }
  }

  @Test("Behind a wall the first path is weak and the strongest is late")
  func levels() throws {
    var scene = Scene()
    scene.radio.walls = [.init(from: SIMD3(1, -1, 0), to: SIMD3(1, 1, 0), loss: 15)]
    var ratios: [Double] = []
    for conditions in [Scene(), scene] {
      var (stage, a, _) = pair(
        .qm33, conditions, peer: Self.peer, changes: [0xE8: [1], 0xE9: [0x20]])
      stage.pass(milliseconds: 200)
      let reports = payloads(stage.heard(from: a), RangeDiagnosticsNotification.qorvoOpcode)
      let items = try RangeDiagnosticsNotification(decoding: reports[0]).reports.flatMap(\.items)
      guard case .segments(let list)? = items.first(where: { $0.type == 6 })?.reading else {
        Issue.record("no segments")
        return
      }
      let first = list[0].firstPath
      ratios.append(Double(first.rawLevel) / 256 + list[0].levelDBm)
      #expect((list[0].peakPath.index > first.index) == (ratios.count == 2))
    }
    #expect(ratios[0] < 3 && ratios[1] > 6, "\(ratios)")
  }

  @Test("NXP: what a published log shows until angles are configured, then phases and levels")
  func nxp() throws {
    let log = "0e000000000101000101" + "000000000000"
    var (stage, a, _) = pair(.sr250, Scene(), peer: Self.peer, changes: [:])
    stage.pass(milliseconds: 200)
    #expect(stage.heard(from: a).first?.hasSuffix(log) == true)

    let place = Placement(at: SIMD3(3, 1.5, 1), yaw: 180)
    let vendor = [TLV(0x03, [1, 2, 1, 2]), TLV(0x7B, [1])]
    var (other, c, _) = pair(
      .sr250, Scene(angleNoise: 0), peer: place, changes: [:], vendor: vendor)
    other.pass(milliseconds: 200)
    let packets = other.heard(from: c)
    let payload = payloads(packets, .sessionInfo)[0]
    let info = try SessionInfo(decoding: payload)
    guard
      let tail = NXPVendorTail(
        payload.span.bytes.extracting(last: payload.count - 56), measurements: 1)
    else {
      Issue.record("the vendor's part was not read")
      return
    }
    #expect(tail.rxMode == 1 && tail.antennas == [1, 2])
    let angles = (0..<tail.angleCount).map { tail.angle($0, of: 0) }
    let receivers = (0..<tail.receiverCount).map { tail.receiver($0, of: 0) }
    #expect(
      angles.map(\.rawAngle) == [info.entries[0].azimuth.raw, info.entries[0].elevation.raw])
    let (azimuth, elevation) = SIMD3<Double>(0, 0, 0).direction(to: SIMD3(3, 1.5, 1), yaw: 0)
    let sideways = sin(azimuth * .pi / 180) * cos(elevation * .pi / 180)
    #expect(abs(angles[0].phaseDifferenceDegrees - 162 * sideways) < 0.01)
    #expect(
      abs(angles[1].phaseDifferenceDegrees - 162 * sin(elevation * .pi / 180)) < 0.01)
    #expect(
      receivers.allSatisfy { $0.firstPathNanoseconds == 13 && $0.snrMainPath > 20 })

    let log1 = try NXPRFrameLogNotification(
      decoding: payloads(packets, NXPRFrameLogNotification.opcode)[0])
    #expect(log1.sequenceNumber == info.sequenceNumber && log1.frames.count == 4)
    #expect(log1.frames.map { $0.mapping & 63 } == [2, 2, 5, 5])
    // Both receivers get a frame at the same time. The two frames are 3 slots of 2 ms apart.
    let units = log1.frames.map { Double($0.timestamp) + Double($0.timestampFraction) / 512 }
    #expect(units[0] == units[1])
    #expect(abs((units[2] - units[0]) / 124.8e3 - 6) < 0.001)
    for frame in log1.frames {
      #expect(abs(Double(frame.rawClockOffset) / 2048 - -4) < 0.3)
      #expect(abs(Double(frame.rawRSSI) / 256 - -74) < 3)
    }
  }

  @Test("equal seeds give equal bytes with everything switched on")
  func determinism() {
    func run(_ seed: UInt64) -> [String] {
      var scene = Scene(seed: seed, loss: 0.1)
      scene.radio.clockSpread = 20
      scene.radio.clockWander = 0.5
      scene.radio.walls = [.init(from: SIMD3(1, -1, 0), to: SIMD3(1, 1, 0))]
      var (stage, a, b) = pair(
        .qm33PDoA, scene, peer: Self.peer, changes: [0xE8: [1], 0xE9: [0x7A]])
      stage.pass(milliseconds: 4_000)
      return stage.heard(from: a) + stage.heard(from: b)
    }
    #expect(run(5) == run(5))
    #expect(run(5) != run(6))
  }
}
