// SPDX-License-Identifier: Apache-2.0

package import Foundation
import UCI

/// Frames of many sources with the results of an independent decoder. They are not part of the
/// package, because they come from other projects; their tests report when they are skipped.
package enum Corpus {
  /// The folder named by UWB_CORPUS, or one beside the package.
  package static let folder: URL = {
    if let path = ProcessInfo.processInfo.environment["UWB_CORPUS"] {
      return URL(fileURLWithPath: path)
    }
    return URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("../shared/corpus").standardizedFileURL
  }()

  package static let frames = folder.appendingPathComponent("uci-frames.jsonl")
  package static let payloads = folder.appendingPathComponent("uci-payload-vectors.jsonl")

  package static func exists(_ file: URL) -> Bool {
    FileManager.default.fileExists(atPath: file.path)
  }

  package static func lines(_ file: URL) throws -> [JSON] {
    try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map {
      JSON(try JSONSerialization.jsonObject(with: Data($0.utf8)))
    }
  }
}

/// A value of the corpus.
package enum JSON: Equatable {
  case null
  case bool(Bool)
  case number(Int64)
  case text(String)
  case list([JSON])
  case object([String: JSON])

  package init(_ value: Any) {
    switch value {
    case let value as String: self = .text(value)
    case let value as [Any]: self = .list(value.map(JSON.init))
    case let value as [String: Any]: self = .object(value.mapValues(JSON.init))
    case let value as NSNumber:
      // Booleans are numbers too, of a type of their own.
      self =
        String(cString: value.objCType) == "c" ? .bool(value.boolValue) : .number(value.int64Value)
    default: self = .null
    }
  }

  package init(_ value: some BinaryInteger) { self = .number(Int64(truncatingIfNeeded: value)) }
  package init(_ bytes: [UInt8]) { self = .text(hexadecimal(bytes)) }

  package subscript(key: String) -> JSON {
    if case .object(let object) = self { object[key] ?? .null } else { .null }
  }

  package var text: String? { if case .text(let text) = self { text } else { nil } }
  package var number: Int64? { if case .number(let number) = self { number } else { nil } }
  package var list: [JSON] { if case .list(let list) = self { list } else { [] } }
  package var object: [String: JSON] { if case .object(let object) = self { object } else { [:] } }
  package var isTrue: Bool { self == .bool(true) || self == .number(1) }
}
