// SPDX-License-Identifier: Apache-2.0

import UCI

struct SessionData: Sendable {
  /// Whether the chip accepts one segment.
  var hasCredit = false
  /// Whether a segment was accepted, so that the host may send the next after this round.
  var owesCredit = false
  /// Whole messages that wait for the next round.
  var outgoing: [DataMessageSend] = []
}

extension SimulatedChip {
  /// Handles a data packet from the host: a segment of DATA_MESSAGE_SND.
  mutating func takeData(_ header: PacketHeader, _ payload: [UInt8]) {
    guard header.group == DataMessageSend.opcode.group else { return }
    // Only the first segment contains the header of the message.
    let start = (dataSegments.isEmpty ? payload : dataSegments).prefix(14)
    guard let message = try? DataMessageSend(decoding: Array(start) + [0, 0]) else {
      dataSegments = []
      return
    }
    guard let index = session(message.sessionToken), sessions[index].state == .active else {
      return refuse(message, .rejected)
    }
    guard sessions[index].data.hasCredit else { return refuse(message, .noCredit) }
    guard payload.count <= profile.maximumDataPayload else {
      return refuse(message, .invalidFormat)
    }
    sessions[index].data.hasCredit = false
    sessions[index].data.owesCredit = true
    dataSegments += payload
    guard !header.moreFollows else { return }
    defer { dataSegments = [] }
    guard let whole = try? DataMessageSend(decoding: dataSegments),
      whole.data.count + 16 == dataSegments.count
    else { return refuse(message, .invalidFormat) }
    sessions[index].data.outgoing.append(whole)
  }

  private mutating func refuse(_ message: DataMessageSend, _ status: DataTransferStatus) {
    dataSegments = []
    reportData(message.sessionToken, message.sequenceNumber, status, transmissions: 0)
  }

  /// Sends SESSION_DATA_TRANSFER_STATUS_NTF, in the form of the chip's generation.
  mutating func reportData(
    _ token: UInt32, _ sequence: UInt16, _ status: DataTransferStatus, transmissions: UInt8
  ) {
    let report =
      profile.dialect.generation == .fira1
      ? DataTransferStatusNotification(
        sessionToken: token, shortSequenceNumber: UInt8(truncatingIfNeeded: sequence),
        status: status, transmissions: transmissions)
      : DataTransferStatusNotification(
        sessionToken: token, sequenceNumber: sequence, status: status,
        transmissions: transmissions)
    notify(report)
  }

  /// Grants the host the next segment.
  mutating func grantCredit(_ index: Int) {
    guard sessions[index].data.owesCredit else { return }
    sessions[index].data.owesCredit = false
    sessions[index].data.hasCredit = true
    notify(DataCreditNotification(sessionToken: sessions[index].token, credit: 1))
  }

  /// Delivers data from a peer.
  mutating func deliver(_ message: DataMessageSend, from source: MACAddress, to index: Int) {
    let received = DataMessageReceived(
      sessionToken: sessions[index].token, status: .ok, source: source.value,
      sequenceNumber: message.sequenceNumber, data: message.data)
    output += Segmentation.packets(
      type: .data, opcode: DataMessageReceived.opcode,
      payload: received.encoded(dialect: profile.dialect), limit: profile.maximumDataPayload,
      dataLengthInByte3: profile.dialect.dataLengthInByte3)
  }

  /// Handles SESSION_QUERY_DATA_SIZE_IN_RANGING.
  mutating func reportDataSize(_ command: QueryDataSize) {
    let isKnown = session(command.sessionToken) != nil
    respond(
      QueryDataSize.opcode,
      DataSizeResponse(
        sessionToken: command.sessionToken, status: isKnown ? .ok : .sessionNotExist,
        maxDataSize: isKnown ? profile.maximumDataSize : 0))
  }
}
