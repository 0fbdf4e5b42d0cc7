// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocol
import Testing
import UCI
import UWB

/// How apps answer an accessory's requests, and values at the limits of fields. A round has at
/// least 6 slots of at least 2400 RSTU. Versions before 2.0 have no requests.
@Suite(.timeLimit(.minutes(10))) struct AnswerTests {
  private func accessory(
    _ version: ConfigurationVersion, _ request: UWBConfigurationData.Request = .init(),
    rate: AccessoryConfigurationData.UpdateRate = .automatic
  ) -> AccessoryConfigurationData {
    var uwb = UWBConfigurationData(version: version, role: .controller, address: 7)
    uwb.request = request
    return AccessoryConfigurationData(preferredUpdateRate: rate, uwb: uwb)
  }

  private func answer(
    _ version: ConfigurationVersion, _ request: UWBConfigurationData.Request = .init()
  ) -> ShareableConfigurationData { .answering(accessory(version, request)) }

  /// A captured session of an iPhone has rounds of 6 slots of 3600 RSTU, every 198 ms.
  @Test func withoutARequestItIsTheCapturedSession() {
    for version in [ConfigurationVersion.v10, .v11] {
      let wild = UWBConfigurationData.Request(
        hopping: true, slotsPerRound: 99, slotDuration: 9_999, interval: 9_999)
      let data = answer(version, wild)
      #expect(data.interval == 198 && data.slotsPerRound == 6 && data.slotDuration == 3_600)
      #expect(data.roundControl == 3 && data.channel == 9 && !data.hopping)
      #expect(data.version == version)
    }
    // The answer treats an unknown rate as the automatic rate.
    let other = accessory(.v11, rate: .init(rawValue: 7))
    #expect(ShareableConfigurationData.answering(other).interval == 198)
  }

  @Test func requestsAreBounded() {
    let small = answer(
      .v20, .init(hopping: false, slotsPerRound: 1, slotDuration: 1_200, interval: 500))
    #expect(small.slotsPerRound == 6 && small.slotDuration == 2_400 && small.interval == 500)
    let great = answer(
      .v20, .init(hopping: true, slotsPerRound: 300, slotDuration: 2_400, interval: 1))
    #expect(great.slotsPerRound == 255 && great.interval == 510 && great.hopping)
    // 7 slots of 2401 RSTU are a little more than 14 ms.
    let odd = answer(.v20, .init(slotsPerRound: 7, slotDuration: 2_401, interval: 1))
    #expect(odd.interval == 15)
  }

  @Test func answersAreRandom() {
    let answers = (0..<40).map { _ in answer(.v11) }
    #expect(Set(answers.map(\.sessionID)).count == 40 && !answers.contains { $0.sessionID == 0 })
    #expect(Set(answers.map(\.address)).count > 20)
    #expect(answers.allSatisfy { $0.address != 7 && (1...0xFFFD).contains($0.address) })
    // The codes are the ones of BPRF.
    #expect(Set(answers.map(\.preambleCode)).isSubset(of: 9...12))
    let vectors = answers.map(\.initialisationVector.bytes)
    #expect(Set(vectors).count == 40)
    #expect(Set(vectors.flatMap(\.self)).count > 40)
  }

  @Test func fieldsBecomeSessionParameters() throws {
    var data = try ShareableConfigurationData(Captured.phone)
    data.channel = 5
    data.preambleCode = 12
    data.roundControl = 6
    data.hopping = true
    data.interval = 250
    data.slotDuration = 2_400
    data.slotsPerRound = 25
    let uwb = try AccessoryConfigurationData(Array(Captured.qorvoMessage.dropFirst())).uwb
    for angles in [true, false] {
      let session = try data.session(of: .app, with: uwb, angles: angles)
      #expect(session.wantsAngles == angles)
      let parameters = session.parameters(for: .fira2)
      let expected: [(AppConfigID, [UInt8])] = [
        (.channelNumber, [5]), (.preambleCodeIndex, [12]), (.rangingRoundControl, [6]),
        (.hoppingMode, [1]), (.rangingDuration, [250, 0, 0, 0]), (.slotDuration, bytes("6009")),
        (.slotsPerRR, [25]), (.deviceMACAddress, bytes("87B4")),
        (.dstMACAddress, bytes("11D7")),
      ]
      for (id, value) in expected {
        #expect(parameters.first { $0.id == id.rawValue }?.value == value, "\(id.name)")
      }
    }
  }

  // MARK: bytes at the limits

  @Test func flagsAreZeroOrOne() {
    var accessory = accessory(.v20).bytes
    accessory[16 + 25] = 2
    #expect(
      invalidField { () throws(AccessoryError) in
        _ = try AccessoryConfigurationData(accessory)
      } == "requested hopping mode")
    var shareable = answer(.v20).bytes
    shareable[34] = 0xFF
    #expect(
      invalidField { () throws(AccessoryError) in
        _ = try ShareableConfigurationData(shareable)
      } == "hopping mode")
  }

  @Test func trailingBytesAreNamed() {
    #expect(
      invalidField { () throws(AccessoryError) in
        _ = try ShareableConfigurationData(Captured.phone + [0])
      } == "length")
    var data = Array(Captured.qorvoMessage.dropFirst())
    data[15] += 1
    #expect(
      invalidField { () throws(AccessoryError) in
        _ = try AccessoryConfigurationData(data + [0])
      } == "UWB configuration length")
  }

  /// The UWB part has its own length, independent of the following bytes.
  @Test func aTruncatedUWBPartIsNamed() {
    var data = Array(Captured.qorvoMessage.dropFirst())
    data.removeLast()
    #expect(
      invalidField { () throws(AccessoryError) in _ = try AccessoryConfigurationData(data) }
        == "UWB configuration")
    // The length is one byte more than the length of the part.
    data = Array(Captured.qorvoMessage.dropFirst())
    data[15] = 20
    #expect(
      invalidField { () throws(AccessoryError) in _ = try AccessoryConfigurationData(data) }
        == "UWB configuration length")
  }

  @Test func truncatedFieldsAreNamed() {
    let fields = [
      (1, "version"), (4, "length"), (6, "country"), (10, "session id"),
      (11, "preamble code index"),
      (12, "channel"), (14, "slots per round"), (16, "slot duration"), (18, "ranging interval"),
      (19, "ranging round control"), (25, "static STS IV"), (27, "destination address"),
      (29, "clock drift"),
    ]
    for (count, field) in fields {
      #expect(
        invalidField { () throws(AccessoryError) in
          _ = try ShareableConfigurationData(Array(Captured.phone[..<count]))
        } == field, "\(count) bytes")
    }
  }

  @Test func laterMinorVersionsAreKept() throws {
    var data = Array(Captured.qorvoMessage.dropFirst())
    data[2] = 3
    let configuration = try AccessoryConfigurationData(data)
    #expect(configuration.minorVersion == 3 && configuration.bytes == data)
  }

  @Test func vectorsHaveSixBytesAndCountriesTwo() {
    for count in [0, 5, 7] {
      #expect(
        ShareableConfigurationData.InitialisationVector([UInt8](repeating: 1, count: count)) == nil)
    }
    for country in [[], [0x45], [0x45, 0x55, 0x53]] as [[UInt8]] {
      var data = ShareableConfigurationData(sessionID: 1, address: 2)
      data.country = country
      #expect(data.bytes.count == 30)
    }
  }
}
