// SPDX-License-Identifier: Apache-2.0

import UCI

/// The form of a chip's receiver diagnostics of single frames.
package enum DiagnosticsForm: Hashable, Sendable {
  /// No diagnostics.
  case none
  /// RANGE_DIAGNOSTICS of Qorvo's group, with ENABLE_DIAGNOSTICS and its fields.
  case qorvo
  /// NXP's data after measurements and its RFRAME log, with their vendor parameters.
  case nxp
}

// Layout and switches from DW3_QM33_SDK 1.1.0 (uci_spec_fira.h, fira_region_params.h). With fields
// 0x28, the notification of a round of six messages, two of them received, has 117 bytes, as with
// the SDK.
extension SimulatedChip {
  /// Bits of DIAGNOSTICS_FRAME_REPORTS_FIELDS.
  private enum Fields {
    static let angle: UInt64 = 0x02
    static let carrier: UInt64 = 0x08
    static let emitter: UInt64 = 0x10
    static let segments: UInt64 = 0x20
    static let impulseResponse: UInt64 = 0x40
  }

  /// Sends the diagnostics that the host has enabled.
  mutating func reportDiagnostics(_ index: Int, sequence: UInt32, _ seen: [Observation]) {
    guard !seen.isEmpty else { return }
    switch profile.diagnostics {
    case .none: return
    case .qorvo: reportRangeDiagnostics(index, sequence, seen)
    case .nxp: reportFrameLog(index, sequence, seen)
    }
  }

  private mutating func reportRangeDiagnostics(
    _ index: Int, _ sequence: UInt32, _ seen: [Observation]
  ) {
    let session = sessions[index]
    guard session.parameters[0xE8]?.first == 1 else { return }
    let fields = (session.parameters[0xE9] ?? []).number
    let reports = seen.map { observation in
      RangeDiagnosticsNotification.Report(
        message: observation.message.rawValue, action: observation.reception == nil ? 1 : 0,
        antennaSet: 0, items: items(observation, fields))
    }
    let diagnostics = RangeDiagnosticsNotification(
      sessionToken: session.token, sequenceNumber: sequence, reports: reports)
    notify(RangeDiagnosticsNotification.qorvoOpcode, diagnostics.encoded(dialect: profile.dialect))
  }

  private func items(
    _ observation: Observation, _ fields: UInt64
  ) -> [RangeDiagnosticsNotification.Item] {
    typealias Item = RangeDiagnosticsNotification.Item
    // Bit 0: sent, or received, successfully.
    var items = [Item(type: 3, value: [1, 0])]
    guard let reception = observation.reception else { return items }
    let seesAngles = !profile.angles.isEmpty
    if fields & Fields.angle != 0, seesAngles {
      items.append(Item(type: 1, value: angleItem(reception)))
    }
    if fields & Fields.carrier != 0 {
      let raw = Int32(nearest: reception.carrier * Double(1 << 26))
      items.append(Item(type: 4, value: raw.bytes))
    }
    if fields & Fields.emitter != 0 {
      items.append(
        Item(type: 5, value: UInt16(truncatingIfNeeded: observation.emitter.value).bytes))
    }
    let receivers: [UInt8] = seesAngles ? [0, 1] : [0]
    if fields & Fields.segments != 0 {
      items.append(Item(type: 6, value: receivers.flatMap { segment(reception, receiver: $0) }))
    }
    if fields & Fields.impulseResponse != 0 {
      items.append(Item(type: 7, value: receivers.flatMap { window(reception, receiver: $0) }))
    }
    return items
  }

  /// Returns the identifier of STS segment 0 at a receiver; the first receiver is the primary one.
  private func segmentID(_ receiver: UInt8) -> UInt8 { 1 | (receiver == 0 ? 8 : 0) | receiver << 4 }

  private func angleItem(_ reception: Reception) -> [UInt8] {
    func fixed(_ radians: Double) -> [UInt8] { Int16(nearest: radians * 2048).bytes }
    let degrees = reception.phases.direction(profile.angles).azimuth
    return fixed(0) + fixed(reception.phases.right) + fixed(degrees * .pi / 180) + [230, 0]
  }

  private func segment(_ reception: Reception, receiver: UInt8) -> [UInt8] {
    func level(_ dBm: Double) -> [UInt8] { UInt16(max(0, min(65_535, -dBm * 256))).bytes }
    func path(_ index: Double, _ dBm: Double) -> [UInt8] {
      UInt16(nearest: index.rounded(.down)).bytes + level(dBm) + UInt16(nearest: index * 64).bytes
    }
    let channel = reception.channel
    let gap = (channel.peak.delay - channel.firstPath.delay) / 1.0016
    let peak = channel.peak.level + reception.level - channel.level
    return [segmentID(receiver)] + Int16(nearest: channel.noise * 256).bytes
      + level(reception.level)
      + path(737, reception.firstPathLevel) + path(737 + gap, peak)
  }

  /// Returns complex samples of twice 16 bits around the first path.
  private func window(_ reception: Reception, receiver: UInt8) -> [UInt8] {
    func setting(_ name: String, _ standard: Int) -> Int {
      (calibration.keys?["rx_diag_config.\(name)"] ?? []).first.map(Int.init) ?? standard
    }
    let count = max(1, min(64, setting("cir_n_taps", 16)))
    let first = min(count - 1, setting("cir_fp_tap_offset", 8))
    let samples = reception.channel.response(
      samples: count, firstPathAt: first, phase: receiver == 0 ? 0 : reception.phases.right)
    return [segmentID(receiver), UInt8(first), UInt8(count), 4]
      + samples.flatMap { $0.real.sample + $0.imaginary.sample }
  }
}

extension Double {
  var sample: [UInt8] { Int16(max(-32_767, min(32_767, (self * 16).rounded()))).bytes }
}

extension Collection<UInt8> {
  /// The number in little-endian bytes.
  var number: UInt64 { UInt64(littleEndianBytes: self) }
}

extension FixedWidthInteger {
  /// The number in little-endian bytes.
  var bytes: [UInt8] { littleEndianBytes }
}
