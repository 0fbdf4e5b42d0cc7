// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Runs `body`, which creates a thread. A new thread has the signal mask of the one that creates it.
///
/// Signals are left to the program's own threads, except for those that a thread causes itself or
/// that debuggers, profilers and Swift's backtraces send to it.
package func withSignalsBlocked(_ body: () -> Int32) -> Int32 {
  var blocked = sigset_t()
  var before = sigset_t()
  sigfillset(&blocked)
  for signal in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF] {
    sigdelset(&blocked, signal)
  }
  pthread_sigmask(SIG_SETMASK, &blocked, &before)
  defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
  return body()
}
