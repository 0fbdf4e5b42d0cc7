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

  /// What the chip calls it: the session id in FiRa 1.x, a handle of the chip's since 2.0.
  public var token: UInt32 { record.token }

  /// The state the chip last reported; nil before its first report and after the end.
  public var state: SessionState? { device.engine.chip.sessions[token]?.state }

  /// Starts ranging and waits until the chip reports ACTIVE.
  ///
  /// - Throws: `DriverError`; `.sessionEnded` with the reason when the chip accepts the command and
  ///   then finds the parameters unusable.
  public func start() async throws(DriverError) {
    try await device.engine.request(SessionStart(sessionToken: token))
    let token = token
    let chip = try await device.engine.wait(milliseconds: device.profile.stateTimeout) { chip in
      guard let status = chip.sessions[token] else { return false }
      return status.state == .active || status.reason != .managementCommand
    }
    guard let status = chip?.sessions[token] else {
      throw .stateNotReached(expected: .active, last: state)
    }
    guard status.state == .active else { throw .sessionEnded(status.state, status.reason) }
  }

  /// Stops ranging and waits until the chip reports IDLE. Does nothing when it is not ranging.
  ///
  /// - Throws: `DriverError`.
  public func stop() async throws(DriverError) { try await device.stop(session: token) }

  /// Stops ranging and removes the session from the chip. Does nothing the second time.
  ///
  /// - Throws: `DriverError`.
  public func close() async throws(DriverError) { try await device.end(session: token) }

  /// A stream of the measurements from now on. Ask before `start` to get the first.
  ///
  /// - Parameter capacity: notifications it holds while they are not taken.
  public func measurements(capacity: Int = 128) -> MeasurementStream {
    let ends = FrameRing.make(capacity: capacity)
    let subscription = Subscription(token: token, producer: ends.producer)
    let router = device.router
    router.add(subscription)
    return MeasurementStream(consumer: ends.consumer, subscription: subscription) {
      router.remove($0)
    }
  }

  /// Calls `body` with each notification in place, on the reader's thread: the fastest way, without
  /// a wake, a copy or an allocation. `body` must not wait for anything, above all not for this
  /// device.
  ///
  /// - Returns: ends the calls when called; one call may still be under way.
  @discardableResult
  public func onMeasurements(_ body: @escaping MeasurementCallback) -> @Sendable () -> Void {
    let subscription = Subscription(token: token, callback: body)
    let router = device.router
    router.add(subscription)
    return { router.remove(subscription) }
  }

  /// Ranging rounds attempted since the start, as the chip counts them.
  ///
  /// - Throws: `DriverError`.
  public func rangingCount() async throws(DriverError) -> UInt32? {
    try await device.engine.request(GetRangingCount(sessionToken: token)).count
  }

  /// Reads parameters back from the chip.
  ///
  /// - Throws: `DriverError`.
  public func parameters(_ ids: [UInt8]) async throws(DriverError) -> [TLV] {
    try await device.engine.request(GetAppConfig(sessionToken: token, ids: ids)).parameters ?? []
  }

  /// Changes parameters of the running session, as far as the chip allows.
  ///
  /// - Throws: `DriverError`; `.parametersRefused` names the ones the chip refuses.
  public func configure(_ parameters: [TLV]) async throws(DriverError) {
    let response = try await device.engine.send(
      SetAppConfig(sessionToken: token, parameters: parameters))
    guard response.status == .ok else {
      throw .parametersRefused(response.status, response.refused ?? [])
    }
  }
}
