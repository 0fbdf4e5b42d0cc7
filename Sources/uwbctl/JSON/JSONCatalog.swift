// SPDX-License-Identifier: Apache-2.0

/// The keys of every command that prints JSON. A test compares them with what is printed.
enum JSONCatalog {
  static let all: [JSONEntry] =
    devices + looking + ranging + [multicast("list"), multicast("add"), multicast("remove")] + tests
    + calibration + others

  // MARK: devices

  private static let devices: [JSONEntry] = [
    JSONEntry(
      "list", each: "device that is plugged in",
      [
        "path": "of the serial port", "name": "what the device is", "kind": "board, debugger, …",
        "endpoint": "what --device takes", "stable_paths": "paths that stay the same",
        "driver": "of the kernel", "usb_vendor": "4 hexadecimal digits",
        "usb_product": "4 hexadecimal digits", "manufacturer": "as the device says",
        "product": "as the device says", "serial": "serial number", "interface": "USB interface",
        "owner": "of the port", "group": "of the port", "mode": "permissions, octal",
        "may_open": "whether you may open it", "held_by": "programs that have it open",
        "held_by[].pid?": "process id", "held_by[].name?": "name of the program",
        "note": "what to know about it",
      ]),
    JSONEntry(
      "doctor", each: "check",
      [
        "check": "what is checked", "verdict": "ok, warn, fail or skipped",
        "text": "what was found",
        "advice": "what to do",
      ]),
    JSONEntry(
      "info", each: "device",
      [
        "device": "as given to --device", "family": "what kind of chip", "uci": "version of UCI",
        "mac": "version of the MAC", "phy": "version of the PHY", "test": "version of the tests",
        "vendor_info": "the vendor's bytes, hexadecimal", "channels": "UWB channels",
        "capabilities": "what the chip can do", "capabilities[].id": "number",
        "capabilities[].name": "name", "capabilities[].value": "bytes, hexadecimal",
      ]),
    JSONEntry(
      "simulate", each: "chip",
      ["name": "of the chip", "profile": "its kind", "path": "what to open"]),
  ]

  // MARK: looking at a chip

  private static let packet = JSONEntry(
    "monitor", each: "packet", hasMore: true,
    [
      "time_s": "since the beginning, seconds", "direction": "from_chip or to_chip",
      "mt": "kind of message", "gid": "group", "oid": "opcode", "name": "of the message",
      "pbf": "more segments follow", "length": "bytes of payload",
    ])

  private static let looking: [JSONEntry] = [
    packet, packet.also("send"),
    JSONEntry(
      "caps", each: "capability",
      [
        "id": "number", "sub_id?": "second byte of the number", "name": "name",
        "meaning": "in words", "octets": "in the order of the wire, hexadecimal",
        "summary": "what it says",
      ]),
    JSONEntry(
      "config get", each: "parameter",
      [
        "name": "name", "id": "number", "sub_id?": "second byte of the number",
        "value": "as people write it", "octets": "hexadecimal; null where it is a key",
      ]),
    JSONEntry(
      "config set", each: "parameter",
      [
        "name": "name", "set": "whether the chip took it", "status": "by name",
        "status_code": "by number, 0 is OK",
      ]),
    JSONEntry(
      "config list", each: "parameter there can be",
      [
        "name": "name", "kind": "session or device", "id": "number",
        "sub_id?": "second byte of the number", "summary": "what it is",
        "lengths": "bytes it may have", "unit": "of its number", "min": "lowest number",
        "max": "highest number", "default": "while it is not set", "values": "words it takes",
        "values[].value?": "a number", "values[].meaning?": "its word",
        "accepted": "what it takes", "scope": "who has to agree on it",
        "mandatory": "a session needs it", "read_only": "cannot be set",
        "secret": "a key, never shown",
      ]),
    JSONEntry(
      "reset", each: "device",
      [
        "device": "what was opened", "family": "what kind of chip", "uci": "version of UCI",
        "ready_ms": "until the chip was ready again, milliseconds",
      ]),
  ]

  // MARK: ranging

