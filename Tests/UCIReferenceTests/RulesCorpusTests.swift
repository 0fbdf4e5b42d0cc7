// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI
import UCIReference
import UCITestSupport

/// Configurations that real chips accepted must pass the check, and rejected ones must not.
@Suite("The check against what real chips did")
struct RulesCorpusTests {
  // A DWM3001CDK with QM33SDK 1.1.1 and an SR250 with published firmware accepted these, and their
  // sessions became IDLE.
  @Test(
    "A configuration that a chip took has no error",
    arguments: [
      (
        [
          "21 03 00 47 | 01000000 12 000101 110101 030100 010102 06020000 07020100 040109 020100 "
            + "120103 220101 14010a 150102 08026009 0904c8000000 1b0119 27020807 2806010203040506 "
            + "350101"
        ], Dialect.Vendor.qorvo, Dialect.Generation.fira2
      ),
      (
        [
          "21 03 00 2b | 01000000 09 0904f0000000 08026009 1b0106 2806010203040506 27020807 14010a "
            + "040109 050101 07021122",
          "21 03 00 1b | 01000000 07 110100 030100 260100 220101 06029e36 010102 000100",
        ], .nxp, .fira3
      ),
    ])
  func taken(packets: [String], vendor: Dialect.Vendor, generation: Dialect.Generation) throws {
    let dialect = Dialect(generation: generation, vendor: vendor)
    let list = try packets.flatMap {
      try #require(try decode($0, as: SetAppConfig.self, dialect: dialect)).parameters
    }
    let problems = ConfigurationCheck(SessionParameters(list, dialect: dialect)).problems()
    #expect(problems.errors.isEmpty, "\(problems)")
  }

  @Test("A DWM3001CDK answered the start of the formal list with ERROR_SESSION_NOT_CONFIGURED")
  func notStarted() throws {
    let packet =
      "21 03 00 1f | 01000000 08 000101 110101 030100 010102 06020000 07020100 220101 040109"
    let list = try #require(try decode(packet, as: SetAppConfig.self)).parameters
    let parameters = SessionParameters(list, dialect: Dialect(vendor: .qorvo))
    let problems = ConfigurationCheck(parameters).problems()
    #expect(problems.first?.sentence.contains("ERROR_SESSION_NOT_CONFIGURED") == true)
  }

  @Test(
    "Every configuration of the corpus that was taken is taken",
    .enabled(
      if: Corpus.exists(Corpus.frames),
      "Skipped: there is no uci-frames.jsonl in the folder named by UWB_CORPUS."))
  func corpus() throws {
    var complete = 0
    for line in try Corpus.lines(Corpus.frames) where line["real"].isTrue {
      let text = try #require(line["hex"].text)
      let vendor: Dialect.Vendor =
        line["vendor"].text?.hasPrefix("NXP") == true
        ? .nxp : line["vendor"].text?.hasPrefix("Qorvo") == true ? .qorvo : .unknown
      let dialect = Dialect(generation: vendor == .nxp ? .fira3 : .fira2, vendor: vendor)
      guard let command = try? decode(text, as: SetAppConfig.self, dialect: dialect) else {
        continue
      }
      let parameters = SessionParameters(command.parameters, dialect: dialect)
      // NXP's sample sends a session in two parts.
      let isComplete = parameters.isSet(.deviceType) && parameters.isSet(.dstMACAddress)
      let problems = ConfigurationCheck(parameters, isComplete: isComplete).problems()
      #expect(problems.errors.isEmpty, "\(text): \(problems)")
      complete += isComplete ? 1 : 0
    }
    #expect(complete >= 3)
  }

  // A channel that does not exist (refused by Google's simulated chip), initiation times and modes
  // of wrong lengths, parameters that FiRa 2.0 removed, an undefined address mode.
  @Test(
    "What chips refuse is flagged, whatever else is missing",
    arguments: [
      (TLV(0x04, [7]), Dialect.Generation.fira2), (TLV(0x2B, [0, 0]), .fira2),
      (TLV(0x26, [0, 0, 0, 0]), .fira2), (TLV(0x1C, [1]), .fira2), (TLV(0x26, [1]), .fira1),
    ])
  func refused(tlv: TLV, generation: Dialect.Generation) throws {
    let parameters = SessionParameters([tlv], dialect: Dialect(generation: generation))
    let errors = ConfigurationCheck(parameters).problems().errors
    #expect(errors.contains { $0.parameters.first?.rawValue == tlv.id }, "\(tlv)")
  }
}
