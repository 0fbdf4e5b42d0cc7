// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization
package import UWBSite

/// The changes of a site on their way to the loop of its run.
package final class SiteChanges: Sendable {
  package enum Change: Sendable, Hashable {
    case site(Site)
    /// A file that is not a site: a sentence for each problem.
    case refused(file: String, [String])
  }

  private let waiting = Mutex<[Change]>([])

  package init() {}

  package func put(_ change: Change) { waiting.withLock { $0.append(change) } }

  /// Takes the changes since the last call.
  package func take() -> [Change] {
    waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
  }
}

/// Reads a site file again after it was written by any program.
///
/// Programs write files in parts. A file is read when it was the same in two looks.
package struct SiteFileWatch: Sendable {
  /// Seconds between two looks.
  static let pause = 0.5

  private let path: String
  private var read: [Int]
  private var seen: [Int]

  /// - Parameter path: a site file that was just read.
  package init(_ path: String) {
    self.path = path
    seen = HistoryFolder.stamp(path)
    read = seen
  }

  /// Looks at the file; returns its change since the last one that was returned.
  mutating func look() -> SiteChanges.Change? {
    let stamp = HistoryFolder.stamp(path)
    defer { seen = stamp }
    // A file that is away for a moment is not a change.
    guard !stamp.isEmpty, stamp == seen, stamp != read else { return nil }
    read = stamp
    guard let data = FileManager.default.contents(atPath: path),
      data.count <= SiteEditor.mostBytes
    else { return .refused(file: path, ["it cannot be read"]) }
    do throws(SiteFileError) { return .site(try Site(json: Array(data))) } catch {
      return .refused(file: path, error.problems.map { "\($0)" })
    }
  }
}
