// SPDX-License-Identifier: Apache-2.0
internal import UWBLink

/// Writes the flash of an SR2xx. Blocks, so it must not run in tasks.
///
/// The frames of the image are sent unchanged, and the chip answers each. There is no published way
/// to exit the loader. Afterwards the chip is in its loader, as after any reset.
struct HDLLLoader<Port: LoaderPort> {
  let port: Port
  let image: FirmwareImage
  let isCancelled: @Sendable () -> Bool
  let progress: @Sendable (FirmwareProgress) -> Void

  private static var readyTimeout: Int32 { 1_000 }
  /// The time-out in milliseconds, which includes the erasing of pages. NXP's middleware waits as
  /// long for IRQ.
  private static var answerTimeout: Int32 { 10_000 }
  /// The greatest number of notifications before an answer.
  private static var patience: Int { 8 }

  func load() throws(FirmwareError) {
    try start(.starting)
    var written = 0
    for end in image.frameEnds {
      if isCancelled() { throw halfWritten(written, .cancelled(step: .sending)) }
      report(.sending, written)
      do throws(FirmwareError) {
        try write(Array(image.bytes[written..<end]))
      } catch {
        throw halfWritten(written, error)
      }
      written = end
    }
    report(.leaving, written)
    try start(.leaving)
    do { try port.endLoading() } catch { throw .link(error) }
  }

  /// Returns the error of an interrupted write. If no frame was sent yet, this is the cause itself.
  private func halfWritten(_ written: Int, _ cause: FirmwareError) -> FirmwareError {
    if written == 0, case .cancelled = cause { return cause }
    return .halfWritten(written: written, total: image.bytes.count, cause)
  }

  private func report(_ step: FirmwareStep, _ sent: Int = 0) {
    progress(FirmwareProgress(step: step, sent: sent, total: image.bytes.count, attempt: 1))
  }

  /// Resets the chip and waits for its loader.
  private func start(_ step: FirmwareStep) throws(FirmwareError) {
    report(step, step == .leaving ? image.bytes.count : 0)
    do { try port.beginLoading() } catch { throw .link(error) }
    let frame = try receive(step, timeout: Self.readyTimeout)
    guard frame == HDLL.ready else { throw .wrongAnswer(step: step, frame) }
  }

  private func write(_ frame: [UInt8]) throws(FirmwareError) {
    do { try port.sendToLoader(frame) } catch { throw .link(error) }
    let sent = HDLL.word(of: frame)
    for _ in 0..<Self.patience {
      let answer = try receive(.sending, timeout: Self.answerTimeout)
      guard let word = HDLL.word(of: answer), answer.count > 6 else {
        throw .wrongAnswer(step: .sending, answer)
      }
      let status = answer[4]
      guard status < 0x80 else {
        throw .refused(step: .sending, code: status, meaning: HDLL.meaning(of: status))
      }
      // The loader may report by itself that it is ready.
      if word.kind == .notification { continue }
      // Only the first frame of a chain has a command word.
      guard word.kind == .response, sent?.kind != .command || word.group == sent?.group else {
        throw .wrongAnswer(step: .sending, answer)
      }
      return
    }
    throw .noAnswer(step: .sending)
  }

  private func receive(
    _ step: FirmwareStep, timeout: Int32
  ) throws(FirmwareError) -> [UInt8] {
    let header = try port.receive(HDLL.headerLength, step, timeout: timeout)
    let length = HDLL.length(of: header)
    guard length <= HDLL.longestFrame else { throw .wrongAnswer(step: step, header) }
    let frame = header + (try port.receive(length - HDLL.headerLength, step, timeout: 0))
    guard HDLL.isIntact(frame) else { throw .wrongAnswer(step: step, frame) }
    return frame
  }
}

/// Frames of HDLL, the protocol of the loader in NXP's SR2xx. Source: the layouts that
/// nxp-uwb/sr250-uwbiot-zephyr documents.
///
/// A frame has a header of two bytes (bit 13: more frames follow; bits 12 to 0: length), the
/// payload, and a CRC over both. The higher byte comes first. A payload begins with a word: two
/// bits of type, six of group, eight of operation.
enum HDLL {
  /// The longest frame that the loader accepts.
  static let longestFrame = 4_200
  static let headerLength = 2
  static let checkLength = 2

  enum Kind: UInt8 {
    case command = 0
    case response = 1
    case notification = 2
  }

  struct Word: Hashable, Sendable {
    var kind: Kind?
    var group: UInt8
    var operation: UInt8

    init(kind: Kind?, group: UInt8, operation: UInt8) {
      self.kind = kind
      self.group = group
      self.operation = operation
    }

    init(_ first: UInt8, _ second: UInt8) {
      self.init(kind: Kind(rawValue: first >> 6), group: first & 0x3F, operation: second)
    }
  }

  /// The loader's notification after a reset.
  static let ready: [UInt8] = [0x00, 0x04, 0x81, 0x01, 0x02, 0x00, 0x7D, 0xC8]

  /// Returns CRC-16/CCITT-FALSE: polynomial 0x1021, initial value 0xFFFF, not reflected.
  static func check(_ bytes: some Sequence<UInt8>) -> UInt16 {
    bytes.reduce(0xFFFF) { value, byte in
      (0..<8).reduce(value ^ UInt16(byte) << 8) { value, _ in
        value & 0x8000 == 0 ? value << 1 : value << 1 ^ 0x1021
      }
    }
  }

  /// Returns the number of bytes of the frame with this header, including the CRC.
  static func length(of header: some Collection<UInt8>) -> Int {
    guard let high = header.first, let low = header.dropFirst().first else { return 0 }
    return headerLength + (Int(high & 0x1F) << 8 | Int(low)) + checkLength
  }

  /// Returns whether a frame is complete and its CRC is correct.
  static func isIntact(_ frame: some Collection<UInt8>) -> Bool {
    // The remainder of a frame with its CRC bytes is 0.
    frame.count >= headerLength + checkLength && length(of: frame) == frame.count
      && check(frame) == 0
  }

  /// Returns the word at the beginning of a frame's payload.
  static func word(of frame: some Collection<UInt8>) -> Word? {
    let payload = frame.dropFirst(headerLength)
    guard payload.count >= 2 + checkLength, let first = payload.first,
      let second = payload.dropFirst().first
    else { return nil }
    return Word(first, second)
  }

  static func meaning(of status: UInt8) -> String? {
    switch status {
    case 0x80: "failed"
    case 0x81: "its memory failed"
    case 0x82: "a time ran out"
    case 0x83: "the check of a frame was wrong"
    case 0x84: "a frame was not valid"
    case 0x90: "a length was wrong"
    case 0x91: "an address was wrong"
    case 0x92: "the signature is wrong"
    case 0x93: "the image does not fit its hash"
    case 0x94: "the chip's life cycle does not allow it"
    case 0x95: "the image is for another chip"
    case 0x96: "the image is for another revision of the chip"
    case 0x97: "the version of the certificate is too old"
    case 0x98: "the version of the firmware is too old"
    case 0x99: "the code that loads it into memory was refused"
    case 0xA0, 0xA1, 0xA2: "the image could not be decrypted"
    case 0xB0, 0xB1: "its cache failed"
    case 0xB2: "its life cycle could not be changed"
    case 0xC0: "a page of the flash is not blank"
    case 0xC1: "a page of the flash does not hold"
    default: nil
    }
  }
}
