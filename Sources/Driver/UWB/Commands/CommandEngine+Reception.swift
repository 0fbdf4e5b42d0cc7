// SPDX-License-Identifier: Apache-2.0
internal import System
internal import Logging
internal import UCI
internal import UWBLink

// Handling of the chip's messages. All of it runs on the reader thread.
extension CommandEngine {
  /// Handles a whole message that is not a measurement.
  func receive(type: MessageType, opcode: Opcode, payload: RawSpan) {
    var message: DeviceEvent {
      .message(Message(type: type, opcode: opcode, payload: payload, dialect: dialect))
    }
    switch (type, opcode) {
    case (.response, _):
      receiveResponse(opcode, unsafe payload.withUnsafeBytes { unsafe Array($0) })
    case (.notification, .coreDeviceStatus):
      guard let status = read(DeviceStatusNotification.self, payload) else { return }
      receive(status.state)
    case (.notification, .sessionUpdateMulticastList):
      guard let list = read(MulticastListNotification.self, payload) else { return }
      update { chip in
        // A report on an unknown session is ignored.
        guard chip.sessions[list.sessionToken] != nil else { return }
        chip.multicast[list.sessionToken, default: (0, list)].count += 1
        chip.multicast[list.sessionToken]?.last = list
      }
      report(message)
    case (.notification, .sessionDataCredit):
      guard let credit = read(DataCreditNotification.self, payload) else { return }
      state.withLock { $0.segment = nil }
      update { $0.data[credit.sessionToken]?.hasCredit = credit.credit > 0 }
      report(message)
    case (.notification, .sessionDataTransferStatus):
      guard let status = read(DataTransferStatusNotification.self, payload) else { return }
      update { $0.data[status.sessionToken]?.add(status) }
      report(message)
    case (.data, DataMessageReceived.opcode):
      var reader = PayloadReader(payload)
      if let data = try? DataMessageReceived(from: &reader, dialect: dialect) {
        callbacks.dataReceived(data)
      }
      report(message)
    case (.notification, .coreGenericError):
      guard let error = read(GenericErrorNotification.self, payload) else { return }
      if error.status == .commandRetry {
        resend(because: "asked to")
      } else {
        report(.genericError(error.status))
      }
    default:
      report(message)
      let (isBoot, isResetting) = state.withLock { state in
        (
          type == .notification && state.profile.bootNotification == opcode, state.isResetting
        )
      }
      if isBoot, !isResetting { callbacks.deviceLost(.deviceRestarted) }
    }
  }

  /// Handles the report of a session's state.
  ///
  /// - Parameter changeStreams: called with the report, and with whether the session ranged before
  ///   it. The new state is stored before this call, so that it is correct when a stream ends.
  ///   Callers that wait for the end of the session continue after this call.
  func receiveSessionStatus(
    _ payload: RawSpan, changeStreams: (SessionStatusNotification, _ wasActive: Bool) -> Void
  ) {
    guard let status = read(SessionStatusNotification.self, payload) else { return }
    let token = status.sessionToken
    let wasActive = isActive(token)
    update { chip in
      // The states of removed sessions are not stored.
      guard
        chip.sessions[token] != nil
          || (status.state != .deinitialised && chip.sessions.count < Self.sessionLimit)
      else { return }
      chip.sessions[token] = status
      if status.state != .active {
        chip.ending = token
        chip.data[token] = nil
      } else if chip.data[token] == nil {
        chip.data[token] = DataState()
      }
    }
    // The session stores the reason of its end before subscribers of events can read it.
    changeStreams(status, wasActive)
    report(.sessionStatus(status))
    update { $0.ending = nil }
  }

  private func read<N: UCINotification>(_ type: N.Type, _ payload: RawSpan) -> N? {
    var reader = PayloadReader(payload)
    do {
      return try N(from: &reader, dialect: dialect)
    } catch {
      logger.warning("unreadable notification", metadata: ["cause": "\(error)"])
      return nil
    }
  }

  private func receive(_ device: DeviceState) {
    let (before, isResetting) = state.withLock { ($0.chip, $0.isResetting) }
    update { chip in
      chip.device = device
      if device == .ready { chip.readyCount += 1 }
    }
    report(.deviceStatus(device))
    switch device {
    case .wokenUp: resend(because: "woke up")
    case .error, .hardwareReset:
      // A chip in an error state may send this report whenever it is opened. During a reset, the
      // report precedes the end of that state, and is ignored.
      let failed = state.withLock { state -> Outstanding? in
        let isReset = state.outstanding?.request.opcode == .coreDeviceReset
        return isReset && isResetting ? nil : state.outstanding.take()
      }
      // The callback comes first, because the caller that waits for the answer checks whether the
      // device is being recovered.
      if !isResetting { callbacks.deviceLost(.deviceFailed(device)) }
      if let failed {
        failed.continuation.resume(
          returning: .failure(.deviceError(command: failed.request.name)))
      }
    case .initialising where !isResetting:
      callbacks.deviceLost(.deviceRestarted)
    case .ready where !isResetting:
      // A chip reports READY when its state changes, and never while a session ranges. READY
      // without a change, or before the end of a session, means that the chip has restarted.
      let ranges = before.sessions.values.contains { $0.state == .active }
      if before.device == .ready || ranges { callbacks.stateSuspect() }
    default: break
    }
  }

  private func receiveResponse(_ opcode: Opcode, _ payload: [UInt8]) {
    let (owner, id) = state.withLock { state in
      let outstanding = state.outstanding
      let owner = state.responses.receive(
        opcode, payload, current: outstanding?.request.opcode)
      if case .current = owner { state.chip.readyAtResponse = state.chip.readyCount }
      return (owner, outstanding?.id)
    }
    guard case .current = owner, let id else {
      logger.warning("unexpected response", metadata: ["opcode": "\(opcode)"])
      report(.unexpectedResponse(opcode))
      return
    }
    // Some chips append the empty list of the ordinary response, so only the first byte is
    // compared.
    if payload.first == Status.commandRetry.rawValue {
      resend(because: "asked to")
    } else {
      complete(id, .answer(payload))
    }
  }

  /// Sends the newest message again, unchanged. It is the outstanding command; without one, it is
  /// the data segment that was sent after the last command.
  private func resend(because reason: String) {
    enum Newest {
      case command(UInt64, Result<[[UInt8]], DriverError>)
      case segment([UInt8])
    }
    let newest = state.withLock { state -> Newest? in
      let limit = state.profile.retryLimit
      guard let outstanding = state.outstanding else {
        guard let segment = state.segment, segment.resends < limit else { return nil }
        state.segment?.resends += 1
        return .segment(segment.packet)
      }
      guard outstanding.resends < limit else {
        let error = DriverError.retriesExhausted(
          command: outstanding.request.name, attempts: outstanding.resends)
        return .command(outstanding.id, .failure(error))
      }
      state.outstanding?.resends += 1
      return .command(outstanding.id, .success(outstanding.request.packets))
    }
    switch newest {
    case nil: return
    case .command(let id, .success(let packets)): write(packets, for: id)
    case .command(let id, .failure(let error)): return complete(id, .failure(error))
    case .segment(let packet): write([packet]) { _ in }
    }
    logger.debug("sent again", metadata: ["because": "\(reason)"])
  }
}
