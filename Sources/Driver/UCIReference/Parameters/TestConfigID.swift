// SPDX-License-Identifier: Apache-2.0

import UCI

/// A parameter of the radio tests (TEST_CONFIG_SET, TEST_CONFIG_GET).
///
/// Sources: FiRa's as published in AOSP (packages/modules/Uwb: uci_packets.pdl and, with the
/// defaults, the support library's RfTestOpenSessionParams); RSSI_OUTLIERS in UWB Qorvo Tools;
/// NXP's in nxp-uwb/sr250-uwbiot-zephyr.
package struct TestConfigID: TabulatedID {
  /// The byte on the wire, or the first of two.
  package let number: UInt8
  /// Second byte of the identifier, for parameters of NXP that have two bytes (0xE5).
  package let subID: UInt8?

  package init(_ number: UInt8, _ subID: UInt8? = nil) {
    self.number = number
    self.subID = subID
  }

  package var name: String { name() }
  package var unknownName: String { unknownParameter("TEST_CONFIG", number, subID) }

  // The parameters used in the code.
  package static let numPackets = TestConfigID(0x00)
  package static let tGap = TestConfigID(0x01)
  package static let tStart = TestConfigID(0x02)
  package static let tWin = TestConfigID(0x03)
  package static let randomizePSDU = TestConfigID(0x04)
  package static let phrRangingBit = TestConfigID(0x05)
  package static let rmarkerTXStart = TestConfigID(0x06)
  package static let rmarkerRXStart = TestConfigID(0x07)
  package static let stsIndexAutoIncrement = TestConfigID(0x08)
  package static let stsDetectBitmap = TestConfigID(0x09)

  private static let yesNo: [UInt64: String] = [0: "no", 1: "yes"]
  private static let whole = UInt64(0)...UInt64(UInt32.max)

  package static let table = ParameterTable<TestConfigID>([
    .init(
      TestConfigID(0x00), "NUM_PACKETS", [4], unit: "packets", range: whole, default: 1000,
      summary: "How many frames are sent or expected."),
    .init(
      TestConfigID(0x01), "T_GAP", [4], unit: "us", range: whole, default: 2000,
      summary: "From the start of a frame to the start of the next."),
    .init(
      TestConfigID(0x02), "T_START", [4], unit: "us", range: whole, default: 450,
      summary: "Taken to be how much earlier than a frame the receiver is switched on."),
    .init(
      TestConfigID(0x03), "T_WIN", [4], unit: "us", range: whole, default: 750,
      summary: "Taken to be how long the receiver stays switched on."),
    .init(
      TestConfigID(0x04), "RANDOMIZE_PSDU", [1], range: 0...1, default: 0, values: yesNo,
      summary: "Whether the payload of the frames is random."),
    .init(
      TestConfigID(0x05), "PHR_RANGING_BIT", [1], range: 0...1, default: 0,
      summary: "The ranging bit in the header of the frames."),
    .init(
      TestConfigID(0x06), "RMARKER_TX_START", [4], range: whole, default: 0,
      summary: "When the first frame is sent."),
    .init(
      TestConfigID(0x07), "RMARKER_RX_START", [4], range: whole, default: 0,
      summary: "When the first frame is expected."),
    .init(
      TestConfigID(0x08), "STS_INDEX_AUTO_INCR", [1], range: 0...1, default: 0, values: yesNo,
      summary: "Whether each frame has the next STS index."),
    .init(
      TestConfigID(0x09), "STS_DETECT_BITMAP", [1], range: 0...1, default: 0, values: yesNo,
      summary: "Whether the bitmap of detected STS is reported."),
    .init(TestConfigID(0xE5, 0x01), "RSSI_CALIBRATION_OPTION", [], vendors: [.nxp]),
    .init(TestConfigID(0xE5, 0x02), "AGC_GAIN", [], vendors: [.nxp]),
    .init(TestConfigID(0xE5, 0x03), "STS_KEY_OPTION", [], vendors: [.nxp]),
    .init(TestConfigID(0xEB), "RSSI_OUTLIERS", [2], vendors: [.qorvo]),
  ])
}

extension TLV {
  /// Creates a parameter of a radio test.
  package init(_ id: TestConfigID, _ value: [UInt8]) {
    self.init(id.number, value, subID: id.subID)
  }
}
