// SPDX-License-Identifier: Apache-2.0

import Ranging
import Testing
import UCI
@testable import UWB
import UWBLink

/// A pipeline that is fed by hand.
struct Rounds {
  var pipeline: EstimationPipeline
  var given: [EstimatedMeasurement] = []

  init(_ settings: EstimationSettings = EstimationSettings()) {
    pipeline = EstimationPipeline(settings)
  }

  /// Measurements of a round, 200 ms after the previous round.
  mutating func info(
    _ sequence: UInt32, _ entries: [TwoWayMeasurement]? = nil, tail: [UInt8] = [],
    isAfterInterruption: Bool = false
  ) {
    let message = SessionInfo(
      sequenceNumber: sequence, sessionToken: 1, intervalMilliseconds: 200,
      twoWay: entries ?? [Self.entry(1)])
    let payload = message.encoded() + tail
    guard let view = try? SessionInfoView(payload.span.bytes) else {
      Issue.record("no notification")
      return
    }
    let info = FrameInfo(receivedAt: 1_000_000_000 + UInt64(sequence) * 200_000_000)
    if isAfterInterruption {
      feed(RoundNotification(.interrupted(.deviceRestarted), info))
    }
    feed(
      RoundNotification(
        .measurements(view), info, gap: isAfterInterruption ? [.round, .measurement] : []))
  }

  static func entry(
    _ peer: UInt16, _ status: Status = .ok, centimetres: UInt16 = 400
  ) -> TwoWayMeasurement {
    TwoWayMeasurement(
      peer: MACAddress(peer), status: status,
      rawDistance: status.isSuccess ? centimetres : 0xFFFF)
  }

  mutating func diagnostics(
    _ sequence: UInt32, _ reports: [RangeDiagnosticsNotification.Report]
  ) {
    let message = RangeDiagnosticsNotification(
      sessionToken: 1, sequenceNumber: sequence, reports: reports)
    feed(RangeDiagnosticsNotification.qorvoOpcode, message.encoded())
  }

  mutating func feed(_ opcode: Opcode, _ payload: [UInt8]) {
    let info = FrameInfo(receivedAt: 0)
    feed(RoundNotification(.diagnostics(opcode, payload.span.bytes), info))
  }

  mutating func flush() {
    pipeline.flush { if case .estimate(let estimate) = $0 { given.append(estimate) } }
  }

  private mutating func feed(_ round: borrowing RoundNotification) {
    pipeline.add(round) { if case .estimate(let estimate) = $0 { given.append(estimate) } }
  }

  /// A received frame with the carrier offset as on the wire.
  static func frame(
    _ message: UInt8 = 1, carrier: Int32 = 0, phase: Int16? = nil, emitter: UInt16? = nil,
    action: UInt8 = 0
  ) -> RangeDiagnosticsNotification.Report {
    func le<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
      (0..<T.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
    var items = [RangeDiagnosticsNotification.Item(type: 4, value: le(carrier))]
    if let phase { items.append(.init(type: 1, value: [0, 0] + le(phase) + [0, 0, 200, 0])) }
    if let emitter { items.append(.init(type: 5, value: le(emitter))) }
    return .init(message: message, action: action, antennaSet: 0, items: items)
  }

  var uses: [DiagnosticsUse] { given.map(\.diagnostics) }
}
