// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Formats
package import Ranging
package import UCI
import UCIReference
import UWB
import UWBLink

// The checks with the driver: reset, identity, a session.
extension Checkup {
  private static let advice = "Reset the board or unplug it, then try again."

  func checkChip(_ report: (Finding) -> Void) async throws {
    let clock = ContinuousClock()
    let start = clock.now
    let device: UWBDevice
    do {
      device = try await UWBDevice.open(endpoint, options: options)
    } catch {
      try Task.checkCancellation()
      return report(.fail(.reset, error, else: Self.advice))
    }
    report(.ok(.reset, "answered after \(Self.milliseconds(clock.now - start))"))
    try await lending {
      do {
        report(try await roundTrip(device))
        report(firmware(device))
        report(capabilities(device))
        report(try await selfTest(device))
        report(Self.calibration(of: device.family))
      } catch let error as DriverError {
        try Task.checkCancellation()
        report(.fail(.roundTrip, error, else: Self.advice))
      }
      report(line(device.statistics))
    } end: {
      await device.close()
    }
  }

  // MARK: time

  private static let trips = 21
  /// The response time from which the link counts as slow. A packet of 66 bytes takes 6 ms at
  /// 115200 baud, and an FTDI bridge with default settings adds 16 ms.
  private static let slow = Duration.milliseconds(30)

  private func roundTrip(_ device: UWBDevice) async throws -> Finding {
    var times: [Duration] = []
    let clock = ContinuousClock()
    for _ in 0..<Self.trips {
      try Task.checkCancellation()
      let start = clock.now
      _ = try await device.send(GetDeviceInfo())
      times.append(clock.now - start)
    }
    times.sort()
    let median = times[times.count / 2]
    let text =
      "median of \(times.count): \(Self.milliseconds(median)), "
      + "maximum \(Self.milliseconds(times[times.count - 1]))"
    guard median > Self.slow else { return .ok(.roundTrip, text) }
    return .warn(
      .roundTrip, text + ": slow.",
      device.endpoint.description.hasPrefix("tcp:")
        ? "Look for delays in the network and in the program at the other end."
        : "Set the latency timer of an FTDI bridge to 1 ms; avoid USB hubs; use a higher baud rate "
          + "if the firmware allows it.")
  }

  package static func milliseconds(_ duration: Duration) -> String {
    fixed(duration / .milliseconds(1), 1) + " ms"
  }

  // MARK: identity

  private func firmware(_ device: UWBDevice) -> Finding {
    let info = device.info
    var text = "UCI \(info.uciVersion), MAC \(info.macVersion), PHY \(info.phyVersion)"
    let why: String
    switch info.vendorDetails {
    case .qorvo(let details):
      text += ", firmware \(details.firmware), chip 0x\(String(details.deviceID, radix: 16))"
      why = "its vendor information has Qorvo's format"
    case .nxp(let details):
      text += ", firmware \(details.firmware ?? "?"), chip \(details.deviceName)"
      why = "its vendor information begins with the name of an NXP chip"
    case nil:
      why = "its vendor information (\(counted(info.vendorInfo.count, "byte"))) has no known format"
    }
    if options.profile != nil {
      return .ok(.firmware, text + "; treated as \(device.profile.name) because of --chip")
    }
    text += "; treated as \(device.profile.name): \(why)"
    guard device.profile.vendor == .unknown else { return .ok(.firmware, text) }
    return .warn(
      .firmware, text,
      "If it is a Qorvo or NXP chip, give --chip; otherwise vendor messages are not decoded."
    )
  }

  private func capabilities(_ device: UWBDevice) -> Finding {
    let capabilities = Capabilities(device.capabilities)
    guard !device.capabilities.isEmpty else {
      return .warn(
        .capabilities, "The chip does not report any.",
        "This does not affect two-way ranging; newer firmware may report them.")
    }
    var parts = [
      "\(device.capabilities.count) in the numbering of \(capabilities.numbering == .fira1 ? "FiRa 1" : "FiRa 2")"
    ]
    if let channels = capabilities.channels {
      parts.append("channels " + channels.map(String.init).joined(separator: " and "))
    }
    if let angles = capabilities.angles {
      parts.append(angles.isEmpty ? "no angles" : "angles")
    }
    if let sessions = capabilities.maxSessions { parts.append(counted(sessions, "session")) }
    let text = parts.joined(separator: ", ")
    let warnings = Self.selfTestSession(on: device)
      .problems(for: device.dialect, capabilities: capabilities).warnings
    guard !warnings.isEmpty else { return .ok(.capabilities, text) }
    return .warn(
      .capabilities, ([text + "."] + warnings.map(\.sentence)).joined(separator: " "),
      "Nothing if the self-test succeeds: chips may report too little, and the driver ignores this. "
        + "range --strict does not.")
  }

