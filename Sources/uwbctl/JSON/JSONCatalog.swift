// SPDX-License-Identifier: Apache-2.0

/// The keys of every command that prints JSON. A test compares them with the output.
enum JSONCatalog {
  static let all: [JSONEntry] =
    devices + looking + ranging + [multicast("list"), multicast("add"), multicast("remove")] + tests
    + calibration + others

  // MARK: devices

  private static let devices: [JSONEntry] = [
    JSONEntry(
      "list", each: "device that is plugged in",
      [
        "path": "path of the serial port", "name": "name of the device",
        "kind": "board, debugger, …",
        "endpoint": "name for --device", "stable_paths": "paths that do not change",
        "driver": "kernel driver", "usb_vendor": "4 hexadecimal digits",
        "usb_product": "4 hexadecimal digits", "manufacturer": "as reported by the device",
        "product": "as reported by the device", "serial": "serial number",
        "interface": "USB interface",
        "owner": "owner of the port", "group": "group of the port", "mode": "permissions, octal",
        "may_open": "whether you can open it", "held_by": "programs that have it open",
        "held_by[].pid?": "process id", "held_by[].name?": "program name",
        "note": "remark on the device",
      ]),
    JSONEntry(
      "doctor", each: "check",
      [
        "check": "name of the check", "verdict": "ok, warn, fail or skipped",
        "text": "what was found",
        "advice": "what to do",
      ]),
    JSONEntry(
      "info", each: "device",
      [
        "device": "as given to --device", "family": "chip family", "uci": "UCI version",
        "mac": "MAC version", "phy": "PHY version", "test": "test version",
        "vendor_info": "vendor bytes, hexadecimal", "channels": "UWB channels",
        "capabilities": "capabilities of the chip", "capabilities[].id": "number",
        "capabilities[].name": "name", "capabilities[].value": "bytes, hexadecimal",
      ]),
    JSONEntry(
      "simulate", each: "chip",
      ["name": "name of the chip", "profile": "its model", "path": "path to open"]),
  ]

  // MARK: chips

  private static let packet = JSONEntry(
    "monitor", each: "packet", hasMore: true,
    [
      "time_s": "seconds since the start", "direction": "from_chip or to_chip",
      "mt": "message type", "gid": "group", "oid": "opcode", "name": "message name",
      "pbf": "whether more segments follow", "length": "payload bytes",
    ])

  private static let looking: [JSONEntry] = [
    packet, packet.also("send"),
    JSONEntry(
      "caps", each: "capability",
      [
        "id": "number", "sub_id?": "second byte of the number", "name": "name",
        "meaning": "value in words", "octets": "bytes in wire order, hexadecimal",
        "summary": "description",
      ]),
    JSONEntry(
      "config get", each: "parameter",
      [
        "name": "name", "id": "number", "sub_id?": "second byte of the number",
        "value": "value as text", "octets": "hexadecimal; null for keys",
      ]),
    JSONEntry(
      "config set", each: "parameter",
      [
        "name": "name", "set": "whether the chip accepted it", "status": "status name",
        "status_code": "status number, 0 is OK",
      ]),
    JSONEntry(
      "config list", each: "known parameter",
      [
        "name": "name", "kind": "session or device", "id": "number",
        "sub_id?": "second byte of the number", "summary": "description",
        "lengths": "possible lengths in bytes", "unit": "unit of the number",
        "min": "lowest number",
        "max": "highest number", "default": "value when it is not set", "values": "named values",
        "values[].value?": "number", "values[].meaning?": "name",
        "accepted": "accepted values", "scope": "which devices have to agree on it",
        "mandatory": "whether sessions need it", "read_only": "whether it cannot be set",
        "secret": "whether it is a key, which is never shown",
      ]),
    JSONEntry(
      "reset", each: "device",
      [
        "device": "opened device", "family": "chip family", "uci": "UCI version",
        "ready_ms": "milliseconds until the chip was ready again",
      ]),
  ]

  // MARK: ranging

  private static let measurement = JSONEntry(
    "range", each: "measurement",
    [
      "time_s": "seconds since the first measurement", "session": "session token of the chip",
      "sequence": "number of the ranging round, from 0", "peer": "address", "status": "status name",
      "status_code": "status number, 0 is OK",
      "distance_cm": "distance reported by the chip, centimetres",
      "estimate_m": "filtered distance, metres",
      "estimate_sd_m": "its standard deviation, metres",
      "velocity_m_s": "speed away from this device, metres per second", "azimuth_deg": "degrees",
      "azimuth_fom": "figure of merit, 0…100; 0: no azimuth", "elevation_deg": "degrees",
      "elevation_fom": "figure of merit, 0…100; 0: no elevation", "rssi_dbm": "received power, dBm",
      "nlos": "true without line of sight", "lost_before": "notifications lost just before",
      "after_interruption": "true for the first one after the device was lost and found again",
      "computed_m": "calibrated distance of this round, metres",
      "computed_sd_m": "its standard deviation, metres",
      "no_computed": "why it is missing: not_measured or no_distance",
      "computed_azimuth_deg": "from phases of single frames, degrees to the right",
      "computed_azimuth_sd_deg": "its standard deviation, degrees",
      "no_computed_azimuth":
        "why it is missing: not_measured, no_antenna_table, no_phases or phases_disagree",
      "computed_elevation_deg": "from phases of single frames, degrees upwards",
      "computed_elevation_sd_deg": "its standard deviation, degrees",
      "nlos_probability": "probability that the direct path is blocked, 0…1",
      "cfo_ppm": "how much faster the peer's clock is, parts per million",
      "rx_power_dbm": "received power used in computations, dBm",
      "fp_power_dbm": "power of the first path, dBm",
      "diagnostics": "diagnostics of the round: used, missing, ambiguous or none",
      "diagnostics_frames": "number of frames or antennas in them",
    ])

