// SPDX-License-Identifier: Apache-2.0
package import Dispatch
internal import UCI
internal import UCIReference
package import UWB

extension NISession {
  /// A session that ranges without a chip: whoever measures what delivery costs hands it the reports.
  ///
  /// - Parameter queue: the delegate's.
  /// - Returns: the session, and what takes reports on the thread of a reader.
  package static func fed(
    on queue: DispatchQueue
  ) -> (session: NISession, take: RoundCallback) {
    struct Nobody: SessionCore.Runner {
      func begin(_ run: Int, _ plan: SessionPlan, _ core: SessionCore) {}
      func end(tellPeer: Bool) {}
      func finish() async {}
    }
    let core = SessionCore(runner: Nobody())
    let session = NISession(core: core)
    session.delegateQueue = queue
    core.run(nil, token: .accessory(), finder: nil, problem: nil)
    core.handle(.report(run: 1, .started(needsData: false)))
    return (session, core.reports(of: 1))
  }
}

extension SessionCore {
  /// What takes reports that come by another way than that of a chip, as from one with these
  /// capabilities.
  func reports(
    of run: Int, _ capabilities: Capabilities = Capabilities([])
  ) -> RoundCallback {
    let estimator = InlineEstimator()
    let take = estimates(of: run, AngleUse(capabilities))
    return { round in estimator.take(round, take) }
  }
}
