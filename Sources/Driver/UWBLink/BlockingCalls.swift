// SPDX-License-Identifier: Apache-2.0
internal import SystemPackage
package import System

/// Runs `body`, which may block, on a blocking thread and suspends the calling task meanwhile; see
/// `BlockingThreads.call`.
///
/// - Parameter cancellation: Thrown at once when the calling task is cancelled; `body` then ends by
///   itself, and its result is dropped. Nil if cancellation has no effect.
/// - Throws: `LinkError` with code `threadUnavailable` when the system has no thread for it.
package func runBlocking<R: Sendable>(
  on threads: BlockingThreads = .shared, cancellation: LinkError? = nil,
  _ body: @escaping @Sendable () -> R
) async throws(LinkError) -> R {
  do throws(BlockingThreads.CallFailure) {
    return try await threads.call(isCancellable: cancellation != nil, body)
  } catch {
    switch error {
    case .thread(let failure): throw LinkError(failure, endpoint: "a blocking call")
    case .cancelled: throw cancellation ?? LinkError(.cancelled, endpoint: "a blocking call")
    }
  }
}

extension LinkError {
  /// - Parameter endpoint: The device that the thread serves.
  init(_ failure: ThreadFailure, endpoint: String) {
    let isRefused = failure.priority != nil && failure.errno != .resourceTemporarilyUnavailable
    self.init(
      .threadUnavailable, endpoint: endpoint, errno: failure.errno,
      detail: isRefused
        ? "real-time priority \(failure.priority ?? 0) is not allowed: \(failure.errno)"
        : "\(failure.errno)",
      recoverySuggestion: isRefused
        ? "Use 1 to 99, and allow it with ulimit -r, LimitRTPRIO= of the systemd unit, or "
          + "CAP_SYS_NICE." : nil)
  }
}
