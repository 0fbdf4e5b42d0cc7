// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import UWBSite

/// An error of the program with the exit status of its class, as in `uwbctl`.
struct CommandFailure: Error, CustomStringConvertible {
  enum Kind: Int32 {
    case usage = 64
    case data = 65
    case noInput = 66
    case cannotCreate = 73
    case inputOutput = 74
  }

  let kind: Kind
  let description: String

  init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}

enum SiteFiles {
  /// The greatest length of a file in bytes.
  static let longest = 16 << 20

  /// Reads a site file; each problem has a line of its own in the error.
  static func read(_ path: String) throws(CommandFailure) -> Site {
    let text = try bytes(path)
    do { return try Site(json: text) } catch {
      let lines = error.problems.map { "\(path): \($0)" }
      throw CommandFailure(.data, lines.joined(separator: "\n"))
    }
  }

  /// Writes a file in one step, so that a failure keeps the former file.
  static func write(_ text: String, to path: String) throws(CommandFailure) {
    do {
      try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    } catch {
      throw CommandFailure(.cannotCreate, "\(path): the file cannot be written")
    }
  }

  static func createFolder(_ path: String) throws(CommandFailure) {
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw CommandFailure(.cannotCreate, "\(path): the folder cannot be created")
    }
  }

  static func bytes(_ path: String) throws(CommandFailure) -> [UInt8] {
    let data: Data
    do { data = try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
      let reason = (error as? CocoaError).map { Self.reason($0.code) } ?? "it cannot be read"
      throw CommandFailure(.noInput, "\(path): \(reason)")
    }
    guard data.count <= longest else {
      throw CommandFailure(.noInput, "\(path): it is longer than \(longest >> 20) MiB")
    }
    return Array(data)
  }

  private static func reason(_ code: CocoaError.Code) -> String {
    switch code {
    case .fileReadNoSuchFile, .fileNoSuchFile: "there is no such file"
    case .fileReadNoPermission: "this user may not read it"
    default: "it cannot be read; a regular file belongs here"
    }
  }
}
