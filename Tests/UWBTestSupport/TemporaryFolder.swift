// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// A folder for the files of one test.
public struct TemporaryFolder: Sendable {
  private let url: URL

  /// Creates the folder.
  public init() throws {
    url = FileManager.default.temporaryDirectory
      .appending(path: "uwb-test-\(UInt64.random(in: 0 ... .max))")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  /// Returns the path of a file in it.
  public func path(_ name: String) -> String { url.appending(path: name).path }

  /// Writes a file and returns its path.
  public func write(_ text: String, to name: String) throws -> String {
    try Data(text.utf8).write(to: url.appending(path: name))
    return path(name)
  }

  /// Returns the text of a file.
  public func read(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: url.appending(path: name)), as: UTF8.self)
  }

  /// Removes the folder with its contents.
  public func remove() { try? FileManager.default.removeItem(at: url) }
}
