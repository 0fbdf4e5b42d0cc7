// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import Glibc
package import SystemPackage

/// Reads of files, above all of small ones below a root: of sysfs, procfs, /dev or udev's data. There
/// what does not exist, or may not be read, is nil, because devices come and go between two reads.
package enum FileTree {
  /// Attributes are a page at most; udev's records are a few kB.
  private static let longestText = 65_536

  /// The names in a folder, sorted, without `.` and `..`.
  static func names(in folder: FilePath) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder.string))?.sorted() ?? []
  }

  /// What a file says, without the white space at its end.
  static func text(_ file: FilePath) -> String? {
    guard var bytes = try? bytes(of: file, limit: longestText) else { return nil }
    while let last = bytes.last, last == 0 || last == 0x0A || last == 0x20 { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The bytes of a file. More than `limit` are not all of them, but say that it is longer.
  ///
  /// - Throws: `Errno`.
  package static func bytes(of file: FilePath, limit: Int) throws -> [UInt8] {
    let descriptor = try FileDescriptor.open(file, .readOnly, options: .closeOnExec)
    return try descriptor.closeAfter {
      var bytes: [UInt8] = []
      var piece = [UInt8](repeating: 0, count: 16_384)
      while bytes.count <= limit {
        // The descriptor writes into the array while it is lent, and no further.
        let count = try unsafe piece.withUnsafeMutableBytes {
          try unsafe descriptor.read(into: $0)
        }
        if count == 0 { break }
        bytes += piece[..<count]
      }
      return bytes
    }
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
