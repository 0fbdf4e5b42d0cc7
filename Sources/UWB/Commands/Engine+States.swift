// SPDX-License-Identifier: Apache-2.0
internal import Locking
internal import UCI

// The states of the chip and its sessions, as it reports them, and waiting for one.
extension Engine {
  func update(_ change: (inout ChipState) -> Void) {
    let (chip, ready) = state.withLock { state in
      change(&state.chip)
      let chip = state.chip
      let ids = state.waiters.filter { $0.value.condition(chip) }.keys
      return (chip, ids.compactMap { state.waiters.removeValue(forKey: $0) })
    }
    for waiter in ready { waiter.continuation.resume(returning: .success(chip)) }
  }

  /// Waits until the chip's states meet a condition; nil after `milliseconds`.
  func wait(
    milliseconds: Int, until condition: @escaping @Sendable (ChipState) -> Bool
  ) async throws(DriverError) -> ChipState? {
    let id = newID()
    var stopTimer: (@Sendable () -> Void)?
    let result = await withCheckedContinuation {
      (continuation: CheckedContinuation<Result<ChipState?, DriverError>, Never>) in
      let now: Result<ChipState?, DriverError>? = state.withLock { state in
        if let end = state.end { return .failure(end) }
        if condition(state.chip) { return .success(state.chip) }
        state.waiters[id] = Waiter(condition: condition, continuation: continuation)
        return nil
      }
      if let now {
        continuation.resume(returning: now)
        return
      }
      stopTimer = OneShotTimer.start(.milliseconds(milliseconds)) { [weak self] in
        let waiter = self?.state.withLock { $0.waiters.removeValue(forKey: id) }
        waiter?.continuation.resume(returning: .success(nil))
      }
    }
    stopTimer?()
    return try result.get()
  }

  /// Forgets a session whose end was seen, so that the map does not grow.
  func forget(_ token: UInt32) {
    state.withLock {
      $0.chip.sessions[token] = nil
      $0.chip.multicast[token] = nil
      $0.chip.data[token] = nil
    }
  }

  /// Why a session ended last says nothing of what comes now.
  func forgetCause(_ token: UInt32) {
    state.withLock { $0.chip.sessions[token]?.reason = .managementCommand }
  }

  /// The chip may report READY and lose its sessions without that being news, until the next call.
  func expectReset(_ isResetting: Bool) { state.withLock { $0.isResetting = isResetting } }
}
