// SPDX-License-Identifier: Apache-2.0
internal import System
public import UCI
import UCIReference
internal import UWBLink

/// A ranging session on one device, from SESSION_INIT to SESSION_DEINIT.
public final class UWBSession: Sendable {
  /// The device of the session.
  public let device: UWBDevice
  let record: SessionRecord

  init(device: UWBDevice, record: SessionRecord) {
    self.device = device
    self.record = record
  }

  /// The initial configuration. It does not include changes by `configure` or of the controlees.
  public var configuration: SessionConfiguration { record.configuration }

  /// The chip's token of the session: the session id in FiRa 1.x, a handle of the chip since 2.0.
  /// It may change when the device is recovered.
  public var token: UInt32 { record.token }

  /// Whether the chip reports the receivers' diagnostics of single frames for this session.
  package var hasDiagnostics: Bool {
    configuration.diagnostics != nil && device.core.profile.diagnosticsScheme != .unknown
  }

  /// The state that the chip last reported. Nil before its first report, after the end of the
  /// session, and while the device is being recovered.
  public var state: SessionState? { device.core.engine.chip.sessions[token]?.state }

  /// The error if the chip or the peer ended ranging; its `endReason` has the reason. Nil while the
  /// session ranges, and if this program stopped it.
  public var unexpectedEnd: DriverError? { record.unexpectedEnd }

  /// Starts ranging and waits until the chip reports ACTIVE. If the device is lost during the call,
  /// waits for its recovery (`UWBDevice.Options.recovery`).
  ///
  /// - Throws: `DriverError`. `.sessionEnded` if the chip accepts the command and then cannot use
  ///   the parameters. `.recovering` if the session was ranging when the device was lost: the
  ///   recovery starts it.
  public func start() async throws(DriverError) { try await start(awaitsRecovery: true) }

  /// - Parameter awaitsRecovery: whether to wait for the recovery of a lost device; false: throws
  ///   the loss at once.
  package func start(awaitsRecovery: Bool) async throws(DriverError) {
    do throws(DriverError) {
      try await device.core.start(record, awaitsRecovery: awaitsRecovery)
    } catch { throw await device.endpoint.explained(error, ofSession: configuration.sessionID) }
  }

  /// Stops ranging and waits until the chip reports IDLE. Does nothing if the session does not
  /// range.
  ///
  /// - Throws: `DriverError`.
  public func stop() async throws(DriverError) { try await device.core.stop(record) }

  /// Stops ranging and removes the session from the chip. Does nothing if called again.
  ///
  /// - Throws: `DriverError`.
  public func close() async throws(DriverError) { try await device.core.end(record) }

  // MARK: measurements

  /// Returns a stream of the measurements from now on. Call it before `start` to get the first one.
  ///
  /// - Parameter capacity: The number of notifications kept for a slow consumer.
  public func measurements(capacity: Int = 128) -> RangingStream<RangingMeasurement> {
    RangingStream(self, capacity: capacity, includesDiagnostics: false, .measurements)
  }

  /// Returns a stream of all events in the session's rounds from now on. These are measurements,
  /// the receivers' diagnostics (`SessionConfiguration.diagnostics`), and interruptions by a loss
  /// of the device.
  ///
  /// Diagnostics and one-way measurements are copied to the heap.
  ///
  /// - Parameter capacity: The number of notifications kept for a slow consumer.
  public func rounds(capacity: Int = 256) -> RangingStream<RoundEvent> {
    RangingStream(self, capacity: capacity, includesDiagnostics: true, .events(device.dialect))
  }

  /// Calls `body` on the reader thread with each notification of the session's rounds. Wakes no
  /// other thread, copies nothing and does not allocate.
  ///
  /// - Parameter body: Receives each notification. It must not block, and in particular not wait
  ///   for this device.
  /// - Returns: A handle that ends the calls; they continue if it is discarded.
  @discardableResult
  public func onRounds(_ body: @escaping RoundCallback) -> RangingSubscription {
    let subscription = Subscription(session: record, callback: body)
    device.core.router.add(subscription)
    return RangingSubscription(subscription: subscription, router: device.core.router)
  }

