// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
package import CommandSupport
import Formats
import UCI
package import UWB

/// The options for the frames of a radio test, which must be equal at both ends.
package struct TestOptions: ParsableArguments {
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
  @Option(name: TimeLimit.name, help: TimeLimit.help) var duration: Seconds?
  @Option(help: "How many seconds to wait for the result after the last frame.")
  var timeout = Seconds(3)
  @Option(help: "Output format.") package var format = OutputFormat.text

  package init() {}

  package func validate() throws {
    try TimeLimit.check(duration)
    for text in parameters { _ = try Self.parameter(text) }
  }

  package func configuration(_ frames: FrameOptions? = nil) throws -> RadioTestConfiguration {
    var configuration = RadioTestConfiguration()
    configuration.channel = channel
    configuration.preambleCode = preamble
    configuration.sfd = sfd
    configuration.rframe = rframe
    configuration.stsSegments = stsSegments
    configuration.stsLength = stsLength
    configuration.patience = Int(timeout.duration / .milliseconds(1))
    configuration.limit = duration.map { Int($0.duration / .milliseconds(1)) }
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
package struct FrameOptions: ParsableArguments {
  @Option(name: [.customShort("n"), .long], help: "The number of frames to send or to listen for.")
  var packets: UInt32 = 1_000
  @Option(help: "Time between the starts of two frames in microseconds.")
  var gap: UInt32 = 2_000
  @Flag(help: "Make the payload random, with its first byte as the seed.") var random = false
  @Option(help: "The payload in hexadecimal.") package var psdu = Bytes([0, 0, 0, 0, 0, 0])

  package init() {}

  /// Bytes as hexadecimal digits with common separators.
  package struct Bytes: ExpressibleByArgument {
    package var values: [UInt8]

    package init(_ values: [UInt8]) { self.values = values }

    package init?(argument: String) {
      guard let bytes = argument.isEmpty ? [] : try? FrameText.bytes(argument) else { return nil }
      values = bytes
    }

    package var defaultValueDescription: String { hexDigits(values) }
  }
}
