// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The shared state of a site: the loop changes it, and the tasks of programs read it.
final class SiteHub: Sendable {
  private struct State {
    var service: SiteService
    /// The tasks that wait for a change, by their numbers.
    var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    var number = 0
    var changes = 0
  }

  private let state: Mutex<State>

  init(_ service: SiteService) { state = Mutex(State(service: service)) }

  func read<R: Sendable>(_ body: (inout SiteService) -> R) -> R {
    state.withLock { body(&$0.service) }
  }

  func change(_ run: SiteRun) { state.withLock { $0.service.change(run) } }

  /// Adds a batch and resumes the waiting tasks. Does not wait for them.
  func add(_ batch: SiteBatch) {
    let waiting = state.withLock { state in
      state.service.add(batch)
      state.changes += 1
      defer { state.waiting.removeAll(keepingCapacity: true) }
      return Array(state.waiting.values)
    }
    for task in waiting { task.resume() }
  }

  /// Returns the next reply for a reader, as soon as there is one; nil in a cancelled task.
  func next(_ reader: inout SiteService.Reader, isFirst: Bool) async -> [UInt8]? {
    while !Task.isCancelled {
      let (reply, changes) = state.withLock { state in
        (state.service.next(&reader, isFirst: isFirst), state.changes)
      }
      if let reply { return reply }
      await change(after: changes)
    }
    return nil
  }

  /// Returns after the next change, or when the task is cancelled.
  private func change(after seen: Int) async {
    let number = state.withLock { state in
      state.number += 1
      return state.number
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          guard state.changes == seen, !Task.isCancelled else { return true }
          state.waiting[number] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
    }
  }
}
