// SPDX-License-Identifier: Apache-2.0
import Testing
import UWBTestSupport
import UCI
import UCIReference

@testable import UWB

@Suite("Session configurations", .computes)
struct ConfigurationTests {
  /// Every field with a value other than the default.
  private static var unusual: SessionConfiguration {
    var configuration = SessionConfiguration(
      role: .controlee, sessionID: 7, address: MACAddress(extended: 0x0102_0304_0506_0708),
      peers: [MACAddress(extended: 9), MACAddress(extended: 10)])
    configuration.channel = 5
    configuration.preambleCode = 12
    configuration.sfd = 0
    configuration.rframe = 1
    configuration.slotDuration = 0x0E10
    configuration.slotsPerRound = 30
    configuration.interval = 0x0102_0304
    configuration.blockStride = 2
    configuration.roundUsage = .contentionDoubleSided
    configuration.sts = .fixed(.init(vendorID: [1, 2], iv: [3, 4, 5, 6, 7, 8]))
    configuration.wantsAngles = false
    configuration.resultReport = [.timeOfFlight, .elevation]
    configuration.wantsRSSI = false
    configuration.hopping = true
    configuration.fcs = .crc32
    configuration.maxMeasurements = 0x0203
    return configuration
  }

  private static var usual: SessionConfiguration {
    var configuration = SessionConfiguration(
      role: .controller, sessionID: 7, address: MACAddress(1), peers: [MACAddress(2)])
    configuration.resultReport = [.timeOfFlight, .azimuth]
    return configuration
  }

  private static func read(_ list: [TLV]) throws -> SessionConfiguration {
    try SessionConfiguration(sessionID: 7, SessionParameters(list))
  }

  @Test("What is sent is read as the same configuration")
  func roundTrip() throws {
    for configuration in [Self.unusual, Self.usual] {
      #expect(try Self.read(configuration.parameters(for: .fira2)) == configuration)
    }
    for usage in SessionConfiguration.RoundUsage.allCases {
      var configuration = Self.usual
      configuration.roundUsage = usage
      #expect(try Self.read(configuration.parameters(for: .fira2)) == configuration, "\(usage)")
    }
  }

  @Test("Several peers share the rounds, and one peer does where the session says so")
  func oneToMany() throws {
    for role in [SessionConfiguration.Role.controller, .controlee] {
      var configuration = Self.usual
      configuration.role = role
      for isOneToMany in [false, true] {
        configuration.isOneToMany = isOneToMany
        let list = configuration.parameters(for: .fira2)
        #expect(list.contains(TLV(.multiNodeMode, [isOneToMany ? 1 : 0])))
        #expect(try Self.read(list) == configuration)
        #expect(configuration.problems().errors.isEmpty)
      }
    }
    var configuration = Self.usual
    configuration.peers.append(MACAddress(3))
    #expect(configuration.isOneToMany)
    // The parameters read back unchanged even if their session cannot range, and the session is
    // rejected.
    configuration.isOneToMany = false
    #expect(try Self.read(configuration.parameters(for: .fira2)) == configuration)
    #expect(configuration.problems().errors.map(\.parameters) == [[.multiNodeMode]])
  }

  @Test(
    "A value for which no field has room is sent as it was read",
    arguments: [
      TLV(.stsLength, [0]), TLV(.multiNodeMode, [2]),
      TLV(.deviceRole, [0]), TLV(.macAddressMode, [1]), TLV(.numberOfControlees, [2]),
      TLV(.scheduleMode, [0]), TLV(.rangingRoundUsage, [5]), TLV(.rssiReporting, [2]),
      TLV(.aoaResultRequest, [2]), TLV(.hoppingMode, [2]), TLV(.macFCSType, [2]),
      TLV(.slotDuration, [1]), TLV(.rangingDuration, [1, 2]), TLV(.keyRotation, [1]),
      TLV(.maxNumberOfMeasurements, [1]), TLV(0xA5, [1, 2, 3, 4, 5, 6, 7, 8, 9]),
    ])
  func additional(_ tlv: TLV) throws {
    var list = Self.usual.parameters(for: .fira2)
    list.removeAll { $0.id == tlv.id }
    let configuration = try Self.read(list + [tlv])
    #expect(configuration.additional == [tlv])
    #expect(configuration.parameters(for: .fira2).filter { $0.id == tlv.id } == [tlv])
    #expect(configuration.wantsAngles, "also where another number than 1 asks for them")
  }

  @Test("An STS that cannot be filled in stays as it is written, once")
  func unknownSTS() throws {
    let list = Self.usual.parameters(for: .fira2).filter {
      ![.stsConfig, .vendorID, .staticSTSIV].contains(AppConfigID(rawValue: $0.id))
    }
    for (own, config) in [
      ([TLV(.stsConfig, [1])], 1), ([TLV(.stsConfig, [0])], 0), ([TLV(.stsConfig, [3])], 3),
      ([], 0),
    ] as [([TLV], UInt8)] {
      let configuration = try Self.read(list + own)
      #expect(configuration.additional == [TLV(.stsConfig, [config])])
      let sent = configuration.parameters(for: .fira2).filter { $0.id == 0x02 }
      #expect(sent == configuration.additional)
    }
  }

