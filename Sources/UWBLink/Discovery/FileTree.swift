// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import SystemPackage

/// Small reads below a root: of sysfs, procfs, /dev or udev's data. What is not there, or may not be
/// read, is nil; nothing throws, because devices come and go between two reads.
enum FileTree {
  /// Attributes are a page at most; udev's records are a few kB.
  private static let longestText = 65_536

  /// The names in a folder, sorted, without `.` and `..`.
  static func names(in folder: FilePath) -> [String] {
    guard let stream = unsafe opendir(folder.string) else { return [] }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// What a file says, without the white space at its end.
  static func text(_ file: FilePath) -> String? {
    guard let descriptor = try? FileDescriptor.open(file, .readOnly, options: .closeOnExec) else {
      return nil
    }
    defer { try? descriptor.close() }
    var bytes: [UInt8] = []
    var page = [UInt8](repeating: 0, count: 4_096)
    while bytes.count < longestText {
      guard
        let count = unsafe try? page.withUnsafeMutableBytes({ unsafe try descriptor.read(into: $0) }
        )
      else {
        return nil
      }
      if count == 0 { break }
      bytes += page[..<count]
    }
    while let last = bytes.last, last == 0 || last == 0x0A || last == 0x20 { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Where a symbolic link points to, as it is written in it.
  static func target(of link: FilePath) -> FilePath? {
    var buffer = [CChar](repeating: 0, count: 4_096)
    let count = unsafe readlink(link.string, &buffer, buffer.count)
    guard count > 0 else { return nil }
    return FilePath(
      String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self))
  }

  /// The path without symbolic links; nil when there is nothing.
  static func resolved(_ path: FilePath) -> FilePath? {
    guard let text = unsafe realpath(path.string, nil) else { return nil }
    defer { unsafe free(text) }
    return unsafe FilePath(String(cString: text))
  }

  static func exists(_ path: FilePath) -> Bool { unsafe access(path.string, F_OK) == 0 }
}
