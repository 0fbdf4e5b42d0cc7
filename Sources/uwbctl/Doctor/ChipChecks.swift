// SPDX-License-Identifier: Apache-2.0

import UWBLab
import UCI
import UCIReference
import UWB
import UWBLink

/// The checks with the driver: reset, identity, a session.
struct ChipChecks {
  let endpoint: LinkEndpoint
  let options: UWBDevice.Options

  func run(_ report: (Finding) -> Void) async throws {
    let clock = ContinuousClock()
    let start = clock.now
    let device: UWBDevice
    do {
      device = try await UWBDevice.open(endpoint, options: options)
    } catch {
      try Task.checkCancellation()
      report(
        .fail(
          .reset, ExitStatus(error), error.description,
          error.recoverySuggestion ?? "Reset the board or unplug it, then try again."))
      return
    }
    report(.ok(.reset, "answered after \(Self.milliseconds(clock.now - start))"))
    do {
      report(try await roundTrip(device))
      report(firmware(device))
      report(capabilities(device))
      report(try await SelfTest(device: device).run())
    } catch let error as DriverError {
      report(
        .fail(
          .roundTrip, ExitStatus(error), error.description,
          error.recoverySuggestion ?? "Reset the board or unplug it, then try again."))
    } catch {
      await device.close()
      throw error
    }
    report(line(device.statistics))
    await device.close()
  }

  // MARK: time

  private static let trips = 21
  /// A packet of 66 bytes takes 6 ms at 115200 baud, and an FTDI bridge with default settings delays
  /// it by 16 ms.
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
      "Set the latency timer of an FTDI bridge to 1 ms; avoid USB hubs; use a higher baud rate if the "
        + "firmware allows it.")
  }

  static func milliseconds(_ duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    return fixed(Double(seconds) * 1_000 + Double(attoseconds) / 1e15, 1) + " ms"
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
    case nil: why = "its vendor information (\(info.vendorInfo.count) bytes) has no known format"
    }
    if options.profile != nil {
      return .ok(.firmware, text + "; treated as \(device.profile.name) because of --chip")
    }
    text += "; treated as \(device.profile.name): \(why)"
    guard device.profile.vendor == .unknown else { return .ok(.firmware, text) }
    return .warn(
      .firmware, text,
      "If it is a Qorvo or NXP chip, say so with --chip; otherwise vendor messages are not decoded."
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
    if let sessions = capabilities.maxSessions { parts.append("\(sessions) sessions") }
    return .ok(.capabilities, parts.joined(separator: ", "))
  }

  // MARK: the line

  private func line(_ statistics: LinkStatistics) -> Finding {
    let text =
      "\(statistics.framesRead) packets read, \(statistics.bytesSkipped) bytes skipped, "
      + "\(statistics.resynchronisations) resynchronisations"
    // The line may begin in the middle of a packet.
    guard statistics.resynchronisations > 1 else { return .ok(.line, text) }
    return .warn(
      .line, text + ": bytes are lost.",
      "Use a shorter cable or another USB port. The port of a J-Link loses bytes: use the board's own."
    )
  }
}
