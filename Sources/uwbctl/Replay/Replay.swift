// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UWB

/// `uwbctl replay`: what a capture measured, as `range` prints it; or the recorded chip for a host.
struct Replay: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print the ranging measurements of a capture, or play the chip that was recorded.",
    discussion: """
      FILE is what range --capture wrote, another pcapng file with UCI packets, a log of NXP's or \
      Android's stack, or packets in hexadecimal, one or several on a line.

      With --as-device the recorded chip can be opened like a serial port, by any host, at the path \
      that is printed. It answers each command as it did then and sends its measurements as long \
      after their cause as then. Ends with Ctrl-C, and then says what was asked that the capture \
      does not have.
      """)

  /// How fast a capture goes by.
  enum Speed: Equatable, ExpressibleByArgument {
    case times(Double)
    case max

    init?(argument: String) {
      if argument == "max" {
        self = .max
      } else if let factor = Double(argument), factor >= 0.001, factor <= 1e6 {
        self = .times(factor)
      } else {
        return nil
      }
    }

    var defaultValueDescription: String {
      switch self {
      case .max: "max"
      case .times(let factor): factor == 1 ? "1" : "\(factor)"
      }
    }
  }

  @Argument(help: "The capture.", completion: .file()) var file: String
  @Option(help: "1 as recorded, 2 twice as fast, max without waiting.") var speed = Speed.times(1)
  @Option(help: "table, text, json (one object a line) or csv (default: table on a terminal).")
  var format: RangeFormat?
  @OptionGroup(title: "Computed values") var estimation: EstimationOptions
  @Flag(help: "Be the recorded chip on a pseudo-terminal.") var asDevice = false
  @Option(
    help: "With --as-device: make a symbolic link to the pseudo-terminal.", completion: .file())
  var link: String?
  @Flag(help: "With --as-device: measurements begin again when there are no more.")
  var `repeat` = false
  @Option(name: [.customShort("t"), .long], help: "With --as-device: end after so many seconds.")
  var duration: Double?

  func validate() throws {
    if !asDevice, link != nil || `repeat` || duration != nil {
      throw ValidationError("--link, --repeat and --duration go with --as-device.")
    }
    if let duration, !(duration > 0 && duration < 1e9) {
      throw ValidationError("--duration takes more than 0 seconds.")
    }
  }

  func run() async throws {
    let this = self
    try await reporting {
      try await cancelledBySignals {
        if this.asDevice { try await this.playDevice() } else { try await this.replay() }
      }
    }
  }

  private func replay() async throws {
    let capture = try CaptureReader.read(file: file)
    for problem in capture.problems { standardError.write("\(file): \(problem)\n") }
    var measurements = CapturedMeasurements()
    // The peers of a capture are not known ahead: their delays count by address.
    let settings = try estimation.settings(channel: 9, peers: [])
    var pipeline = RangePipeline(
      format ?? .standard, hasRSSI: measurements.hasRSSI,
      showsComputed: estimation.calibration != nil)
    let clock = ContinuousClock()
    let start = clock.now
    var first: UInt64?
    do {
      for packet in capture.packets {
        let batch = measurements.estimates(packet, settings)
        pipeline.hasRSSI = measurements.hasRSSI
        guard let time = batch.first?.measurement.receivedAt else { continue }
        try Task.checkCancellation()
        if case .times(let factor) = speed {
          let beginning = first ?? time
          first = beginning
          let seconds = Double(time - beginning) / 1e9 / factor
          try await clock.sleep(until: start + .seconds(min(seconds, 1e9)))
        }
        for estimate in batch { pipeline.take(estimate) }
      }
      for estimate in measurements.remaining() { pipeline.take(estimate) }
    } catch is CancellationError {
      // Ctrl-C: what has been seen is summed up.
    }
    let summary = pipeline.finish(dropped: 0)
    standardError.write(
      summary.text(
        "\(capture.packets.count) packets, \(measurements.unreadable) unreadable") + "\n")
    guard summary.measured == 0, !Task.isCancelled else { return }
    let nothing = summary.failed == 0
    standardError.write(
      nothing
        ? "uwbctl: The capture holds no two-way measurement.\n  try: uwbctl decode --file FILE "
          + "says what is in it.\n"
        : "uwbctl: No peer was measured.\n")
    throw ExitCode((nothing ? ExitStatus.data : .noPeer).rawValue)
  }
}
