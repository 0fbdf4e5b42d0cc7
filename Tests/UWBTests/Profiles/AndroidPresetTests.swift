// SPDX-License-Identifier: Apache-2.0
import SystemPackage
import Testing
import UCI
import UCIReference
import UWB
import UWBSimulator

/// Android's configurations, and the presets with their values.
@Suite(.timeLimit(.minutes(10))) struct AndroidPresetTests {
  typealias Ends = EndToEndTests

  static let presets = Preset.allCases.filter { $0.androidConfiguration != nil }

  // AOSP's packages/modules/Uwb: `Utils` and `ConfigurationManager` of `ranging/uwb_backend`, and
  // of `androidx_backend`.
  struct Row: Sendable {
    var preset: Preset
    var outOfBand: UInt8?
    var androidx: UInt8?
    var sts: UInt8
    var isOneToMany: Bool
    var slots: UInt8
    var intervals: [UInt16]
    var keys: [Int]
  }

  static let table: [Row] = [
    row(.android, 1, 1, 0, false, 6, [120, 240, 600], [8]),
    row(.androidMulticast, 2, 2, 0, true, 20, [120, 200, 600], [8]),
    row(.androidWithoutAngles, nil, 3, 0, false, 20, [120, 200, 600], [8]),
    row(.androidProvisioned, 3, 4, 3, false, 6, [120, 240, 600], [16, 32]),
    row(.androidProvisionedMulticast, 4, 5, 3, true, 20, [120, 200, 600], [16, 32]),
    row(.androidProvisionedIndividualMulticast, 5, 7, 4, true, 20, [120, 200, 600], [16]),
    row(.androidProvisionedWithoutAngles, nil, 6, 3, false, 20, [120, 200, 600], [16, 32]),
    row(.androidProvisionedFast, 6, nil, 3, false, 6, [96, 240, 600], [16, 32]),
  ]

  static func row(
    _ preset: Preset, _ outOfBand: UInt8?, _ androidx: UInt8?, _ sts: UInt8, _ isOneToMany: Bool,
    _ slots: UInt8, _ intervals: [UInt16], _ keys: [Int]
  ) -> Row {
    Row(
      preset: preset, outOfBand: outOfBand, androidx: androidx, sts: sts,
      isOneToMany: isOneToMany, slots: slots, intervals: intervals, keys: keys)
  }

  @Test("Each row is AOSP's, in both numberings", arguments: table)
  func rows(_ row: Row) throws {
    let configuration = try #require(row.preset.androidConfiguration)
    #expect(configuration.outOfBandID == row.outOfBand)
    #expect(configuration.androidxID == row.androidx)
    #expect(configuration.stsConfig == row.sts && configuration.isOneToMany == row.isOneToMany)
    #expect(configuration.slotsPerRound == row.slots && configuration.keyLengths == row.keys)
    #expect(Preset.UpdateRate.allCases.map(configuration.interval) == row.intervals)
    if let id = row.outOfBand {
      #expect(AndroidConfiguration(outOfBandID: id) == configuration)
    }
  }

  @Test("An id that the out-of-band protocol lacks has no configuration")
  func unknownIDs() {
    #expect(Self.table.map(\.preset) == Self.presets)
    for id: UInt8 in [0, 7, 8, 255] { #expect(AndroidConfiguration(outOfBandID: id) == nil) }
  }

  @Test("A preset has the row's values and AOSP's common ones", arguments: table)
  func values(_ row: Row) {
    for (rate, interval) in zip(Preset.UpdateRate.allCases, row.intervals) {
      let parameters = SessionParameters(
        row.preset.profile(updateRate: rate).parameters, dialect: .assumed)
      #expect(parameters.number(.stsConfig) == UInt64(row.sts))
      #expect(parameters.number(.slotsPerRR) == UInt64(row.slots))
      #expect(parameters.number(.rangingDuration) == UInt64(interval))
      #expect(parameters.number(.multiNodeMode) == (row.isOneToMany ? 1 : 0))
    }
    let list = row.preset.profile().parameters
    for tlv in [
      TLV(.preambleCodeIndex, [9]), TLV(.slotDuration, [0x60, 0x09]), TLV(.hoppingMode, [1]),
      TLV(.rangingRoundControl, [3]), TLV(.resultReportConfig, [1]), TLV(.sessionPriority, [50]),
      TLV(.inBandTerminationAttemptCount, [3]), TLV(.keyRotation, [row.sts == 3 ? 1 : 0]),
      TLV(.keyRotationRate, [0]), TLV(.rssiReporting, [1]),
    ] { #expect(list.contains(tlv), "\(tlv)") }
    #expect(list.contains { $0.id == AppConfigID.sessionKey.rawValue } == (row.sts != 0))
    #expect(list.contains { $0.id == AppConfigID.staticSTSIV.rawValue } == (row.sts == 0))
  }

  @Test("Two chips range with both ends of a preset", arguments: presets)
  func ranging(_ preset: Preset) async throws {
    try await range(preset, .frequent)
  }

  @Test("… and with the other intervals", arguments: [Preset.UpdateRate.automatic, .infrequent])
  func intervals(_ rate: Preset.UpdateRate) async throws {
    try await range(.android, rate)
    #expect(Preset.android.profile(updateRate: rate) != Preset.android.profile())
  }

  private func range(_ preset: Preset, _ rate: Preset.UpdateRate) async throws {
    let (bench, chips) = try Ends.bench([.qm33, .qm33])
    let a = try await Ends.open(chips[0])
    let b = try await Ends.open(chips[1])
    let far = try await b.makeSession(
      SessionConfiguration(preset.profile(.controlee, updateRate: rate)))
    let near = try await a.makeSession(
      SessionConfiguration(preset.profile(.controller, updateRate: rate)))
    let stream = near.measurements()
    try await far.start()
    try await near.start()
    var distances: [Double] = []
    for try await measurement in stream {
      guard let centimetres = measurement.result.distanceCentimetres else { continue }
      distances.append(Double(centimetres) / 100)
      if distances.count == 2 { break }
    }
    // The chips are 3 m apart, with 3 cm of noise.
    #expect(distances.allSatisfy { abs($0 - 3) < 0.2 }, "\(distances)")
    await a.close()
    await b.close()
    bench.stop()
  }
}
