// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import SystemPackage
import Testing
import UCI
import UWBDriver
import UWBLink
import UWBSimulator

/// A device that goes away, or loses its mind, and what its users see of it.
@Suite struct RecoveryTests {
  typealias Ends = EndToEndTests

  /// A simulated board behind a link of its own, as udev makes them.
  struct Board {
    let bench: SimulatedBench
    let chip: SimulatedBench.Chip
    let path: String

    init(_ profile: ChipProfile = .qm33) throws {
      let (bench, chips) = try Ends.bench([profile])
      var folder = Array("/tmp/uwb-test-XXXXXX".utf8CString)
      let made = folder.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!) }
      path = String(cString: try #require(made)) + "/board"
      self.bench = bench
      chip = chips[0]
      try chip.link(at: path)
    }

    func open(_ recovery: Recovery? = Recovery()) async throws -> UWBDevice {
      try await UWBDevice.open(
        .serial(path: FilePath(path)), options: .init(recovery: recovery))
    }

    func remove() {
      bench.stop()
      unlink(path)
      rmdir(FilePath(path).removingLastComponent().string)
    }
  }

  /// Takes events until one is what is looked for.
  static func events(
    _ iterator: inout MeasurementStream.Events.Iterator,
    until isWanted: (MeasurementStream.Event) -> Bool
  ) async throws -> [MeasurementStream.Event] {
    var seen: [MeasurementStream.Event] = []
    while let event = try await iterator.next() {
      seen.append(event)
      if isWanted(event) { return seen }
    }
    Issue.record("the stream ended: \(seen)")
    return seen
  }

  static func isMeasurement(_ event: MeasurementStream.Event) -> Bool {
    if case .measurement = event { true } else { false }
  }

  @Test(arguments: [ChipProfile.qm33, .sr250, .fira1])
  func pluggedOutAndInTheSessionGoesOn(_ profile: ChipProfile) async throws {
    let board = try Board(profile)
    let device = try await board.open()
    let session = try await device.makeSession(Ends.configurations(peers: 2).controller)
    let stream = session.measurements()
    var events = stream.events.makeAsyncIterator()
    try await session.start()
    try await session.addControlees([MACAddress(3)])
    _ = try await Self.events(&events, until: Self.isMeasurement)
    board.chip.unplug()
    let before = try await Self.events(&events) { !Self.isMeasurement($0) }
    guard case .interrupted(.link(let cause)) = before.last else {
      Issue.record("\(before)")
      return
    }
    #expect(cause.code == .deviceGone)
    #expect(stream.interruption == .link(cause))
    let refusal = await #expect(throws: DriverError.self) { try await session.start() }
    #expect(refusal == .recovering)
    try board.chip.replug()
    let after = try await Self.events(&events, until: Self.isMeasurement)
    guard case .resumed? = after.first, case .measurement(let first)? = after.last else {
      Issue.record("\(after)")
      return
    }
    #expect(first.followsInterruption)
    #expect(stream.interruption == nil)
    var peers: Set<MACAddress> = []
    for try await measurement in stream.prefix(6) { peers.insert(measurement.result.peer) }
    #expect(peers == Set((1...3).map { MACAddress($0) }), "what was added is there again")
    await device.close()
    board.remove()
  }

  @Test(arguments: [ChipProfile.qm33, .sr250, .fira1])
  func whoOnlyWantsMeasurementsSeesAGap(_ profile: ChipProfile) async throws {
    let board = try Board(profile)
    let device = try await board.open()
    let session = try await device.makeSession(Ends.configurations().controller)
    let stream = session.measurements()
    try await session.start()
    var gaps = 0
    var sinceGap = 0
    for try await measurement in stream {
      if measurement.followsInterruption {
        gaps += 1
        sinceGap = 0
        #expect(measurement.sequenceNumber == 0)
      }
      sinceGap += 1
      if sinceGap == 3 {
        if gaps == 3 { break }
        board.chip.unplug()
        try board.chip.replug()
      }
    }
    #expect(gaps == 3)
    #expect(session.state == .active)
    await device.close()
    board.remove()
  }
}
