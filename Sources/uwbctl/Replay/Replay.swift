// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UCI
import UWBCapture
import UWBDriver

/// `uwbctl replay`: what a capture measured, as `range` prints it.
struct Replay: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print the ranging measurements of a capture.",
    discussion: """
      FILE is what range --capture wrote, another pcapng file with UCI packets, a log of NXP's or \
      Android's stack, or packets in hexadecimal, one or several on a line.
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

  @Argument(help: "The capture.") var file: String
  @Option(help: "1 as recorded, 2 twice as fast, max without waiting.") var speed = Speed.times(1)
  @Option(help: "table, text, json (one object a line) or csv (default: table on a terminal).")
  var format: RangeFormat?

  func run() async throws {
    let this = self
    try await reporting { try await cancelledBySignals { try await this.replay() } }
  }

  private func replay() async throws {
    let capture = try CaptureReader.read(file: file)
    for problem in capture.problems { standardError.write("\(file): \(problem)\n") }
    var measurements = CapturedMeasurements()
    var pipeline = RangePipeline(format ?? .standard, hasRSSI: measurements.hasRSSI)
    let clock = ContinuousClock()
    let start = clock.now
    var first: UInt64?
    do {
      for packet in capture.packets {
        let batch = measurements.take(packet)
        pipeline.hasRSSI = measurements.hasRSSI
        guard let time = batch.first?.receivedAt else { continue }
        try Task.checkCancellation()
        if case .times(let factor) = speed {
          let beginning = first ?? time
          first = beginning
          let seconds = Double(time - beginning) / 1e9 / factor
          try await clock.sleep(until: start + .seconds(min(seconds, 1e9)))
        }
        for measurement in batch { pipeline.take(measurement) }
      }
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

/// The two-way measurements in the packets of a capture, joined and read as the driver does it.
struct CapturedMeasurements {
  /// Whether the chip reports RSSI: as its device info says, and until it does, it does.
  private(set) var hasRSSI = true
  /// Packets and notifications that do not have the layout they should have.
  private(set) var unreadable = 0
  private var reassembler = Reassembler()
  private var last: UInt64 = 0

  /// Measurements that this packet completes. Their times never go back; where the capture has
  /// none, they are an interval apart.
  mutating func take(_ packet: CapturedPacket) -> [RangingMeasurement] {
    guard packet.direction != .outbound else { return [] }
    let octets = packet.octets.span.bytes
    guard packet.isWhole, let header = try? PacketHeader(parsing: octets) else {
      unreadable += 1
      return []
    }
    let payload = octets.extracting(PacketHeader.length..<octets.byteCount)
    switch reassembler.take(header, payload: payload) {
    case .incomplete: return []
    case .whole: return read(header, payload, packet.time)
    case .completed:
      let whole = reassembler.withPayload(of: header.type) { $0.withUnsafeBytes { Array($0) } }
      return read(header, whole.span.bytes, packet.time)
    }
  }

  private mutating func read(
    _ header: PacketHeader, _ payload: RawSpan, _ time: UInt64?
  ) -> [RangingMeasurement] {
    if header.type == .response, header.opcode == .coreGetDeviceInfo {
      var reader = PayloadReader(payload)
      let response = try? DeviceInfoResponse(from: &reader, dialect: .assumed)
      if let info = response?.info { hasRSSI = info.uciVersion.major >= 2 }
      return []
    }
    guard header.type == .notification, header.opcode == .sessionInfo else { return [] }
    guard let view = try? SessionInfoView(payload) else {
      unreadable += 1
      return []
    }
    let interval = UInt64(view.intervalMilliseconds) * 1_000_000
    last = max(last, time ?? last &+ interval)
    var batch: [RangingMeasurement] = []
    view.forEachTwoWayMeasurement { result in
      batch.append(
        RangingMeasurement(
          sessionToken: view.sessionToken, sequenceNumber: view.sequenceNumber, receivedAt: last,
          result: result))
    }
    return batch
  }
}
