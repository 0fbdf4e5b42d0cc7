// SPDX-License-Identifier: Apache-2.0
internal import UCI
internal import UWBLink

/// Loads firmware into an SR1xx until the chip runs it. Blocks, so it must not run in tasks.
struct HBCILoader<Port: LoaderPort> {
  let port: Port
  let image: [UInt8]
  let isCancelled: @Sendable () -> Bool
  let progress: @Sendable (FirmwareProgress) -> Void
  let pause: @Sendable (_ milliseconds: Int) -> Void

  /// The loader's report about the chip.
  struct Chip: Sendable, Hashable {
    /// Whether the chip accepts images signed for production.
    var isProduction: Bool?
    /// The revision of the chip, for example 0xB1.
    var revision: UInt8
  }

  /// The number of attempts, with a reset before each. Source: AOSP's HAL.
  static var attempts: Int { 5 }
  private static var answerTimeout: Int32 { 500 }
  /// Milliseconds from the last segment to the query about its acceptance. Source: AOSP's HAL.
  private static var acceptingMilliseconds: Int { 100 }

  /// Loads the image. Repeats attempts after errors that may not happen again.
  func load() throws(FirmwareError) -> Chip {
    var attempt = 1
    while true {
      do throws(FirmwareError) {
        return try loadOnce(attempt)
      } catch {
        guard error.isWorthAnotherAttempt else { throw error }
        guard attempt < Self.attempts else { throw .givenUp(attempts: attempt, error) }
        attempt += 1
      }
    }
  }

  private func loadOnce(_ attempt: Int) throws(FirmwareError) -> Chip {
    func report(_ step: FirmwareStep, _ sent: Int = 0) throws(FirmwareError) {
      // In later attempts, the chip has been switched off already, so the step is `sending`.
      if isCancelled() { throw .cancelled(step: attempt > 1 ? .sending : step) }
      progress(FirmwareProgress(step: step, sent: sent, total: image.count, attempt: attempt))
    }
    try report(.starting)
    do { try port.beginLoading() } catch { throw .link(error) }

    try report(.identifying)
    let otp = try ask(HBCI.otpInfo, .identifying)
    let id = try ask(HBCI.chipID, .identifying)
    // The source of byte 39 in the first answer and byte 8 in the second is AOSP's HAL.
    guard otp.count > 39 else { throw .wrongAnswer(step: .identifying, otp) }
    guard id.count > 8 else { throw .wrongAnswer(step: .identifying, id) }
    let isProduction: Bool? =
      switch otp[39] {
      case 0x0F, 0x3F: true
      case 0x00: false
      default: nil
      }
    let chip = Chip(isProduction: isProduction, revision: id[8])

    try report(.entering)
    try expect(HBCI.ready, .entering)
    try send(HBCI.header(.general, .command, HBCI.enterImageMode), .entering)
    try expectAcknowledgement(.entering)
    try expect(HBCI.enterImageMode, .entering)

    var sent = 0
    while sent < image.count {
      try report(.sending, sent)
      let end = min(sent + HBCI.segmentLength, image.count)
      try send(image[sent..<end], moreFollow: end < image.count, chip)
      sent = end
    }

    try report(.accepting, sent)
    pause(Self.acceptingMilliseconds)
    try send(HBCI.header(.image, .query, HBCI.imageStatus), .accepting)
    let status = try receive(HBCI.headerLength, .accepting)
    guard status[0] == HBCI.Class.image.rawValue | HBCI.Kind.answer.rawValue else {
      throw .wrongAnswer(step: .accepting, status)
    }
    guard status[1] == HBCI.imageAccepted else {
      throw .refused(
        step: .accepting, code: status[1], meaning: HBCI.meaning(ofImage: status[1]))
    }
    try report(.leaving, sent)
    do { try port.endLoading() } catch { throw .link(error) }
    return chip
  }

  // MARK: packets

  private func send(
    _ data: ArraySlice<UInt8>, moreFollow: Bool, _ chip: Chip
  ) throws(FirmwareError) {
    let segment = HBCI.segment(data, moreFollow: moreFollow)
    try send(segment.header, .sending)
    try expectAcknowledgement(.sending)
    // Revision B2 needs a pause of 250 µs here. Source: AOSP's HAL.
    if chip.revision >= 0xB2 { pause(1) }
    try send(segment.data, .sending)
    try expectAcknowledgement(.sending)
  }

  private func send(_ bytes: [UInt8], _ step: FirmwareStep) throws(FirmwareError) {
    do { try port.sendToLoader(bytes) } catch { throw .link(error) }
  }

  private func receive(_ count: Int, _ step: FirmwareStep) throws(FirmwareError) -> [UInt8] {
    try port.receive(count, step, timeout: Self.answerTimeout)
  }

  private func expectAcknowledgement(_ step: FirmwareStep) throws(FirmwareError) {
    let bytes = try receive(HBCI.headerLength, step)
    guard bytes != HBCI.acknowledgement else { return }
    guard bytes[0] == HBCI.Kind.acknowledgement.rawValue, bytes[1] >= 0x80 else {
      throw .wrongAnswer(step: step, bytes)
    }
    throw .refused(
      step: step, code: bytes[1], meaning: HBCI.meaning(ofAcknowledgement: bytes[1]))
  }

