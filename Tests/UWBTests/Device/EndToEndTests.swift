// SPDX-License-Identifier: Apache-2.0
import DriverTestSupport
import Synchronization
import SystemPackage
import Testing
import UCI
import UWB
import UWBLink
import UWBSimulator

/// Driver and simulated chips, with the kernel's pseudo-terminals between them.
@Suite(.timeLimit(.minutes(10))) struct EndToEndTests {
  static func configurations(
    peers: Int = 1, interval: UInt32 = 20
  ) -> (controller: SessionConfiguration, controlees: [SessionConfiguration]) {
    let addresses = (1...peers).map { MACAddress(UInt16($0)) }
    var controller = SessionConfiguration(
      role: .controller, sessionID: 42, address: MACAddress(0), peers: addresses)
    controller.interval = interval
    controller.slotDuration = 600
    controller.slotsPerRound = UInt8(peers + 6)
    let controlees = addresses.map { address in
      var controlee = controller
      controlee.role = .controlee
      controlee.address = address
      controlee.peers = [MACAddress(0)]
      return controlee
    }
    return (controller, controlees)
  }

  /// The options for a chip. For a chip by NXP they name the profile. Otherwise the driver would
  /// wait three seconds before it tries NXP's boot command, which `HandshakeTests` cover.
  static func options(
    _ chip: SimulatedBench.Chip, recovery: RecoveryPolicy? = nil
  ) -> UWBDevice.Options {
    let options = UWBDevice.Options(
      profile: chip.profile.needsDeviceInit ? .nxp : nil, recovery: recovery)
    return recovery == nil ? options.patient : options
  }

  static func open(_ chip: SimulatedBench.Chip) async throws -> UWBDevice {
    try await UWBDevice.open(.serial(path: FilePath(chip.path)), options: options(chip))
  }

  /// A bench with a controller at the origin and controlees 3, 4, … metres away.
  static func bench(
    _ profiles: [ChipProfile]
  ) throws -> (SimulatedBench, [SimulatedBench.Chip]) {
    let bench = SimulatedBench(scene: Scene(seed: 5))
    let chips = try profiles.enumerated().map { index, profile in
      try bench.add(profile: profile, at: SIMD3(index == 0 ? 0 : 2 + Double(index), 0, 0))
    }
    bench.start()
    return (bench, chips)
  }

  @Test(arguments: [ChipProfile.qm33, .qm33PDoA, .sr250, .fira1])
  func twoChipsOfEachKindMeasureTheirDistanceFromBothEnds(_ profile: ChipProfile) async throws {
    let (bench, chips) = try Self.bench([profile, profile])
    let (controller, controlees) = Self.configurations()
    let a = try await Self.open(chips[0])
    let b = try await Self.open(chips[1])
    let far = try await b.makeSession(controlees[0])
    let farStream = far.measurements()
    let near = try await a.makeSession(controller)
    let nearStream = near.measurements()
    try await far.start()
    try await near.start()
    for stream in [nearStream, farStream] {
      var distances: [Double] = []
      for try await measurement in stream {
        guard let centimetres = measurement.result.distanceCentimetres else { continue }
        distances.append(Double(centimetres) / 100)
        if distances.count == 20 { break }
      }
      let mean = distances.reduce(0, +) / 20
      // Each measurement has 3 cm of noise, so the mean of 20 measurements has an error of 7 mm.
      // The limit is five times this error plus the rounding.
      #expect(abs(mean - 3) < 0.045, "\(mean)")
    }
    await a.close()
    await b.close()
    #expect(a.statistics.bytesSkipped == 0)
    bench.stop()
  }

  @Test func aDifferingParameterCausesTimeoutsAndNoDistance() async throws {
    let (bench, chips) = try Self.bench([.qm33, .qm33])
    let (controller, controlees) = Self.configurations()
    var odd = controlees[0]
    odd.preambleCode = 11
    let a = try await Self.open(chips[0])
    let b = try await Self.open(chips[1])
    let far = try await b.makeSession(odd)
    try await far.start()
    let near = try await a.makeSession(controller)
    let stream = near.measurements()
    try await near.start()
    var count = 0
    for try await measurement in stream.prefix(20) {
      #expect(measurement.result.status == .rangingRxTimeout)
      #expect(measurement.result.rawDistance == 0xFFFF)
      count += 1
    }
    #expect(count == 20)
    await a.close()
    await b.close()
    bench.stop()
  }

  @Test func oneToManyArrivesSegmentedAndWhole() async throws {
    let (bench, chips) = try Self.bench(Array(repeating: .qm33, count: 9))
    let (controller, controlees) = Self.configurations(peers: 8)
    var others: [UWBDevice] = []
    for (chip, configuration) in zip(chips.dropFirst(), controlees) {
      let device = try await Self.open(chip)
      others.append(device)
      try await device.makeSession(configuration).start()
    }
    let device = try await Self.open(chips[0])
    let session = try await device.makeSession(controller)
    let stream = session.measurements(capacity: 1024)
    try await session.start()
    var seen: [UInt32: Set<MACAddress>] = [:]
    for try await measurement in stream.prefix(8 * 25) {
      #expect(measurement.result.distanceCentimetres != nil)
      seen[measurement.sequenceNumber, default: []].insert(measurement.result.peer)
    }
    #expect(seen.count == 25)
    #expect(seen.values.allSatisfy { $0 == Set(controller.peers) })
    #expect(seen.keys.max() == 24, "no round is missing")
    await device.close()
    for other in others { await other.close() }
    bench.stop()
  }

  @Test func unpluggingEndsTheStreamWithItsCause() async throws {
    let (bench, chips) = try Self.bench([.qm33])
    let device = try await Self.open(chips[0])
    let session = try await device.makeSession(Self.configurations().controller)
    let stream = session.measurements()
    try await session.start()
    var iterator = stream.makeAsyncIterator()
    _ = try await iterator.next()
    chips[0].unplug()
    let error = await #expect(throws: DriverError.self) {
      for try await _ in stream {}
    }
    guard let cause = error?.linkError else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(cause.code == .deviceGone)
    await device.close()
    bench.stop()
  }

  @Test func aSecondProgramOnThePortIsToldThatItIsBusy() async throws {
    let (bench, chips) = try Self.bench([.qm33])
    let device = try await Self.open(chips[0])
    let error = await #expect(throws: DriverError.self) { _ = try await Self.open(chips[0]) }
    guard let cause = error?.linkError else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(cause.code == .busy)
    await device.close()
    bench.stop()
  }

  @Test func aDeviceCanBeOpenedAgainAfterItWasLeftRanging() async throws {
    let (bench, chips) = try Self.bench([.qm33])
    do {
      let device = try await Self.open(chips[0])
      let session = try await device.makeSession(Self.configurations(interval: 5).controller)
      try await session.start()
      // The session is released without `close`, like a program that crashed: the chip continues to
      // range.
    }
    let device = try await Self.open(chips[0])
    #expect(try await device.send(GetSessionCount()).count == 0)
    await device.close()
    bench.stop()
  }

  @Test func aTaskOnTheReaderExecutorTakesTheMeasurements() async throws {
    let (bench, chips) = try Self.bench([.qm33])
    let device = try await Self.open(chips[0])
    let session = try await device.makeSession(Self.configurations().controller)
    let stream = session.measurements()
    try await session.start()
    let count = try await Task(executorPreference: device.executor) {
      var count = 0
      for try await _ in stream.prefix(10) { count += 1 }
      return count
    }.value
    #expect(count == 10)
    await device.close()
    bench.stop()
  }

  @Test func aBlockingThreadTakesTheMeasurements() async throws {
    let (bench, chips) = try Self.bench([.qm33])
    let device = try await Self.open(chips[0])
    let session = try await device.makeSession(Self.configurations().controller)
    let stream = session.measurements()
    try await session.start()
    for expected in 0..<10 {
      #expect(try stream.next(timeout: .seconds(300))?.sequenceNumber == UInt32(expected))
    }
    await device.close()
    // The stream ends after the existing rounds, without waiting.
    while try stream.next() != nil {}
    bench.stop()
  }

  @Test func commandsAreAnsweredWhileLongNotificationsStream() async throws {
    // Qorvo: a ranging notification and its diagnostics, 185 bytes.
    let burst =
      DWM3001CDK.rxTimeout(sequence: 0) + [0x6B, 0x03, 0x00, 121]
      + [UInt8](repeating: 0x5A, count: 121)
    #expect(burst.count == 185)
    // Each answer to SESSION_GET_COUNT arrives between two notifications.
    let chip = try ScriptedChip(greeting: [DWM3001CDK.ready]) { packet, _ in
      let answers = DWM3001CDK.answers(packet)
      return packet.starts(with: [0x21, 0x05]) ? [burst] + answers + [burst] : answers
    }
    let device = try await UWBDevice.open(chip.endpoint, options: .patient)
    let session = try await device.makeSession(SessionTests.configuration)
    let heard = Atomic<Int>(0)
    session.onRounds { _ in heard.add(1, ordering: .relaxed) }
    var answered = 0
    for _ in 0..<25 {
      if try await device.send(GetSessionCount()).count == 0 { answered += 1 }
    }
    #expect(answered == 25)
    // The answer to one more command arrives after all messages before it.
    _ = try await device.send(GetDeviceInfo())
    #expect(heard.load(ordering: .relaxed) == 50)
    #expect(device.statistics.bytesSkipped == 0)
    await device.close()
  }
}
