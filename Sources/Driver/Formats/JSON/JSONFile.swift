// SPDX-License-Identifier: Apache-2.0

package import JSON
internal import System

/// Reads and writes JSON files. Reads in the lenient mode.
package enum JSONFile {
  /// The greatest size of a file in bytes. Calibrations and files of users have some kilobytes.
  private static let limit = 4 << 20

  /// Reads a value whose type has all members of the file. Numbers may be at most 1e12.
  ///
  /// - Parameter what: the kind of the file, such as "a scene".
  /// - Throws: `FormatError`.
  package static func read<T: Decodable>(_ path: String, as what: String) throws(FormatError) -> T {
    try read(path, as: what) { try $0.decode() }
  }

  /// Reads a file and converts it by `body`.
  ///
  /// - Throws: `FormatError`, also for errors of `body`.
  package static func read<T>(
    _ path: String, as what: String, _ body: (JSONNode) throws -> T
  ) throws(FormatError) -> T {
    let bytes = try contents(ofFile: path, limit: limit)
    do {
      let node = try JSONNode(bytes, .lenient)
      if let number = unusable(node) { throw number.error("a number is out of range") }
      return try body(node)
    } catch {
      throw .badFile(path, "not \(what): \(error)")
    }
  }

  /// Returns a number in the node that is too large to be a measurement; nil if there is none.
  private static func unusable(_ node: JSONNode) -> JSONNode? {
    switch node.content {
    case .number: abs(node.number ?? .infinity) <= 1e12 ? nil : node
    case .array(let values): values.lazy.compactMap(unusable).first
    case .object(let members): members.lazy.compactMap { unusable($0.value) }.first
    default: nil
    }
  }

  /// Writes a file completely or not at all.
  ///
  /// - Throws: `FormatError`, also for a file that would be too long to be read.
  package static func write(_ value: some Encodable, to path: String) throws(FormatError) {
    do {
      let text = JSONNode(try JSON(encoding: value)).lines
      guard text.utf8.count <= limit else { throw FileError.tooLong(limit: limit) }
      try OutputFile.write(Array(text.utf8), to: path)
    } catch { throw .notCreated(path, error) }
  }
}

/// Returns all bytes of a file.
///
/// - Parameter path: nil or `-` is standard input.
package func contents(ofFile path: String?, limit: Int) throws(FormatError) -> [UInt8] {
  let path = path ?? "-"
  do throws(FileError) { return try InputFile.bytes(of: path, limit: limit) } catch {
    let isTooLong = if case .tooLong = error { true } else { false }
    throw .unreadable(
      path == "-" ? "standard input" : path, error,
      suggestion: isTooLong ? "Split it into several files." : nil)
  }
}
