// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import UCI
import UWB
import UWBTools

struct TestCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test",
    abstract: "Test the radio: send and count frames, or range once.",
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

  struct PERRX: FrameTest {
    static let configuration = CommandConfiguration(
      commandName: "per-rx", abstract: "Receive frames and count errors.")
    @OptionGroup(title: "Device") var device: DeviceOption
    @OptionGroup(title: "Device") var chip: ChipOptions
    @OptionGroup(title: "Frames") var frames: FrameOptions
    @OptionGroup(title: "Radio") var radio: TestOptions
    @OptionGroup(title: "Capture") var capture: CaptureOptions

    func execute() async throws {
      try await run("per-rx", .perRX(psdu: psdu), with: .periodicTX(psdu: psdu))
    }
  }

  struct PeriodicTX: FrameTest {
    static let configuration = CommandConfiguration(
      commandName: "periodic-tx", abstract: "Send frames.")
    @OptionGroup(title: "Device") var device: DeviceOption
    @OptionGroup(title: "Device") var chip: ChipOptions
    @OptionGroup(title: "Frames") var frames: FrameOptions
    @OptionGroup(title: "Radio") var radio: TestOptions
    @OptionGroup(title: "Capture") var capture: CaptureOptions

    func execute() async throws { try await run("periodic-tx", .periodicTX(psdu: psdu)) }
  }

  struct RX: FrameTest {
    static let configuration = CommandConfiguration(
      commandName: "rx", abstract: "Receive one frame and show its time, direction and payload.")
    @Flag(help: "Tell the chip the expected payload; some chips need it, others reject it.")
    var expect = false
    @OptionGroup(title: "Device") var device: DeviceOption
    @OptionGroup(title: "Device") var chip: ChipOptions
    @OptionGroup(title: "Frames") var frames: FrameOptions
    @OptionGroup(title: "Radio") var radio: TestOptions
    @OptionGroup(title: "Capture") var capture: CaptureOptions

    func execute() async throws {
      try await run("rx", .rx(psdu: expect ? psdu : []), with: .periodicTX(psdu: psdu))
    }
  }

  struct Loopback: FrameTest {
    static let configuration = CommandConfiguration(
      abstract: "Send a frame and receive it with the same chip.")
    @OptionGroup(title: "Device") var device: DeviceOption
    @OptionGroup(title: "Device") var chip: ChipOptions
    @OptionGroup(title: "Frames") var frames: FrameOptions
    @OptionGroup(title: "Radio") var radio: TestOptions
    @OptionGroup(title: "Capture") var capture: CaptureOptions

    func execute() async throws { try await run("loopback", .loopback(psdu: psdu)) }
  }

  struct SSTWR: DeviceCommand {
    static let configuration = CommandConfiguration(
      commandName: "ss-twr", abstract: "Perform one single-sided two-way ranging.",
      discussion: """
        Start the end with --responder first. With --with, both ends run here, and the distance is \
        computed from the times of both.
        """)
    @OptionGroup(title: "Device") var device: DeviceOption
    @OptionGroup(title: "Device") var chip: ChipOptions
    @Flag(help: "Make this device the responder.") var responder = false
    @Option(help: "Use this device as the responder.", completion: DeviceOptions.completion)
    var with: String?
    @OptionGroup(title: "Radio") var radio: TestOptions
    @OptionGroup(title: "Capture") var capture: CaptureOptions

    func validate() throws {
      if responder, with != nil { throw ValidationError("Give either --responder or --with.") }
    }

    func execute() async throws {
      try await RadioTestRun(
        name: "ss-twr", test: .ssTWR(isResponder: responder),
        configuration: radio.configuration(),
        counterpart: .ssTWR(isResponder: !responder), otherDevice: with
      ).run(options, capture, radio.format)
    }
  }

  struct SRRX: FrameTest {
    static let configuration = CommandConfiguration(
      commandName: "sr-rx",
      abstract: "Receive frames without payload and check their scrambled timestamps.")
    @OptionGroup(title: "Device") var device: DeviceOption
    @OptionGroup(title: "Device") var chip: ChipOptions
    @OptionGroup(title: "Frames") var frames: FrameOptions
    @OptionGroup(title: "Radio") var radio: TestOptions
    @OptionGroup(title: "Capture") var capture: CaptureOptions

    func execute() async throws {
      try await run("sr-rx", .srRX, with: .periodicTX(psdu: []), rframe: 3)
    }
  }
}

/// A test with frames.
private protocol FrameTest: DeviceCommand {
  var frames: FrameOptions { get }
  var radio: TestOptions { get }
  var capture: CaptureOptions { get }
}

extension FrameTest {
  fileprivate var psdu: [UInt8] { frames.psdu.values }

  /// Runs a test and prints its result.
  ///
  /// - Parameter rframe: The RFRAME configuration unless the user gave one.
  fileprivate func run(
    _ name: String, _ test: RadioTest, with counterpart: RadioTest? = nil, rframe: UInt8? = nil
  ) async throws {
    var configuration = try radio.configuration(frames)
    configuration.rframe = configuration.rframe ?? rframe
    try await RadioTestRun(
      name: name, test: test, configuration: configuration, counterpart: counterpart
    ).run(options, capture, radio.format)
  }
}
