// SPDX-License-Identifier: Apache-2.0
internal import System
public import UCI
import UCIReference
internal import UWBLink

/// A ranging session on one device, from SESSION_INIT to SESSION_DEINIT.
public final class UWBSession: Sendable {
  /// The device it runs on.
  public let device: UWBDevice
  let record: SessionRecord

  init(device: UWBDevice, record: SessionRecord) {
    self.device = device
    self.record = record
  }

  /// What it was made with; `configure` and changes of its controlees are not in here.
  public var configuration: SessionConfiguration { record.configuration }

  /// What the chip calls it: the session id in FiRa 1.x, a handle of the chip's since 2.0. May be
  /// another after the device was recovered.
  public var token: UInt32 { record.token }

  /// Whether the chip was asked to report what its receivers see in single frames.
  package var hasDiagnostics: Bool {
    configuration.diagnostics != nil && device.core.profile.diagnosticsScheme != .unknown
  }

  /// The state the chip last reported; nil before its first report, after the end, and while the
  /// device is being recovered.
  public var state: SessionState? { device.core.engine.chip.sessions[token]?.state }

  /// Why ranging ended although it was not stopped from here: the chip or the peer has ended it, and
  /// `endReason` says why. nil while it ranges, and where it was stopped from here.
  public var unexpectedEnd: DriverError? {
    record.unexpectedEnd.map { .sessionEnded($0.state, $0.reason) }
  }

  /// Starts ranging and waits until the chip reports ACTIVE. A device that is lost before that and
  /// recovered (`UWBDevice.Options.recovery`) is waited for.
  ///
  /// - Throws: `DriverError`; `.sessionEnded` with the reason when the chip accepts the command and
  ///   then finds the parameters unusable; `.recovering` for a session that ranged when the device was
  ///   lost and ranges again by itself.
  public func start() async throws(DriverError) { try await start(awaitsRecovery: true) }

  /// - Parameter awaitsRecovery: false: the loss of the device is thrown at once.
  package func start(awaitsRecovery: Bool) async throws(DriverError) {
    try await device.core.start(record, awaitsRecovery: awaitsRecovery)
  }

  /// Stops ranging and waits until the chip reports IDLE. Does nothing when it is not ranging.
  ///
  /// - Throws: `DriverError`.
  public func stop() async throws(DriverError) { try await device.core.stop(record) }

  /// Stops ranging and removes the session from the chip. Does nothing the second time.
  ///
  /// - Throws: `DriverError`.
  public func close() async throws(DriverError) { try await device.core.end(record) }

  // MARK: measurements

  /// A stream of the measurements from now on. Ask before `start` to get the first.
  ///
  /// - Parameter capacity: How many notifications it holds while they are not taken.
  public func measurements(capacity: Int = 128) -> RangingStream<RangingMeasurement> {
    RangingStream(
      self, capacity: capacity, includesDiagnostics: false, MeasurementDecoder())
  }

  /// A stream of everything that happens in the session's rounds from now on: measurements, what
  /// the chip's receivers saw (`SessionConfiguration.diagnostics`), and marks where the device was
  /// lost and where it was found again.
  ///
  /// Diagnostics and one-way measurements are copied to the heap.
  ///
  /// - Parameter capacity: How many notifications it holds while they are not taken.
  public func rounds(capacity: Int = 256) -> RangingStream<RoundEvent> {
    RangingStream(self, capacity: capacity, includesDiagnostics: true, RoundEventDecoder())
  }

  /// Calls `body` with each notification of the session's rounds in place, on the reader thread,
  /// without a wake, a copy or an allocation.
  ///
  /// - Parameter body: Must not wait for anything, above all not for this device.
  /// - Returns: What ends the calls; they go on when it is not kept.
  @discardableResult
  public func onRounds(_ body: @escaping RoundCallback) -> RangingSubscription {
    let subscription = Subscription(session: record, callback: body)
    device.core.router.add(subscription)
    return RangingSubscription(subscription: subscription, router: device.core.router)
  }

  /// Ranging rounds attempted since the start, as the chip counts them.
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

  /// Changes parameters of the running session, as far as the chip allows.
  ///
  /// - Throws: `DriverError`; `.parametersRefused` names the ones the chip refuses.
  public func configure(_ parameters: [TLV]) async throws(DriverError) {
    let isRanging = state == .active
    try await device.core.configure(record, parameters)
    record.change(parameters, whileRanging: isRanging)
  }
}

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
