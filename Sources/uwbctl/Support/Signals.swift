// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc

/// Runs `body` in a task that SIGINT, SIGTERM and a terminal that is closed cancel, so that everything
/// it opened is closed in good order. A second signal ends the program at once.
func cancelledBySignals(_ body: @escaping @Sendable () async throws -> Void) async throws {
  let task = Task { try await body() }
  let queue = DispatchQueue(label: "signals")
  let sources = [SIGINT, SIGTERM, SIGHUP].compactMap { number -> (any DispatchSourceSignal)? in
    // Whoever is not to end with its terminal was started so (nohup).
    if number == SIGHUP, isIgnored(number) { return nil }
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

private func isIgnored(_ number: Int32) -> Bool {
  var now = sigaction()
  guard sigaction(number, nil, &now) == 0 else { return false }
  return unsafeBitCast(now.__sigaction_handler.sa_handler, to: Int.self)
    == unsafeBitCast(SIG_IGN, to: Int.self)
}
