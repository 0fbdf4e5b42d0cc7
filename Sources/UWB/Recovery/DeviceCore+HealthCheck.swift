// SPDX-License-Identifier: Apache-2.0
internal import Locking
internal import UCI

// Chips that may have lost their sessions without saying so.
extension DeviceCore {
  /// How long a chip that may have restarted may take to say that it still has a session, in milliseconds; chips in
  /// the field take some 10.
  private static let answerLimit = 500

  /// Asks a chip for its sessions after it did what only a restarted chip does. Any thread.
  func verifySessions() {
    let asks = state.withLock { state -> Bool in
      guard case .running = state.phase, !state.isVerifying, !state.sessions.isEmpty else {
        return false
      }
      state.isVerifying = true
      return true
    }
    guard asks else { return }
    Task {
      if let cause = await self.loss() { await self.handleLossOnReader(cause) }
      self.state.withLock { $0.isVerifying = false }
    }
  }

  /// Why the sessions are lost; nil when they are not.
  private func loss() async -> DriverError? {
    for record in sessions {
      guard let token = record.tokenOnChip else { continue }
      let answer = await result { () async throws(DriverError) in
        try await engine.send(GetSessionState(sessionToken: token), timeout: Self.answerLimit)
      }
      // Closed by its owner meanwhile: no wonder that it is gone.
      guard sessions.contains(where: { $0 === record }) else { continue }
      switch answer {
      case .success(let response) where response.status == .sessionNotExist:
        return .deviceRestarted
      // NXP's chips say nothing before their vendor's command.
      case .failure(let error):
        if error.code == .noAnswer { return error }
      case .success: break
      }
    }
    return nil
  }

  /// Checks in this interval whether sessions that range are heard of.
  func watch(_ silence: Duration) -> Task<Void, Never> {
    Task { [weak self] in
      while true {
        do { try await Task.sleep(for: silence) } catch { return }
        guard let self else { return }
        if self.isSilent(for: silence) { self.verifySessions() }
      }
    }
  }

  private func isSilent(for silence: Duration) -> Bool {
    let chip = engine.chip
    let ranging = sessions.filter { chip.sessions[$0.token]?.state == .active }
    let interval = ranging.map(\.configuration.interval).min().map { Duration.milliseconds($0) }
    guard let interval else { return false }
    let heard = router.heardAt
    let quiet = Duration.nanoseconds(Int64(clamping: CommandEngine.now()) - Int64(clamping: heard))
    return quiet > max(silence, interval * 10)
  }
}
