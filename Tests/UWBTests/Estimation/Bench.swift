// SPDX-License-Identifier: Apache-2.0

import Foundation
import SystemPackage
import Testing
import UCI
import UWB
import UWBLink
import UWBSimulator

/// A controller at the origin and a controlee, on pseudo-terminals, ranging every 10 ms.
struct Bench {
  let bench: SimulatedBench
  let chips: [SimulatedBench.Chip]
  /// Holds the links to the boards, as udev creates them.
  private let folder = FileManager.default.temporaryDirectory.appending(
    path: "boards-\(UUID().uuidString)")
  let devices: [UWBDevice]
  let sessions: [UWBSession]

  /// - Parameter peer: the position of the controlee.
  init(
    _ profile: ChipProfile, _ scene: Scene, own: Placement = Placement(at: SIMD3(0, 0, 0)),
    peer: Placement, diagnostics: DiagnosticsRequest?, recovery: RecoveryPolicy? = nil
  ) async throws {
    bench = SimulatedBench(scene: scene)
    chips = [
      try bench.add(profile: profile, placement: own),
      try bench.add(profile: profile, placement: peer),
    ]
    bench.start()
    var devices: [UWBDevice] = []
    var sessions: [UWBSession] = []
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for (index, chip) in chips.enumerated() {
      let link = folder.appending(path: "\(index)").path
      try chip.link(at: link)
      let device = try await UWBDevice.open(
        .serial(path: FilePath(link)), options: EndToEndTests.options(chip, recovery: recovery))
      var configuration = SessionConfiguration(
        role: index == 0 ? .controller : .controlee, sessionID: 42,
        address: MACAddress(UInt16(index)), peers: [MACAddress(UInt16(1 - index))])
      configuration.interval = 10
      configuration.slotDuration = 600
      configuration.slotsPerRound = 10
      configuration.diagnostics = diagnostics
      devices.append(device)
      sessions.append(try await device.makeSession(configuration))
    }
    (self.devices, self.sessions) = (devices, sessions)
  }

  /// Starts both ends, the controlee first.
  func start() async throws {
    try await sessions[1].start()
    try await sessions[0].start()
  }

  func close() async {
    for device in devices { await device.close() }
    bench.stop()
    try? FileManager.default.removeItem(at: folder)
  }

  /// Returns `count` successful measurements of one end, from its start.
  func measure(
    _ count: Int, _ settings: EstimationSettings = EstimationSettings(), end: Int = 0
  ) async throws -> [EstimatedMeasurement] {
    // The capacity is large enough for the packets that arrive while a thousand other tests delay
    // this one.
    let stream = sessions[end].estimates(settings, capacity: 8_192)
    try await start()
    var list: [EstimatedMeasurement] = []
    for try await estimate in stream where estimate.measurement.result.status.isSuccess {
      list.append(estimate)
      if list.count == count { break }
    }
    #expect(stream.dropped == 0)
    return list
  }
}

func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(max(1, values.count)) }

func deviation(_ values: [Double]) -> Double {
  let middle = mean(values)
  return mean(values.map { ($0 - middle) * ($0 - middle) }).squareRoot()
}