  private static let measurement = JSONEntry(
    "range", each: "measurement",
    [
      "time_s": "since the first measurement, seconds", "session": "what the chip calls it",
      "sequence": "ranging round, from 0", "peer": "address", "status": "by name",
      "status_code": "by number, 0 is OK", "distance_cm": "as the chip reports it, centimetres",
      "estimate_m": "filtered distance, metres",
      "estimate_sd_m": "its standard deviation, metres",
      "velocity_m_s": "away from this device, metres per second", "azimuth_deg": "degrees",
      "azimuth_fom": "figure of merit, 0…100; 0: no azimuth", "elevation_deg": "degrees",
      "elevation_fom": "figure of merit, 0…100; 0: no elevation", "rssi_dbm": "received power, dBm",
      "nlos": "true: no line of sight", "lost_before": "notifications lost just before",
      "after_interruption": "true: the first one since the device was lost and found again",
      "computed_m": "distance of this round, calibrated, metres",
      "computed_sd_m": "its standard deviation, metres",
      "no_computed": "why there is none: not_measured or no_distance",
      "computed_azimuth_deg": "from phases of single frames, degrees to the right",
      "computed_azimuth_sd_deg": "its standard deviation, degrees",
      "no_computed_azimuth":
        "why there is none: not_measured, no_antenna_table, no_phases or phases_disagree",
      "computed_elevation_deg": "from phases of single frames, degrees upwards",
      "computed_elevation_sd_deg": "its standard deviation, degrees",
      "nlos_probability": "that the direct path is blocked, 0…1",
      "cfo_ppm": "by how much the peer's clock is faster, parts per million",
      "rx_power_dbm": "received power as it was computed with, dBm",
      "fp_power_dbm": "power of the first path, dBm",
      "diagnostics": "of the round: used, missing, ambiguous or none",
      "diagnostics_frames": "frames or antennas they are of",
    ])

  private static let ranging: [JSONEntry] = [
    measurement, measurement.also("replay"),
    JSONEntry(
      "accessory", each: "thing that happens",
      [
        "event":
          "listening, connected, offered, started, measured, stopped, refused, ignored, disconnected",
        "app": "who it is about", "endpoint?": "where it listens",
        "address?": "of the accessory, told to the app", "role?": "controller or controlee",
        "version?": "of the configuration data", "session_id?": "session id",
        "status?": "of the measurement, by name", "distance_cm?": "centimetres",
        "azimuth_deg?": "degrees", "elevation_deg?": "degrees", "cause?": "why, in words",
        "next_step?": "what to do",
      ]),
    JSONEntry(
      "find", each: "thing that happens",
      [
        "event":
          "started, shareable_data, accessory_started, found, removed, accessory_stopped, suspended, suspension_ended, invalidated",
        "cause?": "why: timeout or peer_ended for removed, in words for invalidated",
        "distance_m?": "smoothed, metres", "distance_sd_m?": "its standard deviation, metres",
        "raw_m?": "the chip's own distance, metres", "azimuth_deg?": "degrees to the right",
        "elevation_deg?": "degrees upwards", "rssi_dbm?": "received power",
        "nlos_probability?": "that the direct path is blocked, 0…1",
        "outlier?": "the chip's distance was not used", "quality?": "good, fair or poor",
      ]),
    JSONEntry(
      "replay --as-device", each: "recorded chip",
      [
        "path": "what to open", "requests": "requests it has an answer to",
        "packets": "packets of the chip",
      ]),
  ]

  private static func multicast(_ action: String) -> JSONEntry {
    JSONEntry(
      "multicast \(action)", each: "session that is ranging",
      [
        "pid": "process id of range", "device": "as given to range", "session": "session id",
        "controlees": "addresses it ranges with now", "outcomes": "what became of each address",
        "outcomes[].address?": "the address", "outcomes[].status?": "by name",
        "outcomes[].status_code?": "by number, 0 is OK",
      ])
  }

  // MARK: radio tests

