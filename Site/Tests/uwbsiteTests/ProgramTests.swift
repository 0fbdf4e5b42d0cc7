// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The program itself, as a user runs it.
@Suite("uwbsite at a terminal")
struct ProgramTests {
  /// Runs the built program.
  func run(_ arguments: String...) throws -> (status: Int32, output: String, errors: String) {
    try run(arguments)
  }

  func run(_ arguments: [String]) throws -> (status: Int32, output: String, errors: String) {
    try run(arguments, input: nil)
  }

  /// Runs the built program with a file as its standard input, through a pipe.
  func pipe(
    _ path: String, _ arguments: [String]
  ) throws -> (status: Int32, output: String, errors: String) {
    let cat = Process()
    cat.executableURL = URL(fileURLWithPath: "/bin/cat")
    cat.arguments = [path]
    let pipe = Pipe()
    cat.standardOutput = pipe
    try cat.run()
    defer { cat.waitUntilExit() }
    return try run(arguments, input: pipe)
  }

  private func run(
    _ arguments: [String], input: Pipe?
  ) throws -> (status: Int32, output: String, errors: String) {
    let process = Process()
    if let input { process.standardInput = input }
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
      .deletingLastPathComponent().appendingPathComponent("uwbsite")
    process.arguments = arguments
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    let problems = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (
      process.terminationStatus, String(decoding: text, as: UTF8.self),
      String(decoding: problems, as: UTF8.self)
    )
  }

  /// Writes a file for a body.
  func with(_ text: String, _ body: (String) throws -> Void) throws {
    let path = NSTemporaryDirectory() + UUID().uuidString + ".json"
    try text.write(toFile: path, atomically: false, encoding: .utf8)
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(path)
  }

  @Test("check lists all problems with the file's name, and exits with 65")
  func problems() throws {
    let text = """
      {"version": 1, "gauge": {"kind": "tape"}, "tags": [{"id": "t", "carrier": 1}]}
      """
    try with(text) { path in
      let result = try run("check", path)
      #expect(result.status == 65)
      #expect(result.output.isEmpty)
      #expect(
        result.errors == """
          uwbsite: \(path): gauge.kind: tape is unknown; one of shape, anchors, direction, plan, \
          measured, wgs84 belongs here
          \(path): tags[0].carrier: a string belongs here, not a number

          """)
    }
  }

  @Test("a file without JSON is wrong data, at its line")
  func notJSON() throws {
    try with("{\n \"version\" 1}") { path in
      let result = try run("plot", path)
      #expect(result.status == 65)
      #expect(result.errors == "uwbsite: \(path): line 2, column 12: a colon belongs here\n")
    }
  }

  @Test("plot writes a drawing to standard output")
  func drawing() throws {
    try with(#"{"version": 1, "gauge": {"kind": "shape"}, "name": "Hall"}"#) { path in
      let result = try run("plot", path)
      #expect(result.status == 0)
      #expect(result.errors.isEmpty)
      #expect(result.output.hasPrefix("<svg") && result.output.contains(">Hall<"))
    }
  }

  @Test("a missing file is 66, and a missing argument 64")
  func statuses() throws {
    let missing = try run("plot", "/nowhere/site.json")
    #expect(missing.status == 66)
    #expect(missing.errors == "uwbsite: /nowhere/site.json: there is no such file\n")
    let folder = try run("ranges", "/tmp")
    #expect(folder.status == 66)
    #expect(folder.errors == "uwbsite: /tmp: is a folder; a file belongs here\n")
    #expect(try run("check").status == 64)
    #expect(try run("--help").status == 0)
  }
}
