// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import UCI
import UWB
import UWBLink

/// A radio test on a device, with a second device of this machine if the test needs one.
struct RadioTestRun: Sendable {
  var name: String
  var test: RadioTest
  var configuration: RadioTestConfiguration
  /// The test of the other end; nil without one.
  var counterpart: RadioTest?
  /// The device of the other end; nil for an embedded simulated chip or a remote device.
  var otherDevice: String?

  func run(
    _ device: DeviceOptions, _ capture: CaptureOptions, _ format: OutputFormat
  ) async throws {
    let results = try await device.withDevice(capture, peers: counterpart == nil ? 0 : 1) {
      try await measure($0, try await other($1))
    }
    try report(results, format)
  }

  private func other(_ peers: SimulatedPeers?) async throws -> UWBDevice? {
    if let otherDevice { return try await UWBDevice.open(LinkEndpoint(otherDevice)) }
    guard counterpart != nil, let peer = peers?.others.first else { return nil }
    return try await UWBDevice.open(SimulatedPeers.endpoint(peer))
  }

  private typealias Results = (own: RadioTestResult?, other: RadioTestResult?)

  private func measure(_ device: UWBDevice, _ other: UWBDevice?) async throws -> Results {
    guard let other, let counterpart else {
      return (try await Self.attempt(device, test, configuration), nil)
    }
    // The responder or sender starts first; a sender sends longer than the other end listens.
    var longer = configuration
    longer.limit = nil
    if case .periodicTX = counterpart {
      longer.packets = configuration.packets &* 2 &+ 5_000_000 / max(1, configuration.gap)
    }
    let (first, last): ((UWBDevice, RadioTest), (UWBDevice, RadioTest)) =
      test == .ssTWR(isResponder: true)
      ? ((device, test), (other, counterpart)) : ((other, counterpart), (device, test))
    let (signal, hasStarted) = AsyncStream<Void>.makeStream()
    let started = Task { [longer] in
      defer { hasStarted.finish() }
      return try await Self.attempt(first.0, first.1, longer) { hasStarted.finish() }
    }
    for await _ in signal {}
    let isResponder = test == .ssTWR(isResponder: true)
    return try await lending {
      let result = try await Self.attempt(last.0, last.1, configuration)
      if case .periodicTX = counterpart { started.cancel() }
      let second = try await started.value
      return isResponder ? (second, result) : (result, second)
    } end: {
      started.cancel()
      _ = try? await started.value
      await other.close()
    }
  }

  private static func attempt(
    _ device: UWBDevice, _ test: RadioTest, _ configuration: RadioTestConfiguration,
    started: @Sendable () -> Void = {}
  ) async throws -> RadioTestResult? {
    do throws(DriverError) {
      return try await device.run(test, configuration, started: started)
    } catch {
      guard error.code == .refused, let command = error.command, let status = error.status,
        status == .unknownOID || status == .unknownGID
      else { throw error }
      throw Failure(
        .configuration,
        "This chip (\(device.profile.name)) does not have this test: it answered \(command) with "
          + "\(status) (\(status.rawValue)).")
    }
  }

  private func report(_ results: Results, _ format: OutputFormat) throws {
    guard let own = results.own else {
      guard !Task.isCancelled else { return }
      if configuration.limit != nil, case .periodicTX = test {
        return note("Stopped before all frames were sent, because the time is over.")
      }
      throw Failure(
        .noPeer, "The test did not finish in time.",
        try:
          "Check that the other end sends, with the same channel, preamble, SFD and RFRAME, and for "
          + "longer than this end listens.")
    }
    let report = RadioTestReport(name: name, result: own, other: results.other, test: test)
    standardOutput.write(format == .json ? report.json + "\n" : report.text)
    guard own.status.isSuccess else { throw Failure(.noPeer) }
  }
}

/// The result of a radio test as text and JSON.
struct RadioTestReport {
  var name: String
  var result: RadioTestResult
  /// The result of the other end, if it also ran here.
  var other: RadioTestResult?
  var test: RadioTest

  /// The distance in metres, from both ends of a single-sided ranging.
  var distance: Double? {
    guard case .time(_, let own) = result.content, case .time(_, let theirs)? = other?.content
    else { return nil }
    let isResponder = test == .ssTWR(isResponder: true)
    return RadioTestResult.distance(
      roundTrip: isResponder ? theirs : own, reply: isResponder ? own : theirs)
  }

  private typealias Value = (key: String, json: (any JSONValue)?, title: String, text: String?)