  /// Returns the chip's count of ranging rounds since the start, including failed ones.
  ///
  /// - Throws: `DriverError`.
  public func rangingCount() async throws(DriverError) -> UInt32? {
    try await device.core.engine.request(GetRangingCount(sessionToken: token)).count
  }

  /// Reads parameters back from the chip.
  ///
  /// - Throws: `DriverError`.
  public func parameters(_ ids: [UInt8]) async throws(DriverError) -> [TLV] {
    try await device.core.engine.request(GetAppConfig(sessionToken: token, ids: ids)).parameters
      ?? []
  }

  /// Changes parameters of the session. The chip may refuse some of them while the session ranges.
  ///
  /// - Throws: `DriverError`; `.parametersRefused` names the parameters that the chip refuses.
  public func configure(_ parameters: [TLV]) async throws(DriverError) {
    let isRanging = state == .active
    try await device.core.configure(record, parameters)
    record.change(parameters, whileRanging: isRanging)
  }
}

/// Data that a peer sent.
public struct ReceivedData: Sendable, Hashable {
  /// The sender.
  public var source: MACAddress
  /// The number of the message. Each peer counts its messages.
  public var sequenceNumber: UInt16
  /// The status; 0 means received. The meaning of other values depends on the chip.
  public var status: Status
  /// The bytes.
  public var data: [UInt8]
}

extension UWBSession {
  /// Sends data to a peer within the ranging rounds, and waits for the chip's report on it. The
  /// session has to be ranging.
  ///
  /// The chip accepts one segment for each credit that it gives. Some chips give at most one credit
  /// a round. Concurrent messages are sent one after another.
  ///
  /// - Parameters:
  ///   - data: the bytes, at most `maximumDataSize()`.
  ///   - peer: a short or an extended address, as the addresses of the session.
  /// - Returns: the number of transmissions over the air, where the chip reports it.
  /// - Throws: `DriverError`; `.dataTooLong`, and `.dataNotSent` with the chip's reason.
  @discardableResult
  public func sendData(_ data: [UInt8], to peer: MACAddress) async throws(DriverError) -> Int? {
    try await device.core.send(data, to: peer, record, limit: device.dataSegment)
  }

  /// Returns the number of bytes of data that fit into one ranging round; nil if the chip does not
  /// report it.
  ///
  /// - Throws: `DriverError`.
  public func maximumDataSize() async throws(DriverError) -> Int? {
    try await device.core.maximumDataSize(record)
  }

  /// Returns a stream of the data from peers, from now on until the session is closed.
  ///
  /// - Parameter capacity: the number of messages kept for a slow consumer. Further ones are
  ///   dropped, and `DeviceEvent.dataDropped` reports it.
  public func receivedData(capacity: Int = 64) -> AsyncStream<ReceivedData> {
    record.receivedData(capacity)
  }
}

extension UWBDevice {
  /// The number of payload bytes in one data packet: the chip's value, or 255 without one. The
  /// length field of one byte does not allow more.
  var dataSegment: Int {
    let announced = Capabilities(capabilities).maxDataPayloadSize ?? 255
    return dialect.dataLengthInByte3 ? min(announced, 255) : announced
  }
}

extension DeviceCore {
  func maximumDataSize(_ record: SessionRecord) async throws(DriverError) -> Int? {
    guard engine.dialect.generation >= .fira2 else { return nil }
    let response = try await engine.send(QueryDataSize(sessionToken: record.token))
    // Some chips that report 2.0 do not support the query.
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

  /// Delivers data from a peer, on the reader thread.
  func receive(_ message: DataMessageReceived) {
    guard
      let record = sessions.first(where: { $0.tokenOnChip == message.sessionToken })
    else { return }
    // A short address is in the low 16 bits.
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
