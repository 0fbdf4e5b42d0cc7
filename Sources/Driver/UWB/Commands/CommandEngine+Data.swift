// SPDX-License-Identifier: Apache-2.0
internal import System
internal import UCI
internal import UWBLink

// Sending of data to a peer: each segment needs a credit, and a report follows the message.
extension CommandEngine {
  /// Sends a data message in segments, one for each credit, and waits for the chip's report.
  ///
  /// - Parameter limit: bytes of payload in one packet, including the message's header.
  /// - Returns: the number of transmissions over the air, where the chip reports it.
  func send(_ message: DataMessageSend, limit: Int) async throws(DriverError) -> Int? {
    let token = message.sessionToken
    let dialect = dialect
    let packets = Segmentation.packets(
      type: .data, opcode: DataMessageSend.opcode, payload: message.encoded(dialect: dialect),
      limit: limit, dataLengthInByte3: dialect.dataLengthInByte3)
    // Reports on an earlier message must not count for this one.
    state.withLock { $0.chip.data[token]?.reports = [] }
    for packet in packets {
      try await takeCredit(token, message.sequenceNumber)
      await commandMutex.lock()
      defer { commandMutex.unlock() }
      state.withLock { $0.segment = (packet, 0) }
      if let error = await write(packet) { throw .link(error) }
    }
    while true {
      let report = try await report(on: message)
      if report.status == .ok { return report.transmissions.map(Int.init) }
      guard report.status == .repetitionOK else { throw .dataNotSent(report.status) }
      // The chip has sent a repetition. Further repetitions and reports follow.
      state.withLock { $0.chip.data[token]?.reports.removeAll { $0 == report } }
    }
  }

  private func write(_ packet: [UInt8]) async -> LinkError? {
    await withCheckedContinuation { continuation in
      write([packet]) { continuation.resume(returning: $0) }
    }
  }

  /// Returns the report on a message. Chips of FiRa 1.x send only the lower byte of the message
  /// number.
  private static func report(
    _ data: DataState, _ number: UInt16
  ) -> DataTransferStatusNotification? {
    data.reports.first {
      $0.hasLongSequenceNumber
        ? $0.sequenceNumber == number : $0.sequenceNumber == number & 0xFF
    }
  }

  private func takeCredit(_ token: UInt32, _ number: UInt16) async throws(DriverError) {
    let data = try await waitForData(of: token, "SESSION_DATA_CREDIT_NTF") {
      $0.hasCredit || Self.report($0, number) != nil
    }
    // The chip can refuse a message between two of its segments.
    if let report = Self.report(data, number) { throw .dataNotSent(report.status) }
    // Only one message is sent at a time, so no other sender uses the credit.
    state.withLock { $0.chip.data[token]?.hasCredit = false }
  }

  private func report(
    on message: DataMessageSend
  ) async throws(DriverError) -> DataTransferStatusNotification {
    while true {
      let data = try await waitForData(
        of: message.sessionToken, "SESSION_DATA_TRANSFER_STATUS_NTF"
      ) { Self.report($0, message.sequenceNumber) != nil }
      if let report = Self.report(data, message.sequenceNumber) { return report }
    }
  }

  /// Waits for a notification about the data of a session while the session ranges.
  private func waitForData(
    of token: UInt32, _ notification: String,
    until condition: @escaping @Sendable (DataState) -> Bool
  ) async throws(DriverError) -> DataState {
    let milliseconds = profile.dataTimeout
    let chip = try await wait(milliseconds: milliseconds) { chip in
      chip.data[token].map(condition) ?? true
    }
    guard let chip else {
      throw .noAnswer(command: notification, milliseconds: milliseconds, garbage: 0)
    }
    guard let data = chip.data[token] else {
      throw .stateNotReached(
        expected: .active, last: chip.sessions[token]?.state,
        suggestion: "Start the session, and send while it ranges.")
    }
    return data
  }
}
