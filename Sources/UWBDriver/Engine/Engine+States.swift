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
    var timer: Task<Void, Never>?
    let result = await withCheckedContinuation {
      (continuation: CheckedContinuation<Result<ChipState, DriverError>, Never>) in
      let now: Result<ChipState, DriverError>? = state.withLock { state in
        if let end = state.end { return .failure(end) }
        if condition(state.chip) { return .success(state.chip) }
        state.waiters[id] = Waiter(condition: condition, continuation: continuation)
        return nil
      }
      if let now {
        continuation.resume(returning: now)
        return
      }
      timer = Task { [weak self] in
        try? await Task.sleep(for: .milliseconds(milliseconds))
        guard !Task.isCancelled, let self else { return }
        let waiter = self.state.withLock { $0.waiters.removeValue(forKey: id) }
        waiter?.continuation.resume(returning: .failure(.closed))
      }
    }
    timer?.cancel()
    switch result {
    case .success(let chip): return chip
    case .failure(let error):
      // `.closed` is the timer's, unless the device really was closed.
      if error == .closed, state.withLock({ $0.end == nil }) { return nil }
      throw error
    }
  }

  /// Forgets a session whose end was seen, so that the map does not grow.
  func forget(_ token: UInt32) {
    state.withLock {
      $0.chip.sessions[token] = nil
      $0.chip.multicast[token] = nil
    }
  }
}
