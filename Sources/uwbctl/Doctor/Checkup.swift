// SPDX-License-Identifier: Apache-2.0

import UWB
import UWBLink

/// All checks of one device, in their order.
struct Checkup {
  let endpoint: LinkEndpoint
  var machine = Machine()
  var options = UWBDevice.Options()

  /// Reports each finding as soon as it is known. Leaves out checks that an earlier failure makes
  /// impossible.
  func run(_ report: (Finding) -> Void) async throws -> [Finding] {
    var findings: [Finding] = []
    func add(_ finding: Finding) {
      findings.append(finding)
      report(finding)
    }
    PortChecks(endpoint: endpoint, machine: machine).run(add)
    // Another program on the port, or a missing permission, makes the other checks meaningless.
    guard !findings.contains(where: { $0.verdict == .fail }) else { return findings }
    guard try await LineChecks(endpoint: endpoint, tap: options.tap).run(add) else {
      return findings
    }
    // Go on after garbage: the reset may end it.
    try await ChipChecks(endpoint: endpoint, options: options).run(add)
    return findings
  }
}
