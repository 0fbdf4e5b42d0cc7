// SPDX-License-Identifier: Apache-2.0

package import Foundation
import Synchronization
package import UWBTestSupport

/// `uwbctl`, or another program, in a process of its own.
package final class ChildProcess {
  package struct Failure: Error {
    var what: String

    package init(what: String) { self.what = what }
  }

  package let process: SpawnedProcess
  private let output = Pipe()
  private let complaints = Pipe()
  /// The output that has been read, but not returned yet.
  private var pending = ""

  package static let uwbctl = path(of: "uwbctl")
  package static let uwbd = path(of: "uwbd")
  package static let uwblab = path(of: "uwblab")

  /// Returns the path of a program in the folder of the tests.
  private static func path(of program: String) -> String {
    URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appending(path: program).path
  }

  /// - Parameters:
  ///   - input: The text for its standard input.
  ///   - columns: The width of its terminal, if not the default.
  ///   - runtime: Its XDG_RUNTIME_DIR, if not the default.
  ///   - service: Its UWBD_SOCKET, if not the default.
  ///   - program: Another program than `uwbctl`.
  package init(
    _ arguments: [String], input: Data = Data(), columns: String? = nil, in folder: String? = nil,
    runtime: String? = nil, service: String? = nil, program: String = uwbctl
  ) throws {
    let stdin = Pipe()
    var environment = ["COLUMNS": columns]
    if let runtime { environment["XDG_RUNTIME_DIR"] = runtime }
    if let service { environment["UWBD_SOCKET"] = service }
    process = try SpawnedProcess(
      program, arguments, environment: environment, in: folder,
      standardInput: input.isEmpty ? nil : stdin.fileHandleForReading.fileDescriptor,
      standardOutput: output.fileHandleForWriting.fileDescriptor,
      standardError: complaints.fileHandleForWriting.fileDescriptor)
    // The child has its own copy.
    for pipe in [output, complaints] { try pipe.fileHandleForWriting.close() }
    try stdin.fileHandleForReading.close()
    DispatchQueue(label: "input").async {
      try? stdin.fileHandleForWriting.write(contentsOf: input)
      try? stdin.fileHandleForWriting.close()
    }
  }

  deinit { end() }

  /// Waits for the first output, and reads no more.
  package func waitFor(_ beginning: String) throws {
    let line = output.fileHandleForReading.availableData
    guard String(decoding: line, as: UTF8.self).hasPrefix(beginning) else {
      let said = String(decoding: complaints.fileHandleForReading.availableData, as: UTF8.self)
      throw Failure(what: "status \(process.terminationStatus): \(said)")
    }
    for pipe in [output, complaints] {
      pipe.fileHandleForReading.readabilityHandler = { _ = $0.availableData }
    }
  }

  /// Returns the output from here to the end of the first line that contains a text.
  package func read(until text: String) throws -> String {
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

  /// Returns the output on standard error until the end.
  package func errors() -> String {
    String(decoding: complaints.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  }

  /// The outcome of a program that has ended.
  package struct Outcome {
    /// The exit status as shells report it: 128 plus the signal for a program that a signal ended.
    package var status: Int32
    package var bytes: Data
    package var complaints: String

    package var output: String { String(decoding: bytes, as: UTF8.self) }

    /// The output, one JSON object a line.
    package func objects() throws -> [[String: Any]] {
      try output.split(separator: "\n").map { line in
        guard let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        else { throw Failure(what: "no object: \(line)") }
        return object
      }
    }
  }

  /// Waits for the end.
  package func outcome() -> Outcome {
    // Both streams are read at the same time, because either may exceed the capacity of a pipe.
    let said = Mutex(Data())
    let reading = DispatchGroup()
    let complaints = complaints.fileHandleForReading
    DispatchQueue(label: "complaints").async(group: reading) {
      let data = complaints.readDataToEndOfFile()
      said.withLock { $0 = data }
    }
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    reading.wait()
    return Outcome(
      status: process.terminationStatus, bytes: bytes,
      complaints: String(decoding: said.withLock { $0 }, as: UTF8.self))
  }

  /// Runs the program to its end.
  package static func run(
    _ arguments: [String], input: Data = Data(), columns: String? = nil, in folder: String? = nil,
    runtime: String? = nil, service: String? = nil, program: String = uwbctl
  ) throws -> Outcome {
    try ChildProcess(
      arguments, input: input, columns: columns, in: folder, runtime: runtime, service: service,
      program: program
    ).outcome()
  }

  /// Ends the program like Ctrl-C, whatever it has printed since.
  package func interrupt() -> Outcome {
    process.interrupt()
    return outcome()
  }

  package func kill() {
    process.send(SIGKILL)
    process.waitUntilExit()
  }

  package func end() {
    for pipe in [output, complaints] { pipe.fileHandleForReading.readabilityHandler = nil }
    if process.isRunning { process.terminate() }
    process.waitUntilExit()
  }

  /// The entries of a folder of the process: `task`, `fd`.
  package func count(_ folder: String) throws -> Int {
    try FileManager.default.contentsOfDirectory(
      atPath: "/proc/\(process.processIdentifier)/\(folder)"
    ).count
  }
}
