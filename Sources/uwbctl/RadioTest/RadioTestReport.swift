// SPDX-License-Identifier: Apache-2.0

import UWBLab
import UCI
import UWB

/// The result of a radio test as text and JSON.
struct RadioTestReport {
  var name: String
  var result: RadioTestResult
  /// The result of the other end, if it ran here too.
  var other: RadioTestResult?
  var test: RadioTest

  /// Metres, from both ends of a single-sided ranging.
  var distance: Double? {
    guard case .time(_, let own) = result.content, case .time(_, let theirs)? = other?.content
    else { return nil }
    let isResponder = test == .ssTWR(isResponder: true)
    return RadioTestResult.distance(
      roundTrip: isResponder ? theirs : own, reply: isResponder ? own : theirs)
  }

  // MARK: text

  var text: String {
    var table = TextTable()
    table.add("status", "\(result.status) (\(result.status.rawValue))")
    for row in rows + receiverRows { table.add(row.0, row.1) }
    return table.text
  }

  private var rows: [(String, String)] {
    switch result.content {
    case .sent, .nothing: return []
    case .reception(let reception):
      var rows = reception.counters.map { ($0.name, "\($0.count)") }
      if let rate = reception.packetErrorRate, let good = reception.good {
        rows.append(("packet error rate", "\(fixed(rate * 100, 2)) % (\(good) undamaged)"))
      }
      return rows
    case .frame(let frame):
      var rows: [(String, String)] = []
      if let time = frame.txTimestamp { rows.append(("sent at", Self.microseconds(time))) }
      rows.append(("received at", Self.microseconds(frame.rxTimestamp)))
      rows.append(("azimuth", "\(fixed(Double(frame.rawAzimuth) / 128, 1))°"))
      rows.append(("elevation", "\(fixed(Double(frame.rawElevation) / 128, 1))°"))
      if let gap = frame.arrivalGapNanoseconds {
        rows.append(("main path after the first", "\(gap) ns"))
      }
      rows.append(("PHR", "0x" + String(frame.phr, radix: 16, uppercase: true)))
      rows.append(("payload", frame.psdu.map(hexDigits).joined(separator: " ")))
      return rows
    case .time(let seconds, let ticks):
      let isResponder = test == .ssTWR(isResponder: true)
      var rows = [
        (isResponder ? "reply" : "round trip", "\(fixed(seconds * 1e6, 6)) µs (\(ticks) ticks)")
      ]
      if case .time(let seconds, let ticks)? = other?.content {
        rows.append(
          (isResponder ? "round trip" : "reply", "\(fixed(seconds * 1e6, 6)) µs (\(ticks) ticks)"))
      }
      if let distance { rows.append(("distance", "\(fixed(distance, 2)) m")) }
      return rows
    }
  }

  private var receiverRows: [(String, String)] {
    var rows = result.receivers.map { ("receiver", "\(fixed($0.rssiDBm, 1)) dBm") }
    if let offset = result.carrierOffsetPPM {
      rows.append(("carrier offset", "\(fixed(offset, 3)) ppm"))
    }
    return rows
  }

  private static func microseconds(_ time: TestTimestamp) -> String {
    "\(fixed(time.microseconds, 3)) µs"
  }

  // MARK: JSON

  var json: String {
    var line = JSONLine()
    line.add("test", name)
    line.add("status", "\(result.status)")
    line.add("status_code", result.status.rawValue)
    switch result.content {
    case .sent, .nothing: break
    case .reception(let reception):
      for counter in reception.counters { line.add(counter.name, counter.count) }
      line.add("packet_error_rate_percent", reception.packetErrorRate.map { $0 * 100 }, digits: 4)
      if !reception.bitmap.isEmpty {
        line.add("sts_bitmap", reception.bitmap.map(hexDigits).joined())
      }
    case .frame(let frame):
      line.add("tx_time_us", frame.txTimestamp?.microseconds, digits: 6)
      line.add("rx_time_us", frame.rxTimestamp.microseconds, digits: 6)
      line.add("azimuth_deg", Double(frame.rawAzimuth) / 128, digits: 2)
      line.add("elevation_deg", Double(frame.rawElevation) / 128, digits: 2)
      line.add("arrival_gap_ns", frame.arrivalGapNanoseconds)
      line.add("phr", frame.phr)
      line.add("psdu", frame.psdu.map(hexDigits).joined())
    case .time(_, let ticks):
      line.add("ticks", ticks)
      if case .time(_, let ticks)? = other?.content { line.add("other_ticks", ticks) }
      line.add("distance_m", distance, digits: 3)
    }
    line.add(
      "receivers",
      result.receivers.map { receiver in
        var entry = JSONLine()
        entry.add("rssi_dbm", receiver.rssiDBm, digits: 2)
        return entry
      })
    line.add("carrier_offset_ppm", result.carrierOffsetPPM, digits: 4)
    return line.text
  }
}