  private static func test(_ name: String, _ keys: [(String, String)]) -> JSONEntry {
    var entry = JSONEntry(
      "test \(name)", each: "test",
      ["test": "its name", "status": "by name", "status_code": "by number, 0 is OK"])
    entry.keys += keys.map { JSONEntry.Key(path: $0.0, meaning: $0.1, isOptional: false) }
    entry.keys += [
      .init(path: "receivers", meaning: "what the receivers saw", isOptional: false),
      .init(path: "receivers[].rssi_dbm", meaning: "received power, dBm", isOptional: true),
      .init(
        path: "carrier_offset_ppm", meaning: "difference of the carriers, ppm", isOptional: false),
    ]
    return entry
  }

  private static let acquisition: [(String, String)] = [
    ("attempts", "frames that were listened for"), ("acquisition_detected", "signals detected"),
    ("acquisition_rejected", "signals rejected"), ("rx_failed", "receptions without acquisition"),
    ("sync_cir_ready", "channel responses ready"), ("sfd_failed", "frames without their SFD"),
    ("sfd_found", "frames with their SFD"),
  ]
  private static let error = (
    "packet_error_rate_percent", "frames that did not arrive undamaged, %"
  )
  private static let frame: [(String, String)] = [
    ("tx_time_us", "when it was sent, µs on the chip's clock"),
    ("rx_time_us", "when it was received, µs on the chip's clock"), ("azimuth_deg", "degrees"),
    ("elevation_deg", "degrees"), ("arrival_gap_ns", "main path behind the first, ns"),
    ("phr", "header of the frame"), ("psdu", "payload, hexadecimal"),
  ]

  private static let tests: [JSONEntry] = [
    test(
      "per-rx",
      acquisition + [
        ("phr_decode_errors", "headers not decoded"), ("phr_bit_errors", "headers with wrong bits"),
        ("psdu_decode_errors", "payloads not decoded"),
        ("psdu_bit_errors", "payloads with wrong bits"), ("sts_found", "frames with the right STS"),
        ("end_of_frame", "frames that ended"), error,
      ]),
    test("periodic-tx", []), test("rx", frame), test("loopback", frame),
    test(
      "ss-twr",
      [
        ("ticks", "time measured here, 15.65 ps each"),
        ("other_ticks", "time measured at the other end"), ("distance_m", "metres"),
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
      "name": "of the value", "value": "as people write it", "unit": "of its numbers",
      "hex": "bytes in the order of the wire",
    ])
  private static var change: JSONEntry {
    var entry = value.also("calibration set")
    entry.keys += [
      .init(path: "was", meaning: "the value before", isOptional: false),
      .init(path: "was_hex", meaning: "its bytes", isOptional: false),
    ]
    return entry
  }

  private static let calibration: [JSONEntry] = [
    JSONEntry(
      "calibration list", each: "value there can be",
      [
        "name": "of the value", "accepts": "what it takes", "unit": "of its numbers",
        "summary": "what it is",
      ]), value, change, change.also("calibration restore"),
  ]

  // MARK: others

  private static let others: [JSONEntry] = [
    JSONEntry(
      "decode", each: "frame", hasMore: true,
      [
        "mt": "kind of message", "gid": "group", "oid": "opcode", "name": "of the message",
        "pbf": "more segments follow", "length": "bytes of payload",
      ]),
    JSONEntry(
      "explain", each: "code",
      [
        "family": "what kind of code", "code": "number", "name": "name",
        "meaning": "what it means", "causes": "what it comes from", "to_try": "what to do",
        "vendors": "whose code it is; empty: everybody's",
      ]),
    JSONEntry(
      "profile check", each: "problem",
      [
        "severity": "prevents ranging, refused or advice", "sentence": "what is wrong",
        "parameters": "names of those it is about", "next_step": "what to do",
      ]),
    JSONEntry(
      "diff", each: "difference",
      [
        "effect": "prevents ranging, not known, or does not matter",
        "name": "of the parameter", "first": "at the first end, as people write it; null: none",
        "second": "at the other end", "reason": "why it matters, or does not",
      ]),
  ]
}
