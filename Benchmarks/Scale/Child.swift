// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A process that reports its results as lines. It exits at the end of its standard input.
final class Child {
  let process = Process()
  let input = Pipe()
  private let output = Pipe()
  private var pending = ""

  private static let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
  /// The folder of this program, and of the others.
  static let folder = program.deletingLastPathComponent()

  /// Starts a process of this program.
  convenience init(_ arguments: [String]) throws {
    try self.init(Self.program.path, ["scale"] + arguments)
  }

  /// Starts a program by its path, or by its name in the folder of this program.
  init(_ program: String, _ arguments: [String]) throws {
    process.executableURL = URL(
      filePath: program, relativeTo: Self.folder)
    process.arguments = arguments
    (process.standardInput, process.standardOutput) = (input, output)
    try process.run()
    try output.fileHandleForWriting.close()
  }

  func readLine() throws -> String {
    while true {
      if let end = pending.firstIndex(of: "\n") {
        defer { pending = String(pending[pending.index(after: end)...]) }
        return String(pending[..<end])
      }
      let data = output.fileHandleForReading.availableData
      if data.isEmpty { throw CocoaError(.fileReadUnknown) }
      pending += String(decoding: data, as: UTF8.self)
    }
  }

  func end() throws {
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}
