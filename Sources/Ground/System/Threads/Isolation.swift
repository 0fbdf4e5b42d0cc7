// SPDX-License-Identifier: Apache-2.0

/// Calls a function of a global actor synchronously, as `MainActor.assumeIsolated` does for the
/// main actor. The caller runs on the actor's executor, and has checked that.
///
/// - Parameter body: a function without parameters and result. Its isolation does not change its
///   calling convention, so the cast is sound.
package func callOnThisExecutor<Function>(_ body: Function) {
  unsafe unsafeBitCast(body, to: (() -> Void).self)()
}
