// SPDX-License-Identifier: Apache-2.0

import Foundation

/// `uwbctl` in a process of its own.
final class ChildProcess {
  struct Failure: Error { var what: String }

  let process = Process()
  private let output = Pipe()
  private let complaints = Pipe()
  /// Read, but not returned yet.
  private var pending = ""

  /// The program beside the tests.
  static let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appending(path: "uwbctl")

  init(_ arguments: [String]) throws {
    // Commands in this process, and nohup, ignore signals, which a child would inherit.
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["--default-signal=HUP,INT,TERM", Self.program.path] + arguments
    process.standardOutput = output
    process.standardError = complaints
    process.standardInput = FileHandle.nullDevice
    try process.run()
  }

  deinit { end() }

  /// Waits for the first words that it says; nobody reads the rest.
  func waitFor(_ beginning: String) throws {
    let line = output.fileHandleForReading.availableData
    guard String(decoding: line, as: UTF8.self).hasPrefix(beginning) else {
      process.waitUntilExit()
      let said = String(decoding: complaints.fileHandleForReading.availableData, as: UTF8.self)
      throw Failure(what: "status \(process.terminationStatus): \(said)")
    }
    for pipe in [output, complaints] {
      pipe.fileHandleForReading.readabilityHandler = { _ = $0.availableData }
    }
  }

  /// What it says from here to the end of the first line that contains a text.
  func read(until text: String) throws -> String {
    while true {
      if let found = pending.range(of: text),
        let end = pending[found.upperBound...].firstIndex(of: "\n")
      {
        defer { pending = String(pending[pending.index(after: end)...]) }
        return String(pending[...end])
      }
      let data = output.fileHandleForReading.availableData
      guard !data.isEmpty else { throw Failure(what: "no \(text) in: \(pending)\(errors())") }
      pending += String(decoding: data, as: UTF8.self)
    }
  }

  /// What it says on standard error until its end.
  func errors() -> String {
    String(decoding: complaints.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  }

  /// All that it says until it ends by itself, one JSON object a line.
  func lines() throws -> [[String: Any]] {
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return try String(decoding: data, as: UTF8.self).split(separator: "\n").map { line in
      guard let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      else { throw Failure(what: "no object: \(line)") }
      return object
    }
  }

  func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  func end() {
    for pipe in [output, complaints] { pipe.fileHandleForReading.readabilityHandler = nil }
    if process.isRunning { process.terminate() }
    process.waitUntilExit()
  }

  /// Entries of a folder of the process: `task`, `fd`.
  func count(_ folder: String) throws -> Int {
    try FileManager.default.contentsOfDirectory(
      atPath: "/proc/\(process.processIdentifier)/\(folder)"
    ).count
  }
}
