// SPDX-License-Identifier: Apache-2.0
internal import Dispatch

/// An executor that runs the tasks of this module on its own queue. So an app that blocks the
/// threads of Swift's tasks does not block its sessions.
final class SessionExecutor: TaskExecutor {
  static let shared = SessionExecutor()

  private let queue = DispatchQueue(label: "NearbyInteraction")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = unsafe asUnownedTaskExecutor()
    queue.async { unsafe job.runSynchronously(on: executor) }
  }
}
