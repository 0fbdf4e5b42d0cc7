// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import FoundationEssentials
import System
import UCI
import UCIReference
import UWB
import UWBLink
import UWBTools

struct Decode: ReportingCommand {
  static let configuration = CommandConfiguration(
    abstract: "Decode UCI frames in hexadecimal, or in a capture.",
    discussion: """
      Frames are read from the arguments, from a file, or else from standard input: one frame, or \
      several in a row, on a line. Blank lines and lines that begin with # are skipped. A file may \
      also be a capture (pcapng) or a log of NXP's or Android's stack. Spaces, colons, dots, dashes, \
      bars and 0x between digits are ignored. Segmented messages are joined.

      Keys are shown as <redacted>. The exit status is 65 when a line was not a whole frame, and 66 \
      when the file could not be read.
      """)

  enum VendorChoice: String, ExpressibleByArgument, CaseIterable {
    case auto, qorvo, nxp, android
  }

  @Argument(help: "Frames in hexadecimal, the bytes of one frame, or a file; -: standard input.")
  var hex: [String] = []

  @Option(name: .shortAndLong, help: "Read frames from this file.", completion: .file())
  var file: String?

  @Option(help: "Output format; json is one object a line.")
  var format = OutputFormat.text

  @Option(help: "The vendor of vendor messages; auto uses the chip's device information.")
  var vendor = VendorChoice.auto

  @Flag(help: "Decode messages between accessories and Android phones, as text without keys.")
  var android = false

  @Flag(help: "Show keys and initialisation vectors.")
  var showSecrets = false

  func validate() throws {
    if file != nil && !hex.isEmpty {
      throw ValidationError("Give frames as arguments or a file, not both.")
    }
    try require(
      !android || file == nil && format == .text && !showSecrets,
      "--android takes no --file, --format or --show-secrets.")
  }

  /// Decodes messages of Android's out-of-band protocol, one per argument or line.
  private func decodeAndroid() throws {
    var failures = 0
    func decode(_ text: String, _ origin: String) {
      do {
        standardOutput.write(try AndroidText.words(FrameText.bytes(text)) + "\n")
      } catch {
        failures += 1
        note("\(origin): error: \(error)")
      }
    }
    if hex.isEmpty {
      var lines = try InputLines("-")
      var number = 0
      while let line = try lines.next() {
        number += 1
        decode(String(decoding: line, as: UTF8.self), "line \(number)")
      }
    }
    for (index, text) in FrameText.lines(arguments: hex).enumerated() where !hex.isEmpty {
      decode(text, "argument \(index + 1)")
    }
    if failures > 0 { throw Failure(.data, nil) }
  }

  func execute() throws {
    if android { return try decodeAndroid() }
    var session = DecodeSession(
      decoder: FrameDecoder(vendor: Dialect.Vendor(rawValue: vendor.rawValue)),
      format: FrameFormat(showSecrets: showSecrets), isJSON: format == .json,
      write: {
        standardOutput.write($0 + "\n")
        if Ending.isOutputLost { throw CancellationError() }
      },
      complain: { note($0) })
    if let file = file ?? namedFile {
      try readFile(file, &session)
    } else if !hex.isEmpty {
      for (index, text) in FrameText.lines(arguments: hex).enumerated() {
        try session.take(text, at: FrameOrigin(name: "argument", number: index + 1))
      }
    } else {
      try readStandardInput(&session)
    }
    session.finish()
    if session.isEmpty { note("There is no frame.") }
    guard session.failures > 0 else { return }
    // A mistyped name of a file would be read as a frame.
    let isName = hex.count == 1 && hex[0] != "" && namedFile == nil
    throw Failure(.data, isName ? "There is no file \(printable(hex[0])) either." : nil)
  }

  /// The only argument, if it is `-`, or the name of a file and not hexadecimal.
  private var namedFile: String? {
    if hex == ["-"] { return "-" }
    guard hex.count == 1, (try? FrameText.frames(hex[0])) == nil else { return nil }
    return FileManager.default.fileExists(atPath: hex[0]) ? hex[0] : nil
  }

  /// Decodes a file while it grows, so that the output of a running program is decoded at once.
  private func readFile(_ file: String, _ session: inout DecodeSession) throws {
    var number = 0
    try naming(file: file) {
      do {
        try CaptureReader.read(asItComes: file) {
          try session.take($0)
        } line: { line in
          number += 1
          try session.takeLine(String(decoding: line, as: UTF8.self), number: number)
        }
      } catch CaptureError.empty {}
    }
  }

  /// Decodes standard input, in which each line is a frame or an error.
  private func readStandardInput(_ session: inout DecodeSession) throws {
    var number = 0
    do {
      var lines = try InputLines("-")
      while let line = try lines.next() {
        number += 1
        try session.takeLine(String(decoding: line, as: UTF8.self), number: number)
      }
    } catch let error as FileError {
      if case .tooLong(let limit) = error {
        throw Failure(
          .noInput, "Line \(number + 1) of standard input is longer than \(limit) bytes.")
      }
      throw Failure(.noInput, "Standard input cannot be read: \(error).")
    }
  }
}
