// SPDX-License-Identifier: Apache-2.0

import DriverTestSupport
import Foundation
import Ranging
import Testing
import UCI
import UWB
import UWBLink
import UWBSimulator

/// Chips with their makers' messages on pseudo-terminals, the driver, and its estimates.
@Suite(.timeLimit(.minutes(10))) struct EstimationEndToEndTests {
  private static let degree = Double.pi / 180

  /// Clocks up to 20 ppm off, and the noise of good boards.
  private static var scene: Scene {
    var scene = Scene(seed: 11)
    scene.radio.clockSpread = 20
    scene.radio.clockWander = 0.2
    return scene
  }

  @Test(arguments: [ChipProfile.qm33PDoA, .sr250, .fira1, .qm33])
  func eachFamilyFromBothEnds(_ profile: ChipProfile) async throws {
    // 25 degrees to the right of the controller's axis.
    let place = SIMD3<Double>(3 * cos(25 * Self.degree), -3 * sin(25 * Self.degree), 0)
    let peer = Placement(at: place, yaw: 155, clockOffset: 5)
    for end in [0, 1] {
      let bench = try await Bench(
        profile, Self.scene, peer: peer,
        diagnostics: DiagnosticsRequest(.usual, antennaPairs: [1, 2]))
      var settings = EstimationSettings()
      settings.distanceDeviation = 0.03
      settings.azimuth = PhaseTable(spacing: 0.45)
      settings.phaseDeviation = 2 * Self.degree * 2 * .pi * 0.45
      let list = try await bench.measure(20, settings, end: end)
      await bench.close()
      #expect(abs(mean(list.compactMap(\.distance)) - 3) < 0.045)
      #expect(list.compactMap(\.distance).count == 20)
      let track = try #require(list.last?.track)
      #expect(abs(track.distance - 3) < 4 * track.shortTermDeviation)
      // The chip's own value stays unchanged beside the estimate.
      #expect(
        list.allSatisfy {
          abs(Double($0.measurement.result.rawDistance) / 100 - ($0.distance ?? 0)) < 1e-9
        })
      let hasPhases = profile.name == "qm33pdoa" || profile.name == "sr250"
      let azimuths = list.compactMap(\.azimuth)
      #expect(azimuths.count == (hasPhases ? 20 : 0), "\(profile.name)")
      if hasPhases {
        let expected = end == 0 ? 25.0 : 0
        let degrees = azimuths.map { $0.angle / Self.degree }
        #expect(abs(mean(degrees) - expected) < 1.5, "\(mean(degrees))")
        // The stated deviation agrees with the scatter of the values, as far as 20 values show it.
        let said = mean(azimuths.map { $0.standardDeviation / Self.degree })
        #expect(deviation(degrees) < 1.8 * said && deviation(degrees) > said / 2.2, "\(said)")
      } else {
        #expect(list.allSatisfy { $0.noAzimuth == .noPhases })
      }
      let isFira1 = profile.name == "fira1"
      let offsets = list.compactMap(\.carrierOffset)
      #expect(list.allSatisfy { ($0.diagnostics == .none) == isFira1 })
      #expect(offsets.count == (isFira1 ? 0 : 20))
      if !isFira1 {
        // The two ends have the same offset with opposite signs. The noise of an offset is 0.05 ppm
        // for each frame.
        #expect(deviation(offsets) < 0.1)
        #expect(abs(mean(offsets)) > 1)
        #expect(list.allSatisfy { ($0.nonLineOfSight ?? 1) < 0.2 })
      }
    }
  }

  @Test("phases through the right table are right, and wrong through another")
  func tables() async throws {
    // The curve is not symmetric, and exceeds half a turn on one side, as published tables of
    // boards do.
    let curve = Curve(
      stride(from: -90.0, through: 90, by: 6).map { angle in
        let s = sin(angle * Self.degree)
        return (angle, 2.9 * s + 0.35 * s * s - 0.2 * s * s * s + 0.25)
      })
    let right = try #require(
      PhaseTable(unwrapped: curve.points.map { (angle: $0.x * Self.degree, phase: $0.y) }))
    let wrong = PhaseTable(spacing: 0.45)
    var own = Placement(at: SIMD3(0, 0, 0))
    own.antenna = curve
    for bearing in [-50.0, 60] {
      let peer = Placement(
        at: SIMD3(4 * cos(bearing * Self.degree), -4 * sin(bearing * Self.degree), 0))
      var errors: [Double] = []
      for table in [right, wrong] {
        let bench = try await Bench(
          .qm33PDoA, Self.scene, own: own, peer: peer, diagnostics: DiagnosticsRequest())
        var settings = EstimationSettings()
        settings.azimuth = table
        let list = try await bench.measure(20, settings)
        await bench.close()
        let angles = list.compactMap(\.azimuth?.angle).map { $0 / Self.degree }
        try #require(angles.count == 20)
        errors.append(abs(mean(angles) - bearing))
        // The chip's own angle assumes ideal antennas.
        let told = mean(list.map { $0.measurement.result.azimuth.degrees })
        #expect(abs(told - bearing) > 4, "\(told)")
      }
      #expect(errors[0] < 2.5, "\(errors)")
      #expect(errors[1] > 4, "\(errors)")
    }
  }

  @Test("a blocked path makes distances uncertain; none is thrown away")
  func blocked() async throws {
    var scene = Self.scene
    scene.radio.walls = [.init(from: SIMD3(2, -2, 0), to: SIMD3(2, 2, 0), loss: 15)]
    let place = Placement(at: SIMD3(4, 0, 0))
    var deviations: [Double] = []
    for (conditions, excess) in [(Self.scene, 0.0), (scene, 0.15)] {
      for profile in [ChipProfile.qm33, .sr250] {
        let bench = try await Bench(
          profile, conditions, peer: place,
          diagnostics: DiagnosticsRequest(.usual, antennaPairs: [1]))
        let list = try await bench.measure(20)
        await bench.close()
        #expect(list.compactMap(\.distance).count == 20)
        #expect(abs(mean(list.compactMap(\.distance)) - 4 - excess) < 0.045)
        let probability = mean(list.compactMap(\.nonLineOfSight))
        #expect(excess > 0 ? probability > 0.7 : probability < 0.2, "\(probability)")
        deviations.append(mean(list.compactMap(\.distanceNoise)))
        #expect(list.allSatisfy { $0.track?.isOutlier == false })
      }
    }
    #expect(deviations[2] > 2 * deviations[0] && deviations[3] > 2 * deviations[1])
  }

  @Test("calibration takes away what antennas and levels add")
  func calibrated() async throws {
    var scene = Self.scene
    scene.radio.powerBias = Curve([(-100, 0.2), (-60, -0.2)])
    var peer = Placement(at: SIMD3(6, 0, 0), antennaDelayError: 0.2)
    peer.delayErrors[9] = .init(transmit: 0.05, receive: 0.05)
    var calibration = RangingCalibration()
    calibration.antennaDelays = [
      .init(BoardAntenna("own"), delay: 0, standardDeviation: 0.01),
      .init(BoardAntenna("0001"), delay: 0.3, standardDeviation: 0.01),
    ]
    calibration.powerBias = PowerBias(
      scene.radio.powerBias.points.map { .init(power: $0.x, bias: $0.y) })
    let peers = [MACAddress(1)]
    for (settings, isRight) in [
      (EstimationSettings(), false),
      (EstimationSettings(calibration, board: "own", channel: 9, peers: peers), true),
      (EstimationSettings(calibration, board: "own", channel: 5, peers: peers), false),
    ] {
      let bench = try await Bench(.qm33, scene, peer: peer, diagnostics: DiagnosticsRequest())
      let list = try await bench.measure(20, settings)
      await bench.close()
      let metres = mean(list.compactMap(\.distance))
      #expect((abs(metres - 6) < 0.045) == isRight, "\(metres)")
      // The chip's reports stay the same.
      #expect(abs(mean(list.map { Double($0.measurement.result.rawDistance) }) - 627.4) < 6)
    }
  }

  @Test func diagnosticsComeAgainWhenTheBoardDoes() async throws {
    let bench = try await Bench(
      .qm33PDoA, Self.scene, peer: Placement(at: SIMD3(3, 0, 0)), diagnostics: DiagnosticsRequest(),
      recovery: RecoveryPolicy())
    let stream = bench.sessions[0].estimates(capacity: 8_192)
    try await bench.start()
    // There are diagnostics before the interruption. After it, measurements come first without
    // diagnostics, then with them.
    var (before, behind) = (0, 0)
    var last = DiagnosticsUse.none
    for try await estimate in stream {
      last = estimate.diagnostics
      if behind > 0 || estimate.measurement.followsInterruption { behind += 1 }
      guard case .used = last else {
        if behind == 50 { break }
        continue
      }
      if behind > 0 { break }
      before += 1
      if before == 3 {
        bench.chips[0].unplug()
        try bench.chips[0].replug()
      }
    }
    guard case .used = last, behind > 0 else {
      Issue.record("none of \(behind) measurements has its diagnostics")
      return
    }
    await bench.close()
  }

  @Test("several peers: each gets its own frames")
  func oneToMany() async throws {
    let bench = SimulatedBench(scene: Self.scene)
    let places = [
      SIMD3<Double>(0, 0, 0), SIMD3<Double>(2, 1, 0), SIMD3<Double>(3, -2, 0),
      SIMD3<Double>(5, 0.5, 0),
    ]
    let chips = try places.enumerated().map { index, place in
      try bench.add(
        profile: .qm33PDoA, placement: Placement(at: place, clockOffset: 10 * Double(index)))
    }
    bench.start()
    let addresses = (1...3).map { MACAddress(UInt16($0)) }
    var controller = SessionConfiguration(
      role: .controller, sessionID: 7, address: MACAddress(0), peers: addresses)
    controller.interval = 20
    controller.slotDuration = 600
    controller.slotsPerRound = 12
    controller.diagnostics = DiagnosticsRequest()
    var devices: [UWBDevice] = []
    for (chip, address) in zip(chips.dropFirst(), addresses) {
      let device = try await UWBDevice.open(.init(chip.path), options: .patient)
      devices.append(device)
      var controlee = controller
      controlee.role = .controlee
      (controlee.address, controlee.peers) = (address, [MACAddress(0)])
      try await device.makeSession(controlee).start()
    }
    let device = try await UWBDevice.open(.init(chips[0].path), options: .patient)
    let session = try await device.makeSession(controller)
    var settings = EstimationSettings()
    settings.azimuth = PhaseTable(spacing: 0.45)
    settings.expectsDiagnostics = true
    let stream = session.estimates(settings, capacity: 8_192)
    try await session.start()
    var angles: [MACAddress: [Double]] = [:]
    var offsets: [MACAddress: [Double]] = [:]
    for try await estimate in stream.prefix(60) {
      let peer = estimate.measurement.result.peer
      if let angle = estimate.azimuth?.angle {
        angles[peer, default: []].append(angle / Self.degree)
      }
      if let offset = estimate.carrierOffset { offsets[peer, default: []].append(offset) }
    }
    for (index, address) in addresses.enumerated() {
      let place = places[index + 1]
      let bearing = -atan2(place.y, place.x) / Self.degree
      #expect(abs(mean(angles[address] ?? []) - bearing) < 2, "\(address)")
      #expect(angles[address]?.count == 20 && deviation(offsets[address] ?? [0]) < 0.1)
    }
    await device.close()
    for device in devices { await device.close() }
    bench.stop()
  }
}
