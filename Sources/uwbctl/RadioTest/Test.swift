// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UWB

/// `uwbctl test`: radio tests, as FiRa's test specification has them.
struct TestCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test",
    abstract: "Test the radio: send frames, count what arrives, measure one exchange.",
    discussion: """
      Which tests there are depends on the chip; one that it does not have it refuses. The other end \
      runs on another device, with the same values; start the end that sends first, and let it send \
      longer. For example:
        uwbctl test periodic-tx --device /dev/ttyACM0 --packets 9000
        uwbctl test per-rx --device /dev/ttyACM1
      Without --device an embedded simulated chip is tested with another one. Tests reset the chip.
      """,
    subcommands: [
      PERRX.self,
      PeriodicTX.self,
      RX.self,
      Loopback.self,
      SSTWR.self,
      SRRX.self,
    ])

  struct PERRX: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "per-rx", abstract: "Receive frames and count what goes wrong.")
    @OptionGroup(title: "Device") var device: DeviceOptions
    @OptionGroup(title: "Frames") var frames: FrameOptions
    @OptionGroup(title: "Radio") var options: TestOptions
    @OptionGroup(title: "Capture") var capture: CaptureOptions

    func run() async throws {
      try await RadioTestRun(
        name: "per-rx", test: .perRX(psdu: frames.psdu.values),
        configuration: options.configuration(frames),
        counterpart: .periodicTX(psdu: frames.psdu.values)
      ).run(device, capture, options.format)
    }
  }

  struct PeriodicTX: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "periodic-tx", abstract: "Send frames.")
    @OptionGroup(title: "Device") var device: DeviceOptions
    @OptionGroup(title: "Frames") var frames: FrameOptions
    @OptionGroup(title: "Radio") var options: TestOptions
    @OptionGroup(title: "Capture") var capture: CaptureOptions

    func run() async throws {
      try await RadioTestRun(
        name: "periodic-tx", test: .periodicTX(psdu: frames.psdu.values),
        configuration: options.configuration(frames)
      ).run(device, capture, options.format)
    }
  }

  struct RX: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "rx", abstract: "Receive one frame: when, from where, and what is in it.")
    @OptionGroup(title: "Device") var device: DeviceOptions
    @Flag(help: "Tell the chip the payload to expect; some want it, others refuse it.")
    var expect = false
    @OptionGroup(title: "Frames") var frames: FrameOptions
    @OptionGroup(title: "Radio") var options: TestOptions
    @OptionGroup(title: "Capture") var capture: CaptureOptions

    func run() async throws {
      try await RadioTestRun(
        name: "rx", test: .rx(psdu: expect ? frames.psdu.values : []),
        configuration: options.configuration(frames),
        counterpart: .periodicTX(psdu: frames.psdu.values)
      ).run(device, capture, options.format)
    }
  }

  struct Loopback: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Send a frame and receive it with the same chip.")
    @OptionGroup(title: "Device") var device: DeviceOptions
    @OptionGroup(title: "Frames") var frames: FrameOptions
    @OptionGroup(title: "Radio") var options: TestOptions
    @OptionGroup(title: "Capture") var capture: CaptureOptions

    func run() async throws {
      try await RadioTestRun(
        name: "loopback", test: .loopback(psdu: frames.psdu.values),
        configuration: options.configuration(frames)
      ).run(device, capture, options.format)
    }
  }

  struct SSTWR: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "ss-twr", abstract: "One single-sided two-way ranging.",
      discussion: """
        Start the end with --responder first. With --with both ends run here, and the distance is \
        computed from both times.
        """)
    @OptionGroup(title: "Device") var device: DeviceOptions
    @Flag(help: "This device answers.") var responder = false
    @Option(help: "Another device, which answers.", completion: DeviceOptions.completion) var with:
      String?
    @OptionGroup(title: "Radio") var options: TestOptions
    @OptionGroup(title: "Capture") var capture: CaptureOptions

    func validate() throws {
      if responder, with != nil { throw ValidationError("Give either --responder or --with.") }
    }

    func run() async throws {
      try await RadioTestRun(
        name: "ss-twr", test: .ssTWR(isResponder: responder),
        configuration: options.configuration(),
        counterpart: .ssTWR(isResponder: !responder), otherDevice: with
      ).run(device, capture, options.format)
    }
  }

  struct SRRX: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "sr-rx",
      abstract: "Receive frames without payload and check their scrambled timestamps.")
    @OptionGroup(title: "Device") var device: DeviceOptions
    @OptionGroup(title: "Frames") var frames: FrameOptions
    @OptionGroup(title: "Radio") var options: TestOptions
    @OptionGroup(title: "Capture") var capture: CaptureOptions

    func run() async throws {
      var configuration = try options.configuration(frames)
      // The other end sends what this one listens for.
      configuration.rframe = configuration.rframe ?? 3
      try await RadioTestRun(
        name: "sr-rx", test: .srRX, configuration: configuration,
        counterpart: .periodicTX(psdu: [])
      ).run(device, capture, options.format)
    }
  }
}
