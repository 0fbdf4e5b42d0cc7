// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import Glibc
internal import System
internal import SystemPackage

/// Reads small files of sysfs, procfs, /dev or udev below a root.
///
/// The result is nil for files that do not exist or cannot be read, because devices come and go
/// between two reads.
enum FileTree {
  /// The greatest size read: attributes have at most a page, and udev's records a few kB.
  private static let longestText = 65_536

  /// Returns the names in a folder, sorted, without `.` and `..`.
  static func names(in folder: FilePath) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder.string))?.sorted() ?? []
  }

  /// Returns the text of a file without trailing white space.
  static func text(_ file: FilePath) -> String? {
    guard var bytes = try? InputFile.bytes(of: file.string, limit: longestText) else { return nil }
    while let last = bytes.last, last == 0 || last == 0x0A || last == 0x20 { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns the target of a symbolic link as it is stored.
  static func target(of link: FilePath) -> FilePath? {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: link.string)).map {
      FilePath($0)
    }
  }

  /// Returns the path without symbolic links, or nil if it does not exist.
  static func resolved(_ path: FilePath) -> FilePath? {
    guard let text = unsafe realpath(path.string, nil) else { return nil }
    defer { unsafe free(text) }
    return unsafe FilePath(String(cString: text))
  }

  /// Returns the number of the file system that has this file, or nil if the file does not exist.
  static func fileSystem(of path: FilePath) -> UInt64? {
    var status = stat()
    guard unsafe stat(path.string, &status) == 0 else { return nil }
    return UInt64(status.st_dev)
  }

  static func exists(_ path: FilePath) -> Bool { unsafe access(path.string, F_OK) == 0 }
}
