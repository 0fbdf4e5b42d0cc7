// SPDX-License-Identifier: Apache-2.0
internal import Locking
public import UCI
import UCIReference

/// Data that a peer has sent.
public struct ReceivedData: Sendable, Hashable {
  /// Who sent it.
  public var source: MACAddress
  /// Counts up with every message of that peer.
  public var sequenceNumber: UInt16
  /// 0: received. What other values mean differs from chip to chip.
  public var status: Status
  /// The bytes.
  public var data: [UInt8]
  package init(source: MACAddress, sequenceNumber: UInt16, status: Status, data: [UInt8]) {
    self.source = source
    self.sequenceNumber = sequenceNumber
    self.status = status
    self.data = data
  }
}

extension UWBSession {
  /// Sends data to a peer within the ranging rounds, and waits for the chip's report on it. Only
  /// while the session ranges.
  ///
  /// The chip takes a segment for each credit it gives, at most one a round on some chips; several
  /// messages wait for each other.
  ///
  /// - Parameters:
  ///   - data: as much as fits into a round, as the chip says it.
  ///   - peer: an address of the session's kind, short or extended.
  /// - Returns: how often the data was sent over the air, where the chip says so.
  /// - Throws: `DriverError`; `.dataTooLong`, and `.dataNotSent` with the chip's reason.
  @discardableResult
  public func sendData(_ data: [UInt8], to peer: MACAddress) async throws(DriverError) -> Int? {
    try await device.core.send(data, to: peer, record, limit: device.dataSegment)
  }

  /// Bytes of data that fit into one ranging round, as the chip says it; nil where it does not.
  ///
  /// - Throws: `DriverError`.
  public func maximumDataSize() async throws(DriverError) -> Int? {
    try await device.core.maximumDataSize(record)
  }

  /// The data that peers send, from now on, until the session is closed.
  ///
  /// - Parameter capacity: messages it holds while they are not taken; then the newest are dropped,
  ///   and `DeviceEvent.dataDropped` says so.
  public func receivedData(capacity: Int = 64) -> AsyncStream<ReceivedData> {
    record.receivedData(capacity)
  }
}

extension UWBDevice {
  /// Bytes of payload in one data packet: what the chip announces, or 255 where it does not. A
  /// length of one byte carries no more.
  var dataSegment: Int {
    let announced = Capabilities(capabilities).maxDataPayloadSize ?? 255
    return dialect.dataLengthInByte3 ? min(announced, 255) : announced
  }
}

extension DeviceCore {
  func maximumDataSize(_ record: SessionRecord) async throws(DriverError) -> Int? {
    guard engine.dialect.generation >= .fira2 else { return nil }
    let response = try await engine.send(QueryDataSize(sessionToken: record.token))
    // Not every chip that says 2.0 knows the question.
    guard response.status == .ok, response.sessionToken == record.token else { return nil }
    return response.maxDataSize.map(Int.init)
  }

  func send(
    _ data: [UInt8], to peer: MACAddress, _ record: SessionRecord, limit: Int
  ) async throws(DriverError) -> Int? {
    let most = min(try await maximumDataSize(record) ?? 0xFFFF, 0xFFFF)
    guard data.count <= most else { throw .dataTooLong(bytes: data.count, limit: most) }
    await engine.dataMutex.lock()
    defer { engine.dataMutex.unlock() }
    return try await engine.send(
      DataMessageSend(
        sessionToken: record.token, destination: peer.value,
        sequenceNumber: record.nextDataNumber(), data: data),
      limit: limit)
  }

  /// Data from a peer; on the reader thread.
  func receive(_ message: DataMessageReceived) {
    guard
      let record = sessions.first(where: { $0.tokenOnChip == message.sessionToken })
    else { return }
    // A short address stands in the low 16 bits.
    let source =
      record.configuration.address.isExtended
      ? MACAddress(extended: message.source)
      : MACAddress(UInt16(truncatingIfNeeded: message.source))
    let data = ReceivedData(
      source: source, sequenceNumber: message.sequenceNumber, status: message.status,
      data: message.data)
    if record.receive(data) { broadcast.send(.dataDropped(sessionToken: message.sessionToken)) }
  }
}
