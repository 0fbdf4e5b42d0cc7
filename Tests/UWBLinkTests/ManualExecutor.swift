// SPDX-License-Identifier: Apache-2.0
import Synchronization
import UWBLink

/// Runs the jobs of its tasks only on request.
final class ManualExecutor: TaskExecutor {
  private let jobs = Mutex<[UnownedJob]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  /// Runs jobs until `condition` holds.
  func run(until condition: () -> Bool) async throws {
    while !condition() {
      let job = jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }
      if let job {
        try await runBlocking { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
      } else {
        await Task.yield()
      }
    }
  }
}
