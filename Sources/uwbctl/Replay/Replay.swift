// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UWB

struct Replay: Command {
  static let configuration = CommandConfiguration(
    abstract: "Print the ranging measurements of a capture, or simulate the recorded chip.",
    discussion: """
      FILE is a capture of range --capture, another pcapng file with UCI packets, a log of NXP's or \
      Android's stack, or packets in hexadecimal, one or several on a line.

      With --as-device, any host can open the recorded chip like a serial port at the printed path. \
      It answers each command as recorded, and sends its measurements with the recorded delays. On \
      Ctrl-C it stops and lists the commands that were not in the capture.
      """)

  /// The speed of a replay.
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
  @Option(help: "1 is as recorded, 2 twice as fast, max does not wait.") var speed = Speed.times(1)
  @Option(
    help:
      "Output format: table, text, json (one object a line) or csv (default: table on a terminal, otherwise text)."
  )
  var format: RangeFormat?
  @OptionGroup(title: "Computed values") var estimation: EstimationOptions
  @Flag(help: "Simulate the recorded chip on a pseudo-terminal.") var asDevice = false
  @Option(
    help: "With --as-device: create this symbolic link to the pseudo-terminal.", completion: .file()
  )
  var link: String?
  @Flag(help: "With --as-device: repeat the measurements.")
  var `repeat` = false
  @OptionGroup var time: TimeLimit

  func validate() throws {
    if !asDevice, link != nil || `repeat` || time.limit != nil {
      throw ValidationError("--link, --repeat and --duration need --as-device.")
    }
  }

  func execute() async throws {
    if asDevice { try await simulateDevice() } else { try await replay() }
  }

  private func replay() async throws {
    let capture = try CaptureReader.read(file: file)
    for problem in capture.problems { standardError.write("\(file): \(problem)\n") }
    var measurements = CapturedMeasurements()
    // The peers are not known in advance: their delays are found by address.
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
      // Ctrl-C: the summary covers what was replayed.
    }
    let summary = pipeline.finish(dropped: 0)
    standardError.write(
      summary.text(
        "\(capture.packets.count) packets, \(measurements.unreadable) unreadable") + "\n")
    guard summary.measured == 0, !Task.isCancelled else { return }
    guard summary.failed == 0 else { throw Failure(.noPeer, "No peer was measured.") }
    throw Failure(
      .data, "The capture has no two-way measurements.",
      try: "uwbctl decode --file FILE shows its contents.")
  }
}
