// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import UCI
import UWB

struct TestCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test",
    abstract: "Test the radio: send frames, count received ones, measure one exchange.",
    discussion: """
      Not every chip has every test. The other end runs on another device with the same values: start \
      the sender first, and let it send for longer than the receiver listens. For example:
        uwbctl test periodic-tx --device /dev/ttyACM0 --packets 9000
        uwbctl test per-rx --device /dev/ttyACM1
      Without --device, an embedded simulated chip is tested with another one. Tests reset the chip.
      """,
    subcommands: [
      PERRX.self, PeriodicTX.self, RX.self, Loopback.self, SSTWR.self, SRRX.self,
    ])

  /// The options that all tests with frames share.
  struct FrameTest: ParsableArguments {
    @OptionGroup(title: "Device") var device: DeviceOptions
    @OptionGroup(title: "Frames") var frames: FrameOptions
    @OptionGroup(title: "Radio") var options: TestOptions
    @OptionGroup(title: "Capture") var capture: CaptureOptions

    var psdu: [UInt8] { frames.psdu.values }

    /// Runs a test and prints its result.
    ///
    /// - Parameter rframe: The RFRAME unless the user gave one.
    func run(
      _ name: String, _ test: RadioTest, with counterpart: RadioTest? = nil, rframe: UInt8? = nil
    ) async throws {
      var configuration = try options.configuration(frames)
      configuration.rframe = configuration.rframe ?? rframe
      try await RadioTestRun(
        name: name, test: test, configuration: configuration, counterpart: counterpart
      ).run(device, capture, options.format)
    }
  }

  struct PERRX: Command {
    static let configuration = CommandConfiguration(
      commandName: "per-rx", abstract: "Receive frames and count errors.")
    @OptionGroup var test: FrameTest

    func execute() async throws {
      try await test.run(
        "per-rx", .perRX(psdu: test.psdu), with: .periodicTX(psdu: test.psdu))
    }
  }

  struct PeriodicTX: Command {
    static let configuration = CommandConfiguration(
      commandName: "periodic-tx", abstract: "Send frames.")
    @OptionGroup var test: FrameTest

    func execute() async throws { try await test.run("periodic-tx", .periodicTX(psdu: test.psdu)) }
  }

  struct RX: Command {
    static let configuration = CommandConfiguration(
      commandName: "rx", abstract: "Receive one frame and show its time, direction and payload.")
    @Flag(help: "Tell the chip the expected payload; some chips need it, others reject it.")
    var expect = false
    @OptionGroup var test: FrameTest

    func execute() async throws {
      try await test.run(
        "rx", .rx(psdu: expect ? test.psdu : []), with: .periodicTX(psdu: test.psdu))
    }
  }

  struct Loopback: Command {
    static let configuration = CommandConfiguration(
      abstract: "Send a frame and receive it with the same chip.")
    @OptionGroup var test: FrameTest

    func execute() async throws { try await test.run("loopback", .loopback(psdu: test.psdu)) }
  }

  struct SSTWR: Command {
    static let configuration = CommandConfiguration(
      commandName: "ss-twr", abstract: "Perform one single-sided two-way ranging.",
      discussion: """
        Start the end with --responder first. With --with, both ends run here, and the distance is \
        computed from the times of both.
        """)
    @OptionGroup(title: "Device") var device: DeviceOptions
    @Flag(help: "Make this device the responder.") var responder = false
    @Option(help: "Use this device as the responder.", completion: DeviceOptions.completion)
    var with: String?
    @OptionGroup(title: "Radio") var options: TestOptions
    @OptionGroup(title: "Capture") var capture: CaptureOptions

    func validate() throws {
      if responder, with != nil { throw ValidationError("Give either --responder or --with.") }
    }

    func execute() async throws {
      try await RadioTestRun(
        name: "ss-twr", test: .ssTWR(isResponder: responder),
        configuration: options.configuration(),
        counterpart: .ssTWR(isResponder: !responder), otherDevice: with
      ).run(device, capture, options.format)
    }
  }

  struct SRRX: Command {
    static let configuration = CommandConfiguration(
      commandName: "sr-rx",
      abstract: "Receive frames without payload and check their scrambled timestamps.")
    @OptionGroup var test: FrameTest

    func execute() async throws {
      try await test.run("sr-rx", .srRX, with: .periodicTX(psdu: []), rframe: 3)
    }
  }
}

/// The options for the frames of a radio test, which must be equal at both ends.
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
  @OptionGroup var time: TimeLimit
  @Option(help: "How many seconds to wait for the result after the last frame.")
  var timeout = Seconds(3)
  @Option(help: "Output format.") var format = OutputFormat.text

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
    configuration.limit = time.limit.map { Int($0 / .milliseconds(1)) }
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
      guard let bytes = argument.isEmpty ? [] : try? FrameText.bytes(argument) else { return nil }
      values = bytes
    }

    var defaultValueDescription: String { hexDigits(values) }
  }
}