  @Test("Who takes part has to be said, and what is missing is named")
  func missing() throws {
    let list = Self.usual.parameters(for: .fira2)
    for id in [AppConfigID.deviceType, .deviceMACAddress, .dstMACAddress] {
      let error = #expect(throws: DriverError.self) {
        try Self.read(list.filter { $0.id != id.rawValue })
      }
      let problems = try #require(error?.configurationProblems)
      #expect(problems.map(\.parameters) == [[id]])
    }
    let wrong = list.map { $0.id == AppConfigID.deviceMACAddress.rawValue ? TLV($0.id, [1]) : $0 }
    #expect(throws: DriverError.self) { try Self.read(wrong) }
  }

  @Test("Each STS has its number and its parameters")
  func sts() {
    typealias STS = SessionConfiguration.STS
    let key = SessionConfiguration.SessionKey([UInt8](repeating: 7, count: 16))
    let own = SessionConfiguration.SubSession(id: 0x0102, key: key)
    for (sts, config, parameters) in [
      (.fixed(.sample), 0, [TLV(.vendorID, [8, 7]), TLV(.staticSTSIV, [1, 2, 3, 4, 5, 6])]),
      (.dynamic, 1, []), (.dynamicWithControleeKey(subSession: nil), 2, []),
      (.dynamicWithControleeKey(subSession: 5), 2, [TLV(.subSessionID, [5, 0, 0, 0])]),
      (.provisioned(key), 3, [TLV(.sessionKey, key.bytes)]),
      (.provisionedWithControleeKey(key, nil), 4, [TLV(.sessionKey, key.bytes)]),
      (
        .provisionedWithControleeKey(key, own), 4,
        [
          TLV(.sessionKey, key.bytes), TLV(.subSessionID, [2, 1, 0, 0]),
          TLV(.subSessionKey, key.bytes),
        ]
      ),
    ] as [(STS, UInt8, [TLV])] {
      #expect(sts.config == config)
      #expect(sts.parameters == parameters)
      var configuration = Self.usual
      configuration.sts = sts
      let list = configuration.parameters(for: .fira2)
      for tlv in [TLV(.stsConfig, [config])] + parameters { #expect(list.contains(tlv)) }
    }
  }

  @Test("Parameters beyond the fields: only where they say something")
  func optional() {
    let plain = Self.usual.parameters(for: .fira2)
    for id in [
      AppConfigID.blockStrideLength, .macFCSType, .keyRotation, .keyRotationRate,
      .maxNumberOfMeasurements,
    ] { #expect(!plain.contains { $0.id == id.rawValue }) }
    #expect(plain.contains(TLV(.rssiReporting, [1])))
    #expect(
      !Self.usual.parameters(for: .fira1).contains { $0.id == AppConfigID.rssiReporting.rawValue })
    var configuration = Self.usual
    configuration.keyRotationRate = 0
    configuration.resultReport = nil
    configuration.additional = [TLV(.slotsPerRR, [9])]
    let list = configuration.parameters(for: .fira2)
    #expect(list.contains(TLV(.keyRotation, [1])) && list.contains(TLV(.keyRotationRate, [0])))
    #expect(list.contains(TLV(.resultReportConfig, [0x0F])))
    #expect(list.filter { $0.id == AppConfigID.slotsPerRR.rawValue } == configuration.additional)
    configuration.wantsAngles = false
    #expect(configuration.parameters(for: .fira2).contains(TLV(.resultReportConfig, [0x01])))
  }

  @Test("What the ends report are the bits of RESULT_REPORT_CONFIG")
  func reports() {
    typealias Report = SessionConfiguration.ResultReport
    #expect(
      [Report.timeOfFlight, .azimuth, .elevation, .figureOfMerit].map(\.rawValue) == [1, 2, 4, 8])
  }

  @Test("Mixed addresses, and more peers than there is room for")
  func peers() {
    var configuration = Self.usual
    configuration.peers.append(MACAddress(extended: 3))
    #expect(configuration.problems().map(\.parameters).first?.first == .macAddressMode)
    for (isExtended, limit) in [(false, 127), (true, 31)] {
      func address(_ number: Int) -> MACAddress {
        isExtended ? MACAddress(extended: UInt64(number)) : MACAddress(UInt16(number))
      }
      configuration.address = address(0)
      for count in [limit, limit + 1] {
        configuration.peers = (1...count).map(address)
        let sentences = configuration.problems().map(\.sentence)
        #expect(sentences.contains { $0.contains("has room for") } == (count > limit))
      }
    }
  }
}
