// SPDX-License-Identifier: Apache-2.0
internal import UWBLink

/// One way from a chip without firmware to one that runs it. Waits; not on a thread of tasks.
struct HBCILoader<Port: LoaderPort> {
  let port: Port
  let image: [UInt8]
  let isCancelled: @Sendable () -> Bool
  let progress: @Sendable (FirmwareProgress) -> Void
  let pause: @Sendable (_ milliseconds: Int) -> Void

  /// What the loader says of the chip.
  struct Chip: Sendable, Hashable {
    /// Which images it takes.
    var isProduction: Bool?
    /// 0xB0, 0xB1, 0xB2.
    var revision: UInt8
  }

  /// AOSP's HAL tries five times, with a reset before each.
  static var attempts: Int { 5 }
  private static var answerTimeout: Int32 { 500 }
  /// From the last segment to the question whether it was accepted. Source: AOSP's HAL.
  private static var acceptingMilliseconds: Int { 100 }

  /// Loads the image, with new attempts where one could help.
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
      // In a later attempt the chip has been switched off already.
      if isCancelled() { throw .cancelled(step: attempt > 1 ? .sending : step) }
      progress(FirmwareProgress(step: step, sent: sent, total: image.count, attempt: attempt))
    }
    try report(.starting)
    do { try port.beginLoading() } catch { throw .link(error) }

    try report(.identifying)
    let otp = try ask(HBCI.otpInfo, .identifying)
    let id = try ask(HBCI.chipID, .identifying)
    // Source: AOSP's HAL: byte 39 of the one, byte 8 of the other.
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
    // Revision B2 needs 250 us here. Source: AOSP's HAL.
    if chip.revision >= 0xB2 { pause(1) }
    try send(segment.data, .sending)
    try expectAcknowledgement(.sending)
  }

  private func send(_ bytes: [UInt8], _ step: FirmwareStep) throws(FirmwareError) {
    do { try port.sendToLoader(bytes) } catch { throw .link(error) }
  }

  private func receive(
    _ count: Int, _ step: FirmwareStep
  ) throws(FirmwareError) -> [UInt8] {
    do {
      return try port.receiveFromLoader(count, timeout: Self.answerTimeout)
    } catch {
      throw error.code == .timeout ? .noAnswer(step: step) : .link(error)
    }
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

  /// Asks for the loader's state, which has to be this one.
  private func expect(_ state: UInt8, _ step: FirmwareStep) throws(FirmwareError) {
    try send(HBCI.header(.general, .query, HBCI.ready), step)
    let bytes = try receive(HBCI.headerLength, step)
    guard bytes != HBCI.header(.general, .answer, state) else { return }
    guard bytes[0] == HBCI.Kind.answer.rawValue, bytes[1] >= 0x80 else {
      throw .wrongAnswer(step: step, bytes)
    }
    throw .refused(step: step, code: bytes[1], meaning: HBCI.meaning(ofGeneral: bytes[1]))
  }

  /// Asks for something that has data.
  private func ask(
    _ instruction: UInt8, _ step: FirmwareStep
  ) throws(FirmwareError) -> [UInt8] {
    try send(HBCI.header(.general, .query, instruction), step)
    let header = try receive(HBCI.headerLength, step)
    let length = Int(header[2]) | Int(header[3]) << 8
    guard header[0] == HBCI.Kind.answer.rawValue, header[1] == instruction,
      (2...HBCI.answerLength + 1).contains(length)
    else { throw .wrongAnswer(step: step, header) }
    try send(HBCI.acknowledgement, step)
    let data = try receive(length, step)
    guard HBCI.check(header + data) == 0 else { throw .wrongAnswer(step: step, data) }
    return data.dropLast()
  }
}
