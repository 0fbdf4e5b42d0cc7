// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The numbers of a CSV file. A cell without a number is NaN; a time of day is seconds.
package struct RecordedTable {
  package private(set) var header: [String] = []
  package private(set) var rows: [[Double]] = []

  /// - Returns: nil if there is no such file.
  package init?(_ path: String, hasHeader: Bool = true, separator: Character = ",") {
    guard let bytes = Self.bytes(path) else { return nil }
    var lines = bytes.split(whereSeparator: { $0 == 10 || $0 == 13 })[...]
    if hasHeader, let first = lines.popFirst() {
      header = String(decoding: first, as: UTF8.self).split(
        separator: ",", omittingEmptySubsequences: false
      ).map(String.init)
    }
    rows.reserveCapacity(lines.count)
    for line in lines {
      rows.append(
        line.split(
          separator: separator.asciiValue ?? 0, omittingEmptySubsequences: separator == " "
        ).map(Self.number))
    }
  }

  /// Returns the index of a column; nil if there is none.
  package func column(_ name: String) -> Int? { header.firstIndex(of: name) }

  private static func bytes(_ path: String) -> [UInt8]? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var result: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = fread(&chunk, 1, chunk.count, file)
      if count == 0 { return result }
      result.append(contentsOf: chunk[..<count])
    }
  }

  private static func number(_ cell: ArraySlice<UInt8>) -> Double {
    let text = String(decoding: cell, as: UTF8.self)
    if let value = Double(text) { return value }
    guard let clock = text.split(separator: " ").last, clock.contains(":") else { return .nan }
    return clock.split(separator: ":").reduce(0) { $0 * 60 + (Double($1) ?? .nan) }
  }
}

/// The location of public recordings with ground truth.
package struct Recordings {
  package let folder: String

  /// The folder: the value of UWB_DATASETS, or ../shared/datasets.
  package init(_ folder: String? = nil) {
    let named = getenv("UWB_DATASETS").map { String(cString: $0) }
    self.folder = folder ?? named ?? "../shared/datasets"
  }

  /// Returns whether a recording exists.
  package func has(_ name: String) -> Bool { access("\(folder)/\(name)", R_OK) == 0 }

  /// The names in a folder, sorted.
  static func names(_ path: String) -> [String] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var result: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if !name.hasPrefix(".") { result.append(name) }
    }
    return result.sorted()
  }
}
