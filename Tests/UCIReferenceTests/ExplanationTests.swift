// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI
import UCIReference

@Suite("Codes in plain words")
struct ExplanationTests {
  @Test("Each explanation is a sentence, each code is explained once for each kind of chip")
  func tables() {
    for family in CodeFamily.allCases {
      var seen: Set<String> = []
      for row in family.explanations {
        #expect(row.meaning.hasSuffix(".") && row.meaning.first?.isUppercase == true, "\(row)")
        #expect(
          row.recoverySuggestions.allSatisfy { $0.hasSuffix(".") && $0.first?.isUppercase == true },
          "\(row)")
        #expect(row.causes.allSatisfy { !$0.isEmpty && !$0.hasSuffix(".") }, "\(row)")
        let vendors = row.vendors.isEmpty ? ["everybody"] : row.vendors.map(\.rawValue)
        for vendor in vendors {
          #expect(seen.insert("\(row.code) \(vendor)").inserted, "\(family) \(row.name) \(vendor)")
        }
      }
    }
  }

  @Test("A failure of a round, and every configuration error at start, says what to try")
  func nextSteps() {
    for code in UInt8(0x20)...0x27 {
      let row = Status(rawValue: code).explained()
      #expect(row?.recoverySuggestions.isEmpty == false && row?.causes.isEmpty == false, "\(code)")
    }
    for code in (UInt8(0x1D)...0x42) {
      #expect(
        StateChangeReason(rawValue: code).explained()?.recoverySuggestions.isEmpty == false,
        "\(code)")
    }
  }

  @Test("0x50…0x53 and 0x80…0x82 mean what their vendor says")
  func vendors() {
    let busy = Status(rawValue: 0x50)
    #expect(busy.description == "STATUS_0x50")
    #expect(busy.explained() == nil)
    #expect(busy.explained(in: Dialect(vendor: .qorvo))?.name == "ERROR_CCC_SE_BUSY")
    #expect(busy.explained(in: Dialect(vendor: .android))?.name == "ERROR_CCC_SE_BUSY")
    #expect(busy.explained(in: Dialect(vendor: .nxp))?.name == "BINDING_SUCCESS")
    #expect(
      busy.explanation == "Qorvo, Android: The secure element is busy. NXP: The chip was bound to "
        + "its secure element.")
    let off = Status(rawValue: 0x53)
    #expect(off.explained(in: Dialect(vendor: .android))?.name == "REGULATION_UWB_OFF")
    #expect(off.explained(in: Dialect(vendor: .nxp))?.name == "CALIBRATION_IN_PROGRESS")
    #expect(off.explained(in: Dialect(vendor: .qorvo)) == nil)
    let angles = StateChangeReason(rawValue: 0x80)
    #expect(angles.explained(in: Dialect(vendor: .qorvo))?.name == "INVALID_CHANNEL_WITH_AOA")
    #expect(angles.explained(in: Dialect(vendor: .nxp))?.name == "NO_RANGING_DATA_SET")
    #expect(Status(rawValue: 0xEE).explanation == nil)
  }

  @Test("Codes that changed their meaning are read for the chip, and the raw value is kept")
  func changed() {
    let nxp3 = Dialect(generation: .fira3, vendor: .nxp)
    #expect(Status.addressNotFound.explained(in: nxp3)?.name == "INVALID_HUS_SLOT_ALLOCATION")
    #expect(Status.addressNotFound.explained()?.name == "ERROR_ADDRESS_NOT_FOUND")
    #expect(Status.addressAlreadyPresent.explained(in: nxp3)?.name == "INVALID_SLOT_DURATION")
    #expect(Status(rawValue: 0x2A).description == "STATUS_0x2A")
    #expect(
      Status(rawValue: 0x2A).explained(in: Dialect(vendor: .qorvo))?.name
        == "ROUND_INDEX_NOT_SET_AS_INITIATOR")
    for code in UInt8.min...UInt8.max {
      #expect(Status(rawValue: code).rawValue == code)
      #expect(Status(rawValue: code).explained().map { $0.code == code } ?? true)
    }
  }

  @Test("Regulation is a status and a reason")
  func regulation() {
    let android = Dialect(vendor: .android)
    #expect(
      Status(rawValue: 0x53).explained(in: android)?.recoverySuggestions
        == ["Set the code of the country the device is in."])
    #expect(
      StateChangeReason(rawValue: 0x82).explained(in: android)?.name == "REGULATION_UWB_OFF")
  }

  @Test("Codes are found by number, name and a part of a name")
  func finding() {
    #expect(explanations(of: "0x21").map(\.family) == [.status, .stateChangeReason])
    #expect(explanations(of: "33").map(\.explanation.name).first == "RANGING_RX_TIMEOUT")
    #expect(explanations(of: "ranging-rx-timeout").map(\.explanation.code) == [0x21])
    #expect(explanations(of: "sts").contains { $0.explanation.name == "INVALID_STS_CONFIG" })
    #expect(explanations(of: "no such code").isEmpty)
    #expect(explanations(of: "300").isEmpty)
  }
}
