// SPDX-License-Identifier: Apache-2.0
internal import System
internal import UCI

extension UWBDevice {
  /// Runs a radio test to its end in a session of the test type. Creates and configures this
  /// session, and removes it in any case.
  ///
  /// The two ends of a test run on two devices. Start the receiving end first. Cancelling the task
  /// ends the test.
  ///
  /// - Parameter started: called when the chip has accepted the command. The other end can start
  ///   then.
  /// - Returns: the result; nil if the task was cancelled or there was no result in time. A
  ///   receiver without a frame has no result.
  /// - Throws: `DriverError`; `.refused` with UNKNOWN_GID or UNKNOWN_OID if the chip does not have
  ///   the test.
  package func run(
    _ test: RadioTest, _ configuration: RadioTestConfiguration = .init(),
    started: @Sendable () -> Void = {}
  ) async throws(DriverError) -> RadioTestResult? {
    try configuration.validate()
    let token = try await makeTestSession()
    let result: RadioTestResult?
    do throws(DriverError) {
      result = try await run(test, configuration, in: token, started)
    } catch {
      try? await endTest(token)
      throw error
    }
    try await endTest(token)
    return result
  }

  /// The session of tests has the id 0. Source: AOSP (packages/modules/Uwb, RfTestParams).
  private static let testSessionID: UInt32 = 0

  private func makeTestSession() async throws(DriverError) -> UInt32 {
    let response = try await core.engine.request(
      SessionInit(sessionID: Self.testSessionID, type: .deviceTest))
    return response.handle ?? Self.testSessionID
  }

  /// Ends a test. The chip refuses to stop a test that has ended by itself, so its answer is
  /// ignored.
  private func endTest(_ token: UInt32) async throws(DriverError) {
    _ = try await send(TestStopSession())
    defer { core.engine.forget(token) }
    let response = try await send(SessionDeinit(sessionToken: token))
    guard response.status == .ok || response.status == .sessionNotExist else {
      throw .refused(command: "SESSION_DEINIT_CMD", response.status)
    }
  }

  private func run(
    _ test: RadioTest, _ configuration: RadioTestConfiguration, in token: UInt32,
    _ started: @Sendable () -> Void
  ) async throws(DriverError) -> RadioTestResult? {
    let parameters = configuration.parameters(of: test)
    let set = try await send(SetAppConfig(sessionToken: token, parameters: parameters))
    guard set.status == .ok else { throw .parametersRefused(set.status, set.refused ?? []) }
    try await core.engine.request(
      TestConfigSet(sessionToken: token, parameters: configuration.testParameters(of: test)))
    // The result may come with the response, so the stream begins before the command.
    let events = events
    try await core.engine.request(test.command)
    started()
    let frame = parameters.last { $0.id == AppConfigID.rframeConfig.rawValue }
    return try await result(
      of: test, among: events, isSTSOnly: frame?.value == [3],
      milliseconds: configuration.timeout(of: test))
  }

  /// Returns the notification at the end of the test; nil after the time-out or a cancellation.
  private func result(
    of test: RadioTest, among events: AsyncStream<DeviceEvent>, isSTSOnly: Bool, milliseconds: Int
  ) async throws(DriverError) -> RadioTestResult? {
    let outcome: Result<RadioTestResult, DriverError>? = await withTaskGroup { group in
      group.addTask { await Self.end(of: test, among: events, isSTSOnly: isSTSOnly) }
      group.addTask { [core] in
        await core.clock.sleep(for: .milliseconds(milliseconds))
        return nil
      }
      defer { group.cancelAll() }
      return await group.next() ?? nil
    }
    switch outcome {
    case .success(let result): return result
    case .failure(let error): throw error
    case nil: return nil
    }
  }

  private static func end(
    of test: RadioTest, among events: AsyncStream<DeviceEvent>, isSTSOnly: Bool
  ) async -> Result<RadioTestResult, DriverError>? {
    var debug: QorvoTestDebugNotification?
    for await event in events {
      switch event {
      case .message(let message):
        if case .payload(let seen as QorvoTestDebugNotification) = message.content {
          debug = seen
        } else if var result = RadioTestResult(message, of: test, isSTSOnly: isSTSOnly) {
          result.adopt(debug)
          return .success(result)
        }
      case .deviceStatus(.error):
        return .failure(
          .deviceError(command: MessageCatalog.name(type: .command, opcode: test.opcode)))
      case .lost(let error): return .failure(error)
      case .disconnected(let error): return .failure(.link(error))
      default: break
      }
    }
    return nil
  }
}
