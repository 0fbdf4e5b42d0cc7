// SPDX-License-Identifier: Apache-2.0
import Testing
import UCI
import UCITestSupport

/// The elements of messages.
@Suite("Parts of messages") struct PrimitiveTests {
  @Test func `An address is two or eight bytes in hexadecimal digits`() {
    let short: [(String, UInt64)] = [("1", 1), ("0x1", 1), ("00a2", 0xA2), ("FFFF", 0xFFFF)]
    for (text, value) in short {
      let address = MACAddress(text)
      #expect(address?.value == value && address?.isExtended == false, "\(text)")
    }
    for text in ["0123456789abcdef", "01:23:45:67:89:ab:cd:ef", "0x0123456789ABCDEF"] {
      let address = MACAddress(text)
      #expect(address?.value == 0x0123_4567_89AB_CDEF && address?.isExtended == true, "\(text)")
    }
    for text in [
      "", "0x", "g", "000g", "12345", "0x12345", "123456789abcdef", "0123456789abcdef0", "-1",
      "1.0", "1:2", "1:2:3", "001:2", ":01", "01:",
    ] {
      #expect(MACAddress(text) == nil, "\(text)")
    }
  }

  @Test func `Numbers are written in their width, least significant byte first`() {
    var writer = PayloadWriter()
    writer.u8(0x01)
    writer.u16(0x0302)
    writer.u32(0x0706_0504)
    writer.bytes([0x08, 0x09])
    #expect(writer.bytes == Array(1...9))
  }

  @Test func `A header says nothing that nobody asked for`() {
    let header = PacketHeader(type: .command, group: .core, oid: 2, payloadLength: 3)
    #expect(header.encoded() == [0x20, 0x02, 0x00, 0x03])
    let long = PacketHeader(.command, Opcode(.core, 2), payloadLength: 256)
    #expect(long.encoded() == [0x20, 0x82, 0x00, 0x01])
  }

  /// The reason codes of FiRa's UCI, from Android's open implementation (packages/modules/Uwb,
  /// uci_packets.pdl, enum ReasonCode).
  @Test func `Reasons have the numbers of the specification`() {
    let reasons: [(StateChangeReason, UInt8)] = [
      (.managementCommand, 0x00), (.maxRoundRetriesReached, 0x01), (.maxMeasurementsReached, 0x02),
      (.stoppedInBand, 0x05), (.insufficientSlots, 0x21), (.invalidRangingDuration, 0x23),
      (.sessionKeyNotFound, 0x2A), (.invalidNumberOfControlees, 0x33),
    ]
    for (reason, value) in reasons { #expect(reason.rawValue == value) }
  }

  /// The numbers of FiRa's UCI as Android's open implementation publishes them, in their order.
  @Test func `Codes have the numbers of the specification`() {
    func check<Code: RawRepresentable>(_ first: UInt8, _ codes: [Code])
    where Code.RawValue == UInt8 {
      #expect(codes.map(\.rawValue) == codes.indices.map { first + UInt8($0) })
    }
    check(0x00, [.initialising, .ready, .active] as [DeviceState])
    check(0xFC, [.wokenUp] as [DeviceState])
    check(0xFE, [.hardwareReset, .error] as [DeviceState])
    check(0x00, [.initialised, .deinitialised, .active, .idle] as [SessionState])
    check(0x00, [.ranging, .rangingWithInBandData, .dataTransfer] as [SessionType])
    check(0xD0, [.deviceTest] as [SessionType])
    check(
      0x00,
      [
        .ok, .listFull, .keyFetchFailed, .subSessionIDNotFound, .subSessionKeyNotFound,
        .subSessionKeyNotApplicable, .sessionKeyNotFound, .addressNotFound, .addressAlreadyPresent,
      ] as [MulticastStatus])
    check(
      0x00,
      [
        .ok, .rejected, .failed, .syntaxError, .invalidParameter, .invalidRange,
        .invalidMessageSize, .unknownGID, .unknownOID, .readOnly, .commandRetry, .unknown,
        .notApplicable,
      ] as [Status])
    check(
      0x11,
      [
        .sessionNotExist, .sessionDuplicate, .sessionActive, .maxSessionsExceeded,
        .sessionNotConfigured, .activeSessionsOngoing, .multicastListFull, .addressNotFound,
        .addressAlreadyPresent, .initiationTimeTooOld, .okNegativeDistance,
      ] as [Status])
    check(
      0x20,
      [
        .rangingTxFailed, .rangingRxTimeout, .rangingRxPhyDecFailed, .rangingRxPhyToaFailed,
        .rangingRxPhyStsFailed, .rangingRxMacDecFailed, .rangingRxMacIEDecFailed,
        .rangingRxMacIEMissing, .roundIndexNotActivated, .activeRoundsExceeded,
      ] as [Status])
    check(0x30, [.dataMaxTxPSDUSizeExceeded, .dataRxCRCError] as [Status])
  }
}