  /// The values of the result in order; a value without text appears in JSON only.
  private var values: [Value] {
    switch result.content {
    case .sent, .nothing: return []
    case .reception(let reception):
      let rate = reception.packetErrorRate.map { $0 * 100 }
      let text = rate.flatMap { rate in
        reception.good.map { "\(fixed(rate, 2)) % (\($0) undamaged)" }
      }
      let bitmap: [Value] =
        reception.bitmap.isEmpty ? [] : [("sts_bitmap", hexDigits(reception.bitmap), "", nil)]
      return reception.counters.map { ($0.name, $0.count, $0.name, "\($0.count)") }
        + [("packet_error_rate_percent", Fixed(rate, 4), "packet error rate", text)] + bitmap
    case .frame(let frame):
      func time(_ key: String, _ time: TestTimestamp?, _ title: String) -> Value {
        (
          key, Fixed(time?.microseconds, 6), title,
          time.map { "\(fixed($0.microseconds, 3)) µs" }
        )
      }
      func angle(_ name: String, _ raw: some BinaryInteger) -> Value {
        let degrees = Double(raw) / 128
        return (name + "_deg", Fixed(degrees, 2), name, "\(fixed(degrees, 1))°")
      }
      let gap = frame.arrivalGapNanoseconds
      return [
        time("tx_time_us", frame.txTimestamp, "sent at"),
        time("rx_time_us", frame.rxTimestamp, "received at"),
        angle("azimuth", frame.rawAzimuth), angle("elevation", frame.rawElevation),
        ("arrival_gap_ns", gap, "main path after the first", gap.map { "\($0) ns" }),
        ("phr", frame.phr, "PHR", "0x" + String(frame.phr, radix: 16, uppercase: true)),
        ("psdu", hexDigits(frame.psdu), "payload", hexDigits(frame.psdu, separator: " ")),
      ]
    case .time(let seconds, let ticks):
      let isResponder = test == .ssTWR(isResponder: true)
      func time(_ key: String, _ seconds: Double, _ ticks: some JSONValue, _ title: String) -> Value
      {
        (key, ticks, title, "\(fixed(seconds * 1e6, 6)) µs (\(ticks) ticks)")
      }
      var values = [time("ticks", seconds, ticks, isResponder ? "reply" : "round trip")]
      if case .time(let seconds, let ticks)? = other?.content {
        values.append(time("other_ticks", seconds, ticks, isResponder ? "round trip" : "reply"))
      }
      let text = distance.map { "\(fixed($0, 2)) m" }
      return values + [("distance_m", Fixed(distance, 3), "distance", text)]
    }
  }

  var text: String {
    var table = TextTable()
    table.add("status", "\(result.status) (\(result.status.rawValue))")
    for value in values { if let text = value.text { table.add(value.title, text) } }
    for receiver in result.receivers { table.add("receiver", "\(fixed(receiver.rssiDBm, 1)) dBm") }
    if let offset = result.carrierOffsetPPM {
      table.add("carrier offset", "\(fixed(offset, 3)) ppm")
    }
    return table.text
  }

  // MARK: JSON

  var json: String {
    var line: JSONLine = [
      "test": name, "status": "\(result.status)", "status_code": result.status.rawValue,
    ]
    for value in values { line.add(value.key, value.json) }
    line.add("receivers", result.receivers.map { ["rssi_dbm": Fixed($0.rssiDBm, 2)] as JSONLine })
    line.add("carrier_offset_ppm", Fixed(result.carrierOffsetPPM, 4))
    return line.json
  }

  private static func test(_ name: String, _ keys: [(String, String)]) -> JSONEntry {
    var entry = JSONEntry(
      "test \(name)", each: "test",
      [
        "test": "name of the test", "status": "status name",
        "status_code": "status number, 0 is OK",
      ])
    entry.keys += keys.map { JSONEntry.Key($0.0, $0.1) }
    entry.keys += [
      .init("receivers", "measurements of the receivers"),
      .init("receivers[].rssi_dbm?", "received power, dBm"),
      .init("carrier_offset_ppm", "difference of the carriers, ppm"),
    ]
    return entry
  }

  private static let acquisition: [(String, String)] = [
    ("attempts", "reception attempts"), ("acquisition_detected", "signals detected"),
    ("acquisition_rejected", "signals rejected"), ("rx_failed", "receptions without acquisition"),
    ("sync_cir_ready", "channel responses ready"), ("sfd_failed", "frames without their SFD"),
    ("sfd_found", "frames with their SFD"),
  ]
  private static let error = ("packet_error_rate_percent", "damaged or lost frames, %")
  private static let frame: [(String, String)] = [
    ("tx_time_us", "transmission time on the chip's clock, µs"),
    ("rx_time_us", "reception time on the chip's clock, µs"), ("azimuth_deg", "degrees"),
    ("elevation_deg", "degrees"), ("arrival_gap_ns", "main path after the first, ns"),
    ("phr", "PHY header"), ("psdu", "payload, hexadecimal"),
  ]

  static let json: [JSONEntry] = [
    test(
      "per-rx",
      acquisition + [
        ("phr_decode_errors", "undecodable headers"), ("phr_bit_errors", "headers with bit errors"),
        ("psdu_decode_errors", "undecodable payloads"),
        ("psdu_bit_errors", "payloads with bit errors"), ("sts_found", "frames with the right STS"),
        ("end_of_frame", "frames that ended"), error,
      ]),
    test("periodic-tx", []), test("rx", frame), test("loopback", frame),
    test(
      "ss-twr",
      [
        ("ticks", "time measured here, in ticks of 15.65 ps"),
        ("other_ticks", "time measured at the other end, in ticks"), ("distance_m", "metres"),
      ]),
    test(
      "sr-rx",
      acquisition + [
        ("sts_found", "frames with the right STS"), ("end_of_frame", "frames that ended"), error,
        ("sts_bitmap", "a bit for each frame, hexadecimal"),
      ]),
  ]
}
