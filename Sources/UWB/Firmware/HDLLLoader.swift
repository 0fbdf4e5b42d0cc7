// SPDX-License-Identifier: Apache-2.0
internal import UWBLink

/// Writes the flash of an SR2xx. Waits; not on a thread of tasks.
///
/// The frames of the image are sent as they are, and each is answered. How the loader is left again is
/// not published: afterwards the chip is in its loader, as after any reset.
struct HDLLLoader<Port: LoaderPort> {
  let port: Port
  let image: FirmwareImage
  let isCancelled: @Sendable () -> Bool
  let progress: @Sendable (FirmwareProgress) -> Void

  private static var readyTimeout: Int32 { 1_000 }
  /// Pages are erased meanwhile. NXP's middleware waits so long for IRQ.
  private static var answerTimeout: Int32 { 10_000 }
  /// Notifications that may come before an answer.
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

  /// Nothing is written before the first frame has gone out.
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
      // It may say by itself that it is ready.
      if word.kind == .notification { continue }
      // The frames after the first one of a chain have no word of their own.
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
    let header = try bytes(HDLL.headerLength, step, timeout)
    let length = HDLL.length(of: header)
    guard length <= HDLL.longestFrame else { throw .wrongAnswer(step: step, header) }
    let frame = header + (try bytes(length - HDLL.headerLength, step, 0))
    guard HDLL.isIntact(frame) else { throw .wrongAnswer(step: step, frame) }
    return frame
  }

  private func bytes(
    _ count: Int, _ step: FirmwareStep, _ timeout: Int32
  ) throws(FirmwareError) -> [UInt8] {
    do {
      return try port.receiveFromLoader(count, timeout: timeout)
    } catch {
      throw error.code == .timeout ? .noAnswer(step: step) : .link(error)
    }
  }
}
