// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization
package import UWBSite

/// A queue of changes of a site, from pages and from the watched file to the loop.
package final class SiteChanges: Sendable {
  package enum Change: Sendable, Hashable {
    case site(Site)
    /// A file that is not a valid site, with a sentence for each problem.
    case refused(file: String, [String])
  }

  private let waiting = Mutex<[Change]>([])

  package init() {}

  package func put(_ change: Change) { waiting.withLock { $0.append(change) } }

  /// Removes and returns the changes since the last call.
  package func take() -> [Change] {
    waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
  }
}

/// Reads a site file again after any program has written it.
///
/// Programs may write a file in parts, so the file is read when two checks in a row find it
/// unchanged.
package struct SiteFileWatch: Sendable {
  /// The seconds between two checks.
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

  /// Checks the file; returns a change that was not returned before.
  mutating func look() -> SiteChanges.Change? {
    let stamp = HistoryFolder.stamp(path)
    defer { seen = stamp }
    // A file that is missing for a moment has not changed.
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
