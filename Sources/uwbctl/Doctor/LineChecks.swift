// SPDX-License-Identifier: Apache-2.0

import UCI
import UWB
import UWBLink

/// The checks on an open line before the chip is reset: unsolicited traffic, and what an earlier
/// program left on the chip.
struct LineChecks {
  let endpoint: LinkEndpoint
  let tap: UWBDevice.PacketTap?

  /// The silence that ends a backlog, and the longest backlog: Qorvo's firmware keeps 32 kB and sends
  /// them within 3 seconds.
  private static let silence = Duration.milliseconds(150)
  private static let backlog = Duration.seconds(4)
  /// How long the chip may take to answer before it is reset. Chips that need a vendor command first
  /// do not answer at all.
  private static let answer = Duration.milliseconds(700)

  /// - Returns: whether the device could be opened.
  nonisolated(nonsending) func run(_ report: (Finding) -> Void) async throws -> Bool {
    let link: PacketLink
    do {
      link = try await PacketLink(endpoint, record: tap)
    } catch {
      report(
        .fail(
          .open, ExitStatus(error), error.description,
          error.recoverySuggestion ?? "Look at the kernel log: sudo dmesg | tail"))
      return false
    }
    return try await link.use { try await run(over: link, report) }
  }

  private nonisolated(nonsending) func run(
    over link: PacketLink, _ report: (Finding) -> Void
  ) async throws -> Bool {
    report(.ok(.open, endpoint.isStream ? "raw, 8N1, exclusive" : "whole packets, exclusive"))
    report(lines(link.modemLines))
    var sessions: Finding?
    do {
      let traffic = try await listen(link)
      report(stale(traffic))
      sessions = try await leftovers(link)
    } catch let error as LinkError {
      report(
        .fail(
          .stale, ExitStatus(error), error.description,
          error.recoverySuggestion ?? "Plug it in again and retry."))
      return false
    }
    // The question may have been answered with garbage.
    let statistics = link.statistics
    await link.closeAndWait()
    report(await framing(statistics))
    if let sessions { report(sessions) }
    return true
  }

  private func lines(_ lines: ModemLines?) -> Finding {
    guard let lines else {
      return .skipped(.dtr, "this kind of device has no control lines")
    }
    guard lines.contains(.dtr) else {
      return .fail(
        .dtr, .system, "The driver does not raise DTR; USB firmware does not send without it.",
        "Replug the board; if that does not help, the cable or the bridge does not carry DTR.")
    }
    if case .serial(_, _, true) = endpoint, !lines.contains(.cts) {
      return .warn(
        .dtr, "raised, but CTS is not: nothing can be sent with rtscts.",
        "Omit rtscts, or check the wiring of CTS.")
    }
    return .ok(.dtr, "raised")
  }

  // MARK: stale traffic

  struct Traffic {
    var names: [String: Int] = [:]
    var packets = 0
    /// It did not end while it was listened to.
    var isEndless = false
  }

  private func listen(_ link: PacketLink) async throws -> Traffic {
    var traffic = Traffic()
    var decoder = FrameDecoder()
    let end = PacketLink.now() + UInt64(Self.backlog / .nanoseconds(1))
    var last: UInt64 = 0
    while true {
      let before = traffic.packets
      try await link.receive(for: Self.silence) { packet in
        traffic.packets += 1
        last = packet.time
        if let name = try? decoder.decode(packet.bytes).name {
          traffic.names[name, default: 0] += 1
        }
        return false
      }
      if traffic.packets == before { return traffic }
      if last > end {
        traffic.isEndless = true
        return traffic
      }
    }
  }

  private func stale(_ traffic: Traffic) -> Finding {
    // Chips send their device state when they are opened.
    let others = traffic.names.filter { $0.key != "CORE_DEVICE_STATUS_NTF" }
    guard !others.isEmpty else { return .ok(.stale, "none") }
    let list = others.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(3)
      .map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    return .warn(
      .stale,
      "\(traffic.packets) unsolicited packets (\(list)): "
        + (traffic.isEndless
          ? "a session of an earlier program is still ranging."
          : "left over from an earlier program."),
      "Nothing: the reset ends it. Programs should end their sessions before closing the device."
    )
  }

  // MARK: framing

  private func framing(_ statistics: LinkStatistics?) async -> Finding {
    guard let statistics, statistics.bytesSkipped > 0 else {
      return .ok(.framing, "every byte belongs to a packet")
    }
    let skipped = statistics.bytesSkipped
    // A packet that the end of the last program cut off is normal, only garbage is not.
    if statistics.framesRead > 0, skipped < 259 {
      return .warn(
        .framing, "\(skipped) bytes before the first packet are not UCI.",
        "Nothing: usually the rest of a packet that the last program did not read.")
    }
    let sample = await RawSample.take(endpoint)?.words
    return .fail(
      .framing, .protocolError,
      "\(skipped) bytes that are not UCI, \(statistics.framesRead) packets"
        + (sample.map { "; \($0)" } ?? ""),
      Self.wrongSpeaker)
  }

  static let wrongSpeaker =
    "The device does not send UCI: it may have other firmware (a command-line or AT build prints "
    + "text), another baud rate (add ?baud= to the path), or this is the wrong port."

  // MARK: sessions

  private func leftovers(_ link: PacketLink) async throws -> Finding {
    let command = Segmentation.packets(GetSessionCount())
    guard let payload = try await link.ask(command, timeout: Self.answer) else {
      return .skipped(.sessions, "the chip does not answer before its reset")
    }
    var reader = PayloadReader(payload.span.bytes)
    guard
      let response = try? SessionCountResponse(from: &reader, dialect: .assumed),
      response.status == .ok, let count = response.count
    else { return .skipped(.sessions, "the chip does not tell") }
    guard count > 0 else { return .ok(.sessions, "none") }
    return .warn(
      .sessions, "\(count) left on the chip by an earlier program.",
      "Nothing: the reset removes them. They count against the chip's limit until then.")
  }
}
