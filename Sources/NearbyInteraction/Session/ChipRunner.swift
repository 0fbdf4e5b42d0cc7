// SPDX-License-Identifier: Apache-2.0
internal import Locking

/// Carries the runs of one session out, one after the other.
final class ChipRunner: SessionCore.Runner {
  private struct State {
    var run: ChipRun?
    var task: Task<Void, Never>?
  }
  private let state = Locked(State())
  private let registry: DeviceRegistry

  init(registry: DeviceRegistry = .shared) { self.registry = registry }

  func begin(_ run: Int, _ plan: SessionPlan, _ core: SessionCore) {
    let run = ChipRun(run, plan, core, registry)
    state.withLock { state in
      state.run?.end(tellPeer: false)
      state.run = run
      // The chip has to be rid of the last run before the next begins.
      state.task = Task(executorPreference: SessionExecutor.shared) { [before = state.task] in
        await before?.value
        await run.perform()
      }
    }
  }

  func end(tellPeer: Bool) {
    state.withLock { state in
      state.run?.end(tellPeer: tellPeer)
      state.run = nil
    }
  }

  func finish() async {
    await state.withLock { $0.task }?.value
    await registry.closeIdle()
  }
}
