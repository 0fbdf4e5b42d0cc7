// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The folder of a history: a file for each day.
package struct HistoryFolder: Sendable, Hashable {
  package let path: String

  package init(_ path: String) { self.path = path }

  static let ending = ".sqlite"

  func file(_ day: UTCDay) -> String { "\(path)/\(day)\(Self.ending)" }

  /// Creates the folder if it is missing.
  package func create() throws(HistoryFailure) {
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch { throw HistoryFailure(.unusable, path, "it cannot be created") }
  }

  /// Returns the days that have a file, in order.
  package func days() throws(HistoryFailure) -> [UTCDay] {
    let names: [String]
    do { names = try FileManager.default.contentsOfDirectory(atPath: path) } catch {
      throw HistoryFailure(.missing, path)
    }
    return names.filter { $0.hasSuffix(Self.ending) }
      .compactMap { UTCDay($0.dropLast(Self.ending.count)) }.sorted()
  }

  /// Returns the number of bytes in a day's files.
  package func size(_ day: UTCDay) -> Int {
    ["", "-wal"].map { ending in
      let attributes = try? FileManager.default.attributesOfItem(atPath: file(day) + ending)
      return (attributes?[.size] as? Int) ?? 0
    }.reduce(0, +)
  }

  /// Returns whether a day has a log: the file is in use, or its writer was killed.
  func hasLog(_ day: UTCDay) -> Bool { FileManager.default.fileExists(atPath: file(day) + "-wal") }

  /// Returns a value that differs after each change of a file.
  static func stamp(_ file: String) -> [Int] {
    var status = stat()
    guard unsafe stat(file, &status) == 0 else { return [] }
    let time = status.st_mtim
    return [Int(status.st_ino), Int(status.st_size), time.tv_sec, time.tv_nsec]
  }

  static func remove(_ file: String) { try? FileManager.default.removeItem(atPath: file) }

  /// Renames a damaged file, so that its content is kept and a new file can be created.
  func setAside(_ day: UTCDay) throws(HistoryFailure) -> String {
    let from = file(day)
    var number = 1
    var to: String { "\(path)/\(day).damaged-\(number)" }
    while FileManager.default.fileExists(atPath: to) { number += 1 }
    try Self.rename(from, to)
    for ending in ["-wal", "-shm"] { try? Self.rename(from + ending, to + ending) }
    return to
  }

  /// Replaces a file by another file atomically, so that the replacement survives a power failure.
  static func rename(_ from: String, _ to: String) throws(HistoryFailure) {
    guard renameFile(from, to) == 0 else {
      throw HistoryFailure(.unusable, from, "it cannot be renamed, error \(errno)")
    }
    let parent = to.lastIndex(of: "/").map { String(to[..<$0]) } ?? "."
    let folder = unsafe open(parent, O_RDONLY | O_CLOEXEC)
    guard folder >= 0 else { return }
    fsync(folder)
    close(folder)
  }
}

/// Calls the function of the C library, which `HistoryFolder.rename` hides.
private func renameFile(_ from: String, _ to: String) -> Int32 { unsafe rename(from, to) }

/// The exclusive right of one program to write a history. It ends with the program.
package final class HistoryLock: Sendable {
  private let descriptor: Int32

  private init(descriptor: Int32) { self.descriptor = descriptor }

  package static func take(_ folder: HistoryFolder) throws(HistoryFailure) -> HistoryLock {
    let path = folder.path + "/writer.lock"
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      throw HistoryFailure(.unusable, path, "it cannot be created, error \(errno)")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      throw HistoryFailure(.busy, folder.path, "it records a history there")
    }
    return HistoryLock(descriptor: descriptor)
  }

  deinit { close(descriptor) }
}
