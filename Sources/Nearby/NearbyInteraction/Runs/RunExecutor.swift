// SPDX-License-Identifier: Apache-2.0
internal import System

/// An executor of the runs of one session on their chip, one after the other.
final class RunExecutor: SessionCore.Executor {
  private struct State {
    var run: RangingRun?
    var task: Task<Void, Never>?
  }
  private let state = Locked(State())
  private let registry: DeviceRegistry
  private let confirm: Confirmation

  /// A function that looks for an accessory over Bluetooth LE.
  ///
  /// - Returns: the error if its session cannot continue in the background; nil if it can.
  typealias Confirmation = @Sendable (SessionPlan.BluetoothPeer) async -> NIError?

  init(
    registry: DeviceRegistry = .shared, confirm: @escaping Confirmation = { await $0.confirm() }
  ) {
    (self.registry, self.confirm) = (registry, confirm)
  }

  func begin(_ run: Int, _ plan: SessionPlan, _ core: SessionCore) {
    let run = RangingRun(run, plan, core, registry, confirm)
    state.withLock { state in
      state.run?.end(notifiesPeer: false)
      state.run = run
      // The previous run has to be removed from the chip before the next run begins.
      state.task = Task(executorPreference: SessionExecutor.shared) { [previous = state.task] in
        await previous?.value
        await run.run()
      }
    }
  }

  func end(notifiesPeer: Bool) {
    state.withLock { state in
      state.run?.end(notifiesPeer: notifiesPeer)
      state.run = nil
    }
  }

  func finish() async {
    await state.withLock { $0.task }?.value
    await registry.closeIdle()
  }
}
