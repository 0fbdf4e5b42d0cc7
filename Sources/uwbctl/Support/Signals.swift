// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc

/// Runs `body` in a task that SIGINT and SIGTERM cancel, so that everything it opened is closed in
/// good order. A second signal ends the program at once.
func cancelledBySignals(_ body: @escaping @Sendable () async throws -> Void) async throws {
  let task = Task { try await body() }
  let queue = DispatchQueue(label: "signals")
  let sources = [SIGINT, SIGTERM].map { number in
    signal(number, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
    source.setEventHandler {
      if task.isCancelled { _exit(128 + number) }
      task.cancel()
    }
    source.resume()
    return source
  }
  defer { for source in sources { source.cancel() } }
  // A reader of our output that goes away must not end us before the chip has been stopped.
  signal(SIGPIPE, SIG_IGN)
  try await task.value
}