  /// Queries the loader's state, which has to be `state`.
  private func expect(_ state: UInt8, _ step: FirmwareStep) throws(FirmwareError) {
    try send(HBCI.header(.general, .query, HBCI.ready), step)
    let bytes = try receive(HBCI.headerLength, step)
    guard bytes != HBCI.header(.general, .answer, state) else { return }
    guard bytes[0] == HBCI.Kind.answer.rawValue, bytes[1] >= 0x80 else {
      throw .wrongAnswer(step: step, bytes)
    }
    throw .refused(step: step, code: bytes[1], meaning: HBCI.meaning(ofGeneral: bytes[1]))
  }

  /// Sends a query whose answer has data.
  private func ask(
    _ instruction: UInt8, _ step: FirmwareStep
  ) throws(FirmwareError) -> [UInt8] {
    try send(HBCI.header(.general, .query, instruction), step)
    let header = try receive(HBCI.headerLength, step)
    let length = Int(UInt16(littleEndianBytes: header[2...]))
    guard header[0] == HBCI.Kind.answer.rawValue, header[1] == instruction,
      (2...HBCI.answerLength + 1).contains(length)
    else { throw .wrongAnswer(step: step, header) }
    try send(HBCI.acknowledgement, step)
    let data = try receive(length, step)
    guard HBCI.check(header + data) == 0 else { throw .wrongAnswer(step: step, data) }
    return data.dropLast()
  }
}

/// Packets of HBCI, the protocol of the loader in NXP's SR1xx. Source: AOSP's hardware/nxp/uwb
/// (Apache-2.0), halimpl/hal/hbci.
///
/// A packet has a header of four bytes: class and kind, instruction, and length with the lower byte
/// first. Data and a check byte follow. Header and data are sent separately, and each is
/// acknowledged.
enum HBCI {
  /// The upper half of the first byte.
  enum Class: UInt8 {
    case general = 0x00
    /// A firmware image of the usual kind.
    case image = 0x50
  }

  /// The lower half of the first byte.
  enum Kind: UInt8 {
    case query = 1
    case answer = 2
    case command = 3
    case acknowledgement = 4
  }

  static let headerLength = 4
  /// The greatest number of data bytes in a segment to the chip.
  static let segmentLength = 2_048
  /// The greatest number of data bytes in an answer.
  static let answerLength = 256

  // Numbers of instructions.
  static let ready: UInt8 = 0x21
  static let enterImageMode: UInt8 = 0x24
  static let chipID: UInt8 = 0x31
  static let otpInfo: UInt8 = 0x36
  static let acknowledged: UInt8 = 0x01
  static let segment: UInt8 = 0x01
  static let imageStatus: UInt8 = 0x01
  static let imageAccepted: UInt8 = 0x01

  static func header(
    _ class: Class, _ kind: Kind, _ instruction: UInt8, length: UInt16 = 0
  ) -> [UInt8] {
    [`class`.rawValue | kind.rawValue, instruction] + length.littleEndianBytes
  }

  static let acknowledgement = header(.general, .acknowledgement, acknowledged)

  /// Returns the two's complement of the sum of all bytes. Together with this check byte, the sum
  /// is 0.
  static func check(_ bytes: some Sequence<UInt8>) -> UInt8 {
    0 &- bytes.reduce(0, &+)
  }

  /// Returns one segment of an image: its header, and its data with the check byte.
  static func segment(
    _ data: ArraySlice<UInt8>, moreFollow: Bool
  ) -> (header: [UInt8], data: [UInt8]) {
    // A length of 0x8000 means a full segment that is not the last one.
    let length = moreFollow ? 0x8000 : UInt16(data.count + 1)
    let header = header(.image, .command, segment, length: length)
    return (header, data + [check(header) &+ check(data)])
  }

  /// Returns whether a code means an error of transmission: LRC, class, instruction or length.
  static func isTransmissionError(_ code: UInt8) -> Bool { (0x81...0x84).contains(code) }

  static func meaning(ofAcknowledgement code: UInt8) -> String? {
    switch code {
    case 0x81: "the check byte was wrong"
    case 0x82: "the class was not understood"
    case 0x83: "the instruction was not understood"
    case 0x84: "the length of a segment was wrong"
    default: nil
    }
  }

  static func meaning(ofGeneral code: UInt8) -> String? {
    switch code {
    case 0xD1: "its own start has failed (autoload)"
    case 0xD2: "its stored GPIO configuration is damaged"
    case 0xD3: "its stored trim values are damaged"
    case 0xD4: "its stored GPIO configuration and trim values are damaged"
    case 0xE1: "its loader has failed"
    case 0xE3, 0xE4, 0xE5: "its loader could not enter that mode"
    default: nil
    }
  }

  static func meaning(ofImage code: UInt8) -> String? {
    switch code {
    case 0x81: "the image's header is too large"
    case 0x82: "the image's header cannot be read"
    case 0x83, 0x84, 0x85, 0x86: "the image is encrypted in a way the chip does not know"
    case 0x87: "the length of the image's key is wrong"
    case 0x88: "the description of the image's contents is wrong"
    case 0x89: "the chip does not take this version"
    case 0x8A, 0x8B: "the image is for other chips"
    case 0x8C: "the image's contents do not fit their hash"
    case 0x8D: "the image is not signed for this chip (production or development?)"
    case 0x8E, 0x8F: "the image's settings for its installation are wrong"
    case 0x90: "the image is too large"
    case 0x91: "the image's settings for a quick start cannot be read"
    case 0x92, 0x93: "the image does not fit its hash"
    case 0x94: "the image's settings for its execution cannot be read"
    case 0x95: "the chip cannot read its key"
    default: nil
    }
  }
}
