// SPDX-License-Identifier: Apache-2.0

import UWB
import UWBLink

/// All checks of one device, in their order. What it finds is reported as it is found.
struct Checkup {
  let endpoint: LinkEndpoint
  var machine = Machine()
  var options = UWBDevice.Options()

  /// - Returns: everything found. Later checks are left out where an earlier failure makes them
  ///   impossible.
  func run(_ report: (Finding) -> Void) async throws -> [Finding] {
    var findings: [Finding] = []
    func add(_ finding: Finding) {
      findings.append(finding)
      report(finding)
    }
    PortChecks(endpoint: endpoint, machine: machine).run(add)
    // Somebody else on the port spoils what is seen of the chip; permission is what open needs.
    guard !findings.contains(where: { $0.verdict == .fail }) else { return findings }
    guard try await LineChecks(endpoint: endpoint, tap: options.tap).run(add) else {
      return findings
    }
    // Garbage does not stop us here: the reset is what gets a chip out of it.
    try await ChipChecks(endpoint: endpoint, options: options).run(add)
    return findings
  }
}
