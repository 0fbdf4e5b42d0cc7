// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import Glibc
internal import System
internal import SystemPackage

/// Reads of small files below a root: of sysfs, procfs, /dev or udev's data. What does not exist, or may
/// not be read, is nil, because devices come and go between two reads.
enum FileTree {
  /// Attributes are a page at most; udev's records are a few kB.
  private static let longestText = 65_536

  /// The names in a folder, sorted, without `.` and `..`.
  static func names(in folder: FilePath) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder.string))?.sorted() ?? []
  }

  /// What a file says, without the white space at its end.
  static func text(_ file: FilePath) -> String? {
    guard var bytes = try? InputFile.bytes(of: file.string, limit: longestText) else { return nil }
    while let last = bytes.last, last == 0 || last == 0x0A || last == 0x20 { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Where a symbolic link points to, as it is written in it.
  static func target(of link: FilePath) -> FilePath? {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: link.string)).map {
      FilePath($0)
    }
  }

  /// The path without symbolic links; nil when there is nothing.
  static func resolved(_ path: FilePath) -> FilePath? {
    guard let text = unsafe realpath(path.string, nil) else { return nil }
    defer { unsafe free(text) }
    return unsafe FilePath(String(cString: text))
  }

  static func exists(_ path: FilePath) -> Bool { unsafe access(path.string, F_OK) == 0 }
}