  private static let ranging: [JSONEntry] = [
    measurement, measurement.also("replay"),
    JSONEntry(
      "accessory", each: "event",
      [
        "event":
          "listening, connected, offered, started, measured, stopped, refused, ignored, disconnected",
        "app": "app concerned", "endpoint?": "address of the socket",
        "address?": "address of the accessory", "role?": "controller or controlee",
        "version?": "version of the configuration data", "session_id?": "session id",
        "status?": "status name of the measurement", "distance_cm?": "centimetres",
        "azimuth_deg?": "degrees", "elevation_deg?": "degrees", "cause?": "cause in words",
        "next_step?": "what to do",
      ]),
    JSONEntry(
      "find", each: "event",
      [
        "event":
          "started, shareable_data, accessory_started, found, removed, accessory_stopped, suspended, suspension_ended, invalidated",
        "cause?": "timeout or peer_ended for removed, words for invalidated",
        "distance_m?": "smoothed distance, metres",
        "distance_sd_m?": "its standard deviation, metres",
        "raw_m?": "distance reported by the chip, metres", "azimuth_deg?": "degrees to the right",
        "elevation_deg?": "degrees upwards", "rssi_dbm?": "received power",
        "nlos_probability?": "probability that the direct path is blocked, 0…1",
        "outlier?": "whether the distance of the chip was ignored",
        "quality?": "good, fair or poor",
      ]),
    JSONEntry(
      "replay --as-device", each: "recorded chip",
      [
        "path": "path to open", "requests": "requests with a recorded answer",
        "packets": "packets of the chip",
      ]),
  ]

  private static func multicast(_ action: String) -> JSONEntry {
    JSONEntry(
      "multicast \(action)", each: "running session",
      [
        "pid": "process id of range", "device": "as given to range", "session": "session id",
        "controlees": "addresses of the controlees", "outcomes": "result for each address",
        "outcomes[].address?": "address", "outcomes[].status?": "status name",
        "outcomes[].status_code?": "status number, 0 is OK",
      ])
  }

  // MARK: radio tests

  private static func test(_ name: String, _ keys: [(String, String)]) -> JSONEntry {
    var entry = JSONEntry(
      "test \(name)", each: "test",
      [
        "test": "name of the test", "status": "status name",
        "status_code": "status number, 0 is OK",
      ])
    entry.keys += keys.map { JSONEntry.Key(path: $0.0, meaning: $0.1, isOptional: false) }
    entry.keys += [
      .init(path: "receivers", meaning: "measurements of the receivers", isOptional: false),
      .init(path: "receivers[].rssi_dbm", meaning: "received power, dBm", isOptional: true),
      .init(
        path: "carrier_offset_ppm", meaning: "difference of the carriers, ppm", isOptional: false),
    ]
    return entry
  }

  private static let acquisition: [(String, String)] = [
    ("attempts", "reception attempts"), ("acquisition_detected", "signals detected"),
    ("acquisition_rejected", "signals rejected"), ("rx_failed", "receptions without acquisition"),
    ("sync_cir_ready", "channel responses ready"), ("sfd_failed", "frames without their SFD"),
    ("sfd_found", "frames with their SFD"),
  ]
  private static let error = (
    "packet_error_rate_percent", "damaged or lost frames, %"
  )
  private static let frame: [(String, String)] = [
    ("tx_time_us", "transmission time on the chip's clock, µs"),
    ("rx_time_us", "reception time on the chip's clock, µs"), ("azimuth_deg", "degrees"),
    ("elevation_deg", "degrees"), ("arrival_gap_ns", "main path after the first, ns"),
    ("phr", "PHY header"), ("psdu", "payload, hexadecimal"),
  ]

  private static let tests: [JSONEntry] = [
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

  // MARK: calibration

  private static let value = JSONEntry(
    "calibration get", each: "value",
    [
      "name": "name of the value", "value": "value as text", "unit": "unit of its numbers",
      "hex": "bytes in wire order",
    ])
  private static var change: JSONEntry {
    var entry = value.also("calibration set")
    entry.keys += [
      .init(path: "was", meaning: "former value", isOptional: false),
      .init(path: "was_hex", meaning: "its bytes", isOptional: false),
    ]
    return entry
  }

  private static let calibration: [JSONEntry] = [
    JSONEntry(
      "calibration list", each: "known value",
      [
        "name": "name of the value", "accepts": "accepted values", "unit": "unit of its numbers",
        "summary": "description",
      ]), value, change, change.also("calibration restore"),
  ]

  // MARK: others

  private static let others: [JSONEntry] = [
    JSONEntry(
      "decode", each: "frame", hasMore: true,
      [
        "mt": "message type", "gid": "group", "oid": "opcode", "name": "message name",
        "pbf": "whether more segments follow", "length": "payload bytes",
      ]),
    JSONEntry(
      "explain", each: "code",
      [
        "family": "kind of code", "code": "number", "name": "name",
        "meaning": "explanation", "causes": "likely causes", "to_try": "what to do",
        "vendors": "vendors that use it; empty for all",
      ]),
    JSONEntry(
      "profile check", each: "problem",
      [
        "severity": "prevents ranging, refused or advice", "sentence": "description",
        "parameters": "names of the parameters concerned", "next_step": "what to do",
      ]),
    JSONEntry(
      "diff", each: "difference",
      [
        "effect": "prevents ranging, not known, or does not matter",
        "name": "name of the parameter",
        "first": "value at the first end as text; null: none",
        "second": "value at the other end", "reason": "explanation",
      ]),
  ]
}
