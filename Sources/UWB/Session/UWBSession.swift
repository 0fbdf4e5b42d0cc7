// SPDX-License-Identifier: Apache-2.0
public import UCI
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
  public var hasDiagnostics: Bool {
    configuration.diagnostics != nil && device.core.profile.diagnosticsScheme != .unknown
  }

  /// The state the chip last reported; nil before its first report, after the end, and while the
  /// device is being recovered.
  public var state: SessionState? { device.core.engine.chip.sessions[token]?.state }

  /// Starts ranging and waits until the chip reports ACTIVE.
  ///
  /// - Throws: `DriverError`; `.sessionEnded` with the reason when the chip accepts the command and
  ///   then finds the parameters unusable.
  public func start() async throws(DriverError) { try await device.core.start(record) }

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
