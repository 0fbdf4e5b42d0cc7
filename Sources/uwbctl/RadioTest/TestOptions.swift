// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UCI
import UWB

/// How the frames of a radio test look. Both ends need the same.
struct TestOptions: ParsableArguments {
  @Option(help: "5 or 9 on most chips.") var channel: UInt8 = 9
  @Option(help: "Preamble code, 9…12.") var preamble: UInt8 = 9
  @Option(help: "SFD id, 0 or 2.") var sfd: UInt8 = 2
  @Option(help: "RFRAME: 0, 1 or 3 (default: 0; 3 for ss-twr and sr-rx, which have no payload).")
  var rframe: UInt8?
  @Option(help: "STS segments in a frame (default: what the RFRAME needs).")
  var stsSegments: UInt8?
  @Option(help: "Length of an STS segment: 0 is 32 symbols, 1 is 64, 2 is 128.")
  var stsLength: UInt8 = 1
  @Option(
    name: .customLong("set"),
    help: "Another application parameter, as NAME=VALUE; may be repeated.")
  var parameters: [String] = []
  @Option(help: "Seconds to wait for the result beyond the time that the frames take.")
  var timeout = 3.0
  @Option(help: "How to print the result: text or json.") var format = OutputFormat.text

  func validate() throws {
    guard timeout >= 0, timeout < 1e6 else {
      throw ValidationError("--timeout takes seconds, 0 or more.")
    }
    for text in parameters { _ = try Self.parameter(text) }
  }

  func configuration(_ frames: FrameOptions? = nil) throws -> RadioTestConfiguration {
    var configuration = RadioTestConfiguration()
    configuration.channel = channel
    configuration.preambleCode = preamble
    configuration.sfd = sfd
    configuration.rframe = rframe
    configuration.stsSegments = stsSegments
    configuration.stsLength = stsLength
    configuration.patience = Int(timeout * 1_000)
    configuration.additional = try parameters.map(Self.parameter)
    if let frames {
      configuration.packets = frames.packets
      configuration.gap = frames.gap
      configuration.isRandom = frames.random
    }
    return configuration
  }

  private static func parameter(_ text: String) throws -> TLV {
    do { return try TLV(appConfig: text) } catch { throw ValidationError("--set: \(error)") }
  }
}

/// How many frames there are, and what is in them.
struct FrameOptions: ParsableArguments {
  @Option(name: [.customShort("n"), .long], help: "Frames to send, or to listen for.")
  var packets: UInt32 = 1_000
  @Option(help: "From the start of a frame to that of the next, in microseconds.")
  var gap: UInt32 = 2_000
  @Flag(help: "The payload is random, its first byte the seed.") var random = false
  @Option(help: "The payload of the frames in hexadecimal.") var psdu = Bytes([0, 0, 0, 0, 0, 0])

  /// Bytes from digits, with anything people put between them.
  struct Bytes: ExpressibleByArgument {
    var values: [UInt8]

    init(_ values: [UInt8]) { self.values = values }

    init?(argument: String) {
      let digits = argument.filter { !" .:-_,".contains($0) }
      let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
        UInt8(digits.dropFirst($0).prefix(2), radix: 16)
      }
      guard digits.count == bytes.count * 2, digits.allSatisfy(\.isHexDigit) else { return nil }
      values = bytes
    }

    var defaultValueDescription: String { values.map(hexDigits).joined() }
  }
}
