// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import SystemPackage
import UCI
import UWB
import UWBSimulator
import UWBTools

struct Replay: Command {
  static let configuration = CommandConfiguration(
    abstract: "Print measurements of a capture, or act as its chip.",
    discussion: """
      FILE is a capture of range --capture, another pcapng file with UCI packets, a log of NXP's or \
      Android's stack, or packets in hexadecimal, one or several on a line.

      With --as-device, any host can open the recorded chip like a serial port at the printed path. \
      It answers each command as recorded, and sends its measurements with the recorded delays. On \
      Ctrl-C it stops and lists the commands that were not in the capture.
      """)

  @Argument(help: "The capture.", completion: .file()) var file: String
  @Option(help: "1 is as recorded, 2 twice as fast, max does not wait.") var speed = Speed()
  @Option(
    help:
      "Output format; json is one object a line (default: table on a terminal, otherwise text)."
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
  @Option(
    name: [.customShort("n"), .long], help: "Stop after this many ranging rounds.")
  var count: Int?
  @OptionGroup var time: TimeLimit

  func validate() throws {
    if let count, count < 1 { throw ValidationError("--count takes 1 or more.") }
    if !asDevice, link != nil || `repeat` {
      throw ValidationError("--link and --repeat need --as-device.")
    }
    if asDevice, count != nil { throw ValidationError("--as-device does not count rounds.") }
  }

  func execute() async throws {
    if asDevice { try await simulateDevice() } else { try await replay() }
  }

  private func replay() async throws {
    let capture = try naming(file: file) { try CaptureReader.read(file: file) }
    for problem in capture.problems { note("\(file): \(problem)") }
    if try await replayOneWay(capture) { return }
    var measurements = CapturedMeasurements()
    // The peers are not known in advance: their delays are found by address.
    let settings = try estimation.settings(channel: 9, peers: [])
    let printer = RangePrinter(
      format ?? .standard, showsComputed: estimation.calibration != nil)
    printer.begin()
    let clock = ContinuousClock()
    let start = clock.now
    let end = time.limit.map { start + $0 }
    var first: UInt64?
    /// Prints a batch of rounds.
    ///
    /// - Returns: Whether the batch reached the last round.
    func take(_ batch: [EstimatedRound]) -> Bool {
      for round in batch {
        let isNext = round.sequenceNumber != printer.summary.lastSequence
        if isNext, printer.summary.rounds == count { return true }
        printer.take(round, hasRSSI: measurements.hasRSSI)
      }
      return false
    }
    do {
      var isOver = false
      for packet in capture.packets {
        let batch = measurements.rounds(packet, settings)
        guard let time = batch.first?.receivedAt else { continue }
        try Task.checkCancellation()
        var due = clock.now
        if speed.factor.isFinite {
          let beginning = first ?? time
          first = beginning
          let seconds = Double(time - beginning) / 1e9 / speed.factor
          due = start + .seconds(min(seconds, 1e9))
          try await clock.sleep(until: min(due, end ?? due))
        }
        isOver = end.map { due >= $0 } ?? false || take(batch)
        if isOver { break }
      }
      if !isOver { _ = take(measurements.remaining()) }
    } catch is CancellationError {
      // After Ctrl-C, the summary covers the rounds replayed so far.
    }
    let summary = printer.finish(dropped: 0)
    let text = summary.text(
      counted(capture.packets.count, "packet") + ", \(measurements.unreadable) unreadable")
    standardError.write(standardError.wrapped(text, indent: 2) + "\n")
    if summary.measured > 0 { settings.noteMissingCalibration(on: measurements.chip) }
    guard summary.measured == 0, !Task.isCancelled else { return }
    guard summary.rounds == 0 else { throw Failure(.noPeer, "No peer was measured.") }
    throw Failure(
      .data, "The capture has no two-way measurements.",
      try: "uwbctl decode --file FILE shows its contents.")
  }
}

extension Replay {
  /// Simulates the recorded chip until interrupted, and then prints statistics.
  func simulateDevice() async throws {
    let capture = try naming(file: file) { try CaptureReader.read(file: file) }
    for problem in capture.problems { note("\(file): \(problem)") }
    let recording = Recording(capture)
    guard recording.packets > 0 else {
      throw Failure(
        .data, "The capture has no packets of a chip.",
        try: "uwbctl decode --file FILE shows its contents.")
    }
    let device: RecordedDevice
    do {
      device = try RecordedDevice(recording, speed: speed.factor, repeats: `repeat`)
      if let link { try device.link(at: link) }
    } catch {
      throw Failure(
        .cannotCreate,
        "Cannot create \(link ?? "a pseudo-terminal"): \(error) (errno \(error.rawValue)).")
    }
    device.start()
    let announced = OutputFormat(rawValue: format?.rawValue ?? "") ?? .text
    announced.print([(link ?? device.path, recording)], Self.json) { path, _ in path + "\n" }
    try? await Task.sleep(for: time.limit ?? .seconds(1_000_000_000))
    device.stop()
    standardError.write(lines: device.statistics.text(of: recording) + "\n")
  }

  static let json = JSONTable<(path: String, Recording)>(
    "replay --as-device", each: "recorded chip"
  ) {
    $0.key("path", "path to open") { $0.path }
    $0.key("requests", "requests with a recorded answer") { $0.1.requests }
    $0.key("packets", "packets of the chip") { $0.1.packets }
  }
}
