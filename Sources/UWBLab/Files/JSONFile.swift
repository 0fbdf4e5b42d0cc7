// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SystemPackage

/// JSON from files, also with comments, trailing commas and unquoted names (JSON5).
package enum JSONFile {
  package static func read<T: Decodable>(
    _ path: String, as what: String
  ) throws(LabError) -> T {
    let bytes = try contents(ofFile: path)
    let decoder = JSONDecoder()
    decoder.allowsJSON5 = true
    do { return try decoder.decode(T.self, from: Data(bytes)) } catch {
      throw .badFile(path, "not \(what): \(problem(error))")
    }
  }

  /// Writes a file completely or not at all.
  package static func write(_ value: some Encodable, to path: String) throws(LabError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    do { try write(try encoder.encode(value) + [0x0A], to: path) } catch {
      throw .notCreated(path, error)
    }
  }

  static func write(_ data: Data, to path: String) throws {
    try data.write(to: URL(filePath: path), options: .atomic)
  }

  /// What is wrong, in a line.
  private static func problem(_ error: any Error) -> String {
    func position(_ path: [any CodingKey]) -> String {
      path.isEmpty ? "at the top" : "in " + path.map { $0.stringValue }.joined(separator: ".")
    }
    guard let error = error as? DecodingError else { return "\(error)" }
    return switch error {
    case .keyNotFound(let key, let context):
      "\(key.stringValue) is missing \(position(context.codingPath))"
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      "\(context.debugDescription) (\(position(context.codingPath)))"
    case .dataCorrupted(let context):
      "\(context.debugDescription) (\(position(context.codingPath)))"
        + (context.underlyingError.map { ": \($0)" } ?? "")
    @unknown default: "\(error)"
    }
  }
}

/// All bytes of a file.
///
/// - Parameter path: nil or `-` is standard input.
package func contents(ofFile path: String?) throws(LabError) -> [UInt8] {
  let name = path ?? "-"
  do {
    let descriptor = name == "-" ? .standardInput : try FileDescriptor.open(name, .readOnly)
    defer { if name != "-" { try? descriptor.close() } }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = try chunk.withUnsafeMutableBytes { try descriptor.read(into: $0) }
      if count == 0 { return bytes }
      bytes.append(contentsOf: chunk[..<count])
    }
  } catch { throw .unreadable(name == "-" ? "standard input" : name, error) }
}
