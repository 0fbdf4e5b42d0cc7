// SPDX-License-Identifier: Apache-2.0

import Formats
import System

/// A table in pieces, one of which is in memory at a time.
struct TablePieces: ~Copyable {
  /// The header, and the rows of the current piece.
  var table: CSVTable
  /// Whether the current piece is the last one.
  private(set) var isAtEnd: Bool
  /// Whether the input can be read again from its beginning.
  let canRestart: Bool
  private let name: String
  private let format: CSVTable.Format
  private let size: Int
  private var file: InputFile
  /// The error in the table after the rows of this piece.
  private var problem: LabError?

  /// The greatest number of bytes in a table that has to be completely in memory.
  static let limit = 64 << 20

  /// Reads the first piece, which has the header.
  ///
  /// - Parameters:
  ///   - path: nil or `-` is standard input.
  ///   - size: the number of bytes in a piece.
  init(_ path: String?, _ format: CSVTable.Format, size: Int = 8 << 20) throws(LabError) {
    let name = path ?? "-"
    var file = try Self.opened(name)
    let first = try Self.read(&file, atMost: size, name)
    let table = try CSVTable(beginning: first, isWhole: first.count < size, format)
    self.init(
      table, isAtEnd: first.count < size, name: name, format: format, size: size, file: file)
  }

  /// Stores the first piece. This initialiser does not throw, because Swift 6.2 destroys `problem`
  /// twice in one that throws.
  private init(
    _ table: CSVTable, isAtEnd: Bool, name: String, format: CSVTable.Format, size: Int,
    file: consuming InputFile
  ) {
    (self.table, self.isAtEnd) = (table, isAtEnd)
    canRestart = file.isRegular && name != "-"
    (self.name, self.format, self.size) = (name, format, size)
    self.file = file
  }

  /// Reads the next piece. Returns false after the last one.
  ///
  /// - Throws: `LabError` for a problem in the table, after all rows before it were returned.
  mutating func next() throws(LabError) -> Bool {
    if let problem { throw problem }
    guard !isAtEnd else { return false }
    let piece = try Self.read(&file, atMost: size, name)
    isAtEnd = piece.count < size
    do throws(LabError) {
      try table.add(piece, isLast: isAtEnd, keepsRows: false)
    } catch { problem = error }
    return true
  }

  /// Starts again at the beginning. Must be called before the second piece is read.
  func restarted() throws(LabError) -> TablePieces { try TablePieces(name, format, size: size) }

  /// Reads all other pieces. Keeps the rows of all of them.
  ///
  /// - Throws: `LabError` if the table is longer than `limit`.
  mutating func takeAll() throws(LabError) {
    guard !isAtEnd else { return }
    let more = try Self.read(&file, atMost: Self.limit - size + 1, name)
    guard more.count <= Self.limit - size else { throw Self.tooLong(name) }
    isAtEnd = true
    try table.add(more, isLast: true, keepsRows: true)
  }

  private static func opened(_ name: String) throws(LabError) -> InputFile {
    do throws(FileError) { return try InputFile(name) } catch { throw .unreadable(name, error) }
  }

  /// Reads `count` bytes, or fewer at the end.
  private static func read(
    _ file: inout InputFile, atMost count: Int, _ name: String
  ) throws(LabError) -> [UInt8] {
    var bytes: [UInt8] = []
    do throws(FileError) {
      while bytes.count < count {
        let more = try file.read(atMost: min(1 << 18, count - bytes.count))
        if more.isEmpty { break }
        bytes += more
      }
    } catch { throw .unreadable(name, error) }
    return bytes
  }

  private static func tooLong(_ name: String) -> LabError {
    LabError(
      .unreadable,
      "Cannot read \(name == "-" ? "standard input" : name): it is longer than "
        + "\(limit >> 20) MiB, and this computation needs all rows.",
      suggestion: name == "-"
        ? "Give the name of a file, or --live." : "Give --live, or split it into several files.")
  }
}
