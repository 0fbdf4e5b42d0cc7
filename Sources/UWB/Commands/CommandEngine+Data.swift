// SPDX-License-Identifier: Apache-2.0
internal import Locking
internal import UCI
internal import UWBLink

// Data for a peer: segments against credits, and the report on the message.
extension CommandEngine {
  /// Sends a data message in segments, one for each credit, and waits for what the chip says of it.
  ///
  /// - Parameter limit: bytes of payload in one packet; the message's header counts.
  /// - Returns: how often it was sent over the air, where the chip says so.
  func send(_ message: DataMessageSend, limit: Int) async throws(DriverError) -> Int? {
    let token = message.sessionToken
    let dialect = dialect
    let packets = Segmentation.packets(
      type: .data, opcode: DataMessageSend.opcode, payload: message.encoded(dialect: dialect),
      limit: limit, dataLengthInByte3: dialect.dataLengthInByte3)
    // What an earlier message was told must not be taken for this one's.
    state.withLock { $0.chip.data[token]?.reports = [] }
    for packet in packets {
      try await takeCredit(token, message.sequenceNumber)
      await commandMutex.lock()
      defer { commandMutex.unlock() }
      state.withLock { $0.segment = (packet, 0) }
      if let error = await write(packet) { throw .link(error) }
    }
    while true {
      let report = try await report(on: message) {
        $0.data[token].map { Self.report($0, message.sequenceNumber) != nil } ?? true
      }
      if report.status == .ok { return report.transmissions.map(Int.init) }
      guard report.status == .repetitionOK else { throw .dataNotSent(report.status) }
      // More repetitions follow, and more reports.
      state.withLock { $0.chip.data[token]?.reports.removeAll { $0 == report } }
    }
  }

  private func write(_ packet: [UInt8]) async -> LinkError? {
    await withCheckedContinuation { continuation in
      write([packet]) { continuation.resume(returning: $0) }
    }
  }

  /// The report on a message; chips of FiRa 1.x give the lower byte of its number only.
  private static func report(
    _ data: DataState, _ number: UInt16
  ) -> DataTransferStatusNotification? {
    data.reports.first {
      $0.hasLongSequenceNumber
        ? $0.sequenceNumber == number : $0.sequenceNumber == number & 0xFF
    }
  }

  private func takeCredit(_ token: UInt32, _ number: UInt16) async throws(DriverError) {
    let milliseconds = profile.dataTimeout
    let chip = try await wait(milliseconds: milliseconds) { chip in
      guard let data = chip.data[token] else { return true }
      return data.hasCredit || Self.report(data, number) != nil
    }
    guard let chip else {
      throw .noAnswer(command: "SESSION_DATA_CREDIT_NTF", milliseconds: milliseconds, garbage: 0)
    }
    guard let data = chip.data[token] else {
      throw .stateNotReached(expected: .active, last: chip.sessions[token]?.state)
    }
    // Refused in the middle.
    if let report = Self.report(data, number) { throw .dataNotSent(report.status) }
    // One message at a time: nobody else takes it.
    state.withLock { $0.chip.data[token]?.hasCredit = false }
  }

  private func report(
    on message: DataMessageSend, until condition: @escaping @Sendable (ChipState) -> Bool
  ) async throws(DriverError) -> DataTransferStatusNotification {
    let milliseconds = profile.dataTimeout
    let chip = try await wait(milliseconds: milliseconds, until: condition)
    guard let chip else {
      throw .noAnswer(
        command: "SESSION_DATA_TRANSFER_STATUS_NTF", milliseconds: milliseconds, garbage: 0)
    }
    guard let data = chip.data[message.sessionToken],
      let report = Self.report(data, message.sequenceNumber)
    else {
      throw .stateNotReached(expected: .active, last: chip.sessions[message.sessionToken]?.state)
    }
    return report
  }
}
