// SPDX-License-Identifier: Apache-2.0
package import UCI
internal import UCIReference

/// A test of the radio from FiRa's test specification.
package enum RadioTest: Sendable, Hashable {
  /// Sends frames with this payload.
  case periodicTX(psdu: [UInt8])
  /// Receives frames with this payload and counts the errors.
  case perRX(psdu: [UInt8])
  /// Receives one frame. Some chips need its expected payload.
  case rx(psdu: [UInt8] = [])
  /// Sends a frame and receives it.
  case loopback(psdu: [UInt8])
  /// Does one single-sided two-way ranging. Both ends run this test.
  case ssTWR(isResponder: Bool)
  /// Receives frames without payload and checks their scrambled timestamps (FiRa 2.0).
  case srRX

  /// The command that starts the test.
  var command: any UCICommand {
    switch self {
    case .periodicTX(let psdu): TestPeriodicTX(psdu: psdu)
    case .perRX(let psdu): TestPERRX(psdu: psdu)
    case .rx(let psdu): TestRX(psdu: psdu)
    case .loopback(let psdu): TestLoopback(psdu: psdu)
    case .ssTWR: TestSSTWR()
    case .srRX: TestSRRX()
    }
  }

  /// The opcode of the command, which is also the opcode of the notification at its end.
  package var opcode: Opcode { type(of: command).opcode }

  /// Whether the frames are SP3: with scrambled timestamps and without payload.
  var hasNoPayload: Bool {
    switch self {
    case .ssTWR, .srRX: true
    default: false
    }
  }
}

/// The form, the number and the times of the frames of a radio test.
///
/// Sources of the defaults: AOSP (packages/modules/Uwb, RfTestOpenSessionParams) for packets, gap,
/// start, window, slot and STS; UWB Qorvo Tools 1.1.1 for the preamble code and for SP0.
package struct RadioTestConfiguration: Sendable, Hashable {
  /// The channel, 5 or 9 on current chips.
  package var channel: UInt8 = 9
  /// The preamble code, 9…12 in BPRF.
  package var preambleCode: UInt8 = 9
  /// The start-of-frame delimiter: 0 or 2.
  package var sfd: UInt8 = 2
  /// RFRAME: 0 (SP0), 1 (SP1) or 3 (SP3); nil: the usual value for the test.
  package var rframe: UInt8?
  /// The number of STS segments in a frame; nil: the usual number for the RFRAME.
  package var stsSegments: UInt8?
  /// STS_LENGTH: 0 is 32 symbols, 1 is 64, and 2 is 128.
  package var stsLength: UInt8 = 1
  /// The number of frames to send or to expect.
  package var packets: UInt32 = 1_000
  /// Microseconds from the start of a frame to the start of the next.
  package var gap: UInt32 = 2_000
  /// T_START in microseconds: assumed to be the time from switching on the receiver to a frame.
  package var receiverLead: UInt32 = 450
  /// T_WIN in microseconds: assumed to be the time for which the receiver stays switched on. It has
  /// to be more than `receiverLead`; the defaults leave 300 µs for the frame.
  package var receiverWindow: UInt32 = 750
  /// Whether the payload is random. Its first byte is then the seed.
  package var isRandom = false
  /// The ranging bit in the header of the frames.
  package var rangingBit = false
  /// Whether each frame has the next STS index.
  package var incrementsSTSIndex = false
  /// The duration of a slot of single-sided ranging in RSTU, 1200 of which are one millisecond.
  package var slotDuration: UInt16 = 2_400
  /// Milliseconds to wait for the result after the duration of the frames.
  package var patience = 3_000
  /// Milliseconds after which the test is stopped; nil: it runs until it has finished.
  package var limit: Int?
  /// Parameters that are sent after the others, unchanged. A parameter with the id of another one
  /// replaces it.
  package var additional: [TLV] = []

  package init() {}

  /// - Throws: `DriverError.invalidConfiguration` with the first contradiction found.
  package func validate() throws(DriverError) {
    guard packets > 0, gap > 0 else {
      throw .invalidConfiguration("a test has at least one packet, and a gap between them")
    }
    guard receiverWindow > receiverLead else {
      throw .invalidConfiguration(
        "the receiver's window of \(receiverWindow) µs ends before the frame comes, "
          + "\(receiverLead) µs after it was switched on")
    }
  }

  /// Returns the duration of the frames plus `patience`, in milliseconds; at most `limit`.
  func timeout(of test: RadioTest) -> Int {
    let time =
      switch test {
      case .periodicTX, .perRX, .srRX:
        Int(min(UInt64(packets) * UInt64(gap) / 1_000, 1 << 40)) + patience
      default: patience
      }
    return min(time, limit ?? .max)
  }

  /// Returns the parameters of SESSION_SET_APP_CONFIG.
  func parameters(of test: RadioTest) -> [TLV] {
    let frame = rframe ?? (test.hasNoPayload ? 3 : 0)
    // The addresses are the smallest ones: each end only has to name the other.
    var (own, other): (UInt16, UInt16) = (0x0000, 0x0001)
    var list: [TLV] = []
    if case .ssTWR(let isResponder) = test {
      if isResponder { swap(&own, &other) }
      list.append(TLV(AppConfigID.deviceRole, [isResponder ? 0 : 1]))
      list.append(TLV(AppConfigID.slotDuration, slotDuration.littleEndianBytes))
    }
    list += [
      TLV(AppConfigID.channelNumber, [channel]),
      TLV(AppConfigID.numberOfControlees, [1]),
      TLV(AppConfigID.deviceMACAddress, own.littleEndianBytes),
      TLV(AppConfigID.dstMACAddress, other.littleEndianBytes),
      TLV(AppConfigID.macFCSType, [0]),
      TLV(AppConfigID.rframeConfig, [frame]),
      TLV(AppConfigID.preambleCodeIndex, [preambleCode]),
      TLV(AppConfigID.sfdID, [sfd]),
      TLV(AppConfigID.bprfPHRDataRate, [0]),
      TLV(AppConfigID.prfMode, [0]),
      TLV(AppConfigID.numberOfSTSSegments, [stsSegments ?? (frame == 0 ? 0 : 1)]),
      TLV(AppConfigID.stsLength, [stsLength]),
    ]
    list.removeAll { parameter in additional.contains { $0.id == parameter.id } }
    return list + additional
  }

  /// Returns the parameters of TEST_CONFIG_SET.
  func testParameters(of test: RadioTest) -> [TLV] {
    let start = [
      TLV(.rmarkerTXStart, UInt32(0).littleEndianBytes),
      TLV(.rmarkerRXStart, UInt32(0).littleEndianBytes),
    ]
    let increment = TLV(.stsIndexAutoIncrement, [incrementsSTSIndex ? 1 : 0])
    if case .ssTWR = test { return start + [increment] }
    let frames = [
      TLV(.numPackets, packets.littleEndianBytes), TLV(.tGap, gap.littleEndianBytes),
      TLV(.tStart, receiverLead.littleEndianBytes), TLV(.tWin, receiverWindow.littleEndianBytes),
    ]
    // The receiver reports a bitmap of detected STS.
    if case .srRX = test { return frames + [increment, TLV(.stsDetectBitmap, [1])] }
    let random = TLV(.randomizePSDU, [isRandom ? 1 : 0])
    let ranging = TLV(.phrRangingBit, [rangingBit ? 1 : 0])
    let list = frames + [random, ranging] + start
    return incrementsSTSIndex ? list + [increment] : list
  }
}
