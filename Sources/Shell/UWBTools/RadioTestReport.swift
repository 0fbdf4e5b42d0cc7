// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
package import Formats
import UCI
package import UWB
import UWBLink

/// The result of a radio test as text and JSON.
package struct RadioTestReport {
  package var name: String
  package var result: RadioTestResult
  /// The result of the other end, if it also ran here.
  package var other: RadioTestResult?
  package var test: RadioTest

  package init(
    name: String, result: RadioTestResult, other: RadioTestResult? = nil, test: RadioTest
  ) {
    self.name = name
    self.result = result
    self.other = other
    self.test = test
  }

  /// The distance in metres, from both ends of a single-sided ranging.
  package var distance: Double? {
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

  package var text: String {
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

  package var json: String {
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

  package static let json: [JSONEntry] = [
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
