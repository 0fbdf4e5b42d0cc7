// SPDX-License-Identifier: Apache-2.0

/// All problems of a site file.
package struct SiteFileError: Error, Sendable, Hashable, CustomStringConvertible {
  package let problems: [SiteProblem]

  package var description: String {
    problems.map(\.description).joined(separator: "\n")
  }
}

/// A problem, and the field that has it.
package struct SiteProblem: Sendable, Hashable, CustomStringConvertible {
  /// The path of the field, such as `anchors[3].position_m`; empty for the whole file.
  package let field: String
  package let reason: String

  package var description: String { field.isEmpty ? reason : "\(field): \(reason)" }
}

/// Collects the problems while a file is read.
final class ProblemList {
  private(set) var problems: [SiteProblem] = []

  func note(_ field: String, _ reason: String) {
    problems.append(SiteProblem(field: field, reason: reason))
  }
}