  // MARK: distances

  /// States the error of the distances. A chip does not report whether its delays are calibrated.
  package static func calibration(of chip: ChipFamily) -> Finding {
    let deviation = fixed(chip.uncalibratedDeviation(to: .unknown), 2)
    let reduced = fixed(RangingCalibration.biasDeviation(positions: 3), 2)
    return .ok(
      .calibration,
      "unless it is calibrated, ± \(deviation) m of each distance repeats; uwblab calibrate delay "
        + "reduces it to \(reduced) m with a second board")
  }

  // MARK: the line

  private func line(_ statistics: LinkStatistics) -> Finding {
    let text =
      counted(statistics.framesRead, "packet") + " read, "
      + counted(statistics.bytesSkipped, "byte") + " skipped, "
      + counted(statistics.resynchronisations, "resynchronisation")
    // The first resynchronisation is normal: reading may begin in the middle of a packet.
    guard statistics.resynchronisations > 1 else { return .ok(.line, text) }
    return .warn(
      .line, text + ": bytes are lost.",
      "Use a shorter cable or another USB port. The port of a J-Link loses bytes: use the board's own."
    )
  }

  // MARK: self-test

  /// "UWB?" in ASCII: unlikely to be in use.
  private static let sessionID: UInt32 = 0x5557_423F
  private static let rounds = 3
  private static let patience = Duration.seconds(4)

  private static func selfTestSession(on device: UWBDevice) -> SessionConfiguration {
    var configuration = SessionConfiguration(
      role: .controller, sessionID: sessionID, address: MACAddress(0x0001),
      peers: [MACAddress(0x0002)])
    configuration.interval = 100
    let channels = Capabilities(device.capabilities).channels ?? [9]
    configuration.channel = channels.contains(9) || channels.isEmpty ? 9 : UInt8(channels[0])
    return configuration
  }

  /// Runs a complete session. A peer is not needed: a round without an answer also shows that the
  /// radio transmits and receives.
  private func selfTest(_ device: UWBDevice) async throws -> Finding {
    let configuration = Self.selfTestSession(on: device)
    do {
      let (results, rounds) = try await device.withSession(configuration) { try await measure($0) }
      return Self.judge(results, rounds: rounds, channel: configuration.channel)
    } catch let error as DriverError {
      return .fail(
        .selfTest, error,
        else: "Reset the board and try again; if that does not help, its firmware rejects FiRa's "
          + "defaults: compare with the vendor's tool (uwbctl monitor --proxy).")
    }
  }

  /// Ranges for a few rounds.
  ///
  /// - Returns: The measurements, and the number of reported rounds.
  private func measure(
    _ session: UWBSession
  ) async throws -> (results: [TwoWayMeasurement], rounds: Int) {
    let stream = session.rounds()
    try await session.start()
    let timer = Task {
      try await Task.sleep(for: Self.patience)
      // The stream ends when the session leaves ACTIVE.
      try await session.stop()
    }
    defer { timer.cancel() }
    var results: [TwoWayMeasurement] = []
    var rounds = 0
    for try await event in stream {
      switch event {
      case .measurement(let measurement): results.append(measurement.result)
      case .empty: break
      default: continue
      }
      rounds += 1
      if rounds == Self.rounds { break }
    }
    return (results, rounds)
  }

  /// Judges the rounds of the self-test.
  ///
  /// - Parameter rounds: The number of reported rounds, with or without a measurement.
  package static func judge(_ results: [TwoWayMeasurement], rounds: Int, channel: UInt8) -> Finding
  {
    let text = "session created, configured, started and removed on channel \(channel); "
    guard rounds > 0 else {
      return .warn(
        .selfTest, text + "no round was reported within \(Self.patience.components.seconds) s.",
        "Most chips report rounds without an answer; this one may not. Range with a second board to find "
          + "out."
      )
    }
    if let answered = results.first(where: { $0.status.isSuccess }) {
      let distance = answered.distanceCentimetres.map { ", \($0) cm away" } ?? ""
      return .ok(.selfTest, text + "another board answered\(distance)")
    }
    if let failed = results.first(where: { $0.status == .rangingTxFailed }) {
      return .fail(
        .selfTest, .deviceFailure, text + "the radio does not transmit: \(failed.status) (0x20).",
        "Erase the whole flash, which may contain old configuration pages, and install the firmware "
          + "again; or load the calibration of the board.")
    }
    guard !results.isEmpty else {
      return .ok(
        .selfTest,
        text + "no answer, as expected without a second board: "
          + counted(rounds, "round") + " without an entry")
    }
    let statuses = Set(results.map { "\($0.status) (0x\(String($0.status.rawValue, radix: 16)))" })
    return .ok(
      .selfTest,
      text + "no answer, as expected without a second board: "
        + statuses.sorted().joined(separator: ", "))
  }
}
