// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UCI
import UWB

/// The frames of a radio test; the same at both ends.
struct TestOptions: ParsableArguments {
  @Option(help: "The UWB channel: 5 or 9 on most chips.") var channel: UInt8 = 9
  @Option(help: "The preamble code, 9…12.") var preamble: UInt8 = 9
  @Option(help: "The SFD id, 0 or 2.") var sfd: UInt8 = 2
  @Option(
    help: "The RFRAME: 0, 1 or 3 (default: 0, but 3 for ss-twr and sr-rx, which have no payload).")
  var rframe: UInt8?
  @Option(help: "The number of STS segments in a frame (default: as the RFRAME needs).")
  var stsSegments: UInt8?
  @Option(help: "The length of an STS segment: 0 is 32 symbols, 1 is 64, 2 is 128.")
  var stsLength: UInt8 = 1
  @Option(
    name: .customLong("set"),
    help: "Another application parameter, NAME=VALUE; repeatable.")
  var parameters: [String] = []
  @Option(help: "How many seconds to wait for the result beyond the duration of the frames.")
  var timeout = Seconds(3)
  @Option(help: "Output format: text or json.") var format = OutputFormat.text

  func validate() throws {
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
    configuration.patience = Int(timeout.duration / .milliseconds(1))
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

/// The number of frames and their payload.
struct FrameOptions: ParsableArguments {
  @Option(name: [.customShort("n"), .long], help: "The number of frames to send or to listen for.")
  var packets: UInt32 = 1_000
  @Option(help: "Time between the starts of two frames in microseconds.")
  var gap: UInt32 = 2_000
  @Flag(help: "Make the payload random, with its first byte as the seed.") var random = false
  @Option(help: "The payload in hexadecimal.") var psdu = Bytes([0, 0, 0, 0, 0, 0])

  /// Bytes as hexadecimal digits with common separators.
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
