// SPDX-License-Identifier: Apache-2.0
package import UCI

package struct RadioTestResult: Sendable, Hashable {
  package enum Content: Sendable, Hashable {
    case sent
    case reception(RadioReception)
    case frame(TestFrame)
    /// The measured time of single-sided ranging: the round trip at the initiator, or the reply
    /// time at the responder.
    case time(seconds: Double, ticks: UInt32)
    /// There is no value beside the status.
    case nothing
  }

  /// The status of the test.
  package var status: Status
  /// The values that depend on the test.
  package var content: Content
  /// The values of each receiver; empty if the chip reports none.
  package var receivers: [TestReceiver] = []
  /// The difference of the carriers in parts per million; nil if the chip does not report it.
  package var carrierOffsetPPM: Double?

  /// Creates a result from the chip's report.
  package init(status: Status, content: Content) {
    self.status = status
    self.content = content
  }

  /// The duration of one tick in seconds: 1/(128 · 499.2 MHz).
  package static let tick = 1 / (128 * 499.2e6)

  /// Returns the metres between both ends of single-sided ranging from the ticks of both.
  package static func distance(roundTrip: UInt32, reply: UInt32) -> Double {
    299_792_458 * (Double(roundTrip) - Double(reply)) * tick / 2
  }
}

/// Counters of a test that receives many frames.
package struct RadioReception: Sendable, Hashable {
  /// The names and counts in the order of the wire; chips may report only the first ones.
  package var counters: [(name: String, count: UInt32)] { zip(names, counts).map { ($0, $1) } }
  /// The bitmap of frames with correct scrambled timestamps; empty if it was not requested.
  package var bitmap: [UInt8]
  private let names: [String]
  private let counts: [UInt32]
  /// Whether the frames have no payload. A frame is then good if its STS was found.
  private let isSTSOnly: Bool

  init(names: [String], counts: [UInt32], bitmap: [UInt8] = [], isSTSOnly: Bool) {
    self.names = names
    self.counts = counts
    self.bitmap = bitmap
    self.isSTSOnly = isSTSOnly
  }

  /// Returns a counter by its name; nil where the chip does not report it.
  package func count(_ name: String) -> UInt32? { counters.first { $0.name == name }?.count }

  /// The number of undamaged frames: received frames, minus frames whose payload was not decoded or
  /// had wrong bits. The chip counts a frame with both faults twice, so only the larger of both
  /// counts is subtracted. Without a payload, frames with the correct STS count.
  package var good: UInt32? {
    if isSTSOnly { return count("sts_found") }
    guard let ended = count("end_of_frame") else { return nil }
    let faulty = max(count("psdu_decode_errors") ?? 0, count("psdu_bit_errors") ?? 0)
    return ended - min(ended, faulty)
  }

  /// The share of the expected frames that did not arrive undamaged, 0…1; nil if the chip's report
  /// is too short.
  package var packetErrorRate: Double? {
    guard let attempts = count("attempts"), attempts > 0, let good else { return nil }
    return 1 - Double(min(good, attempts)) / Double(attempts)
  }
}

extension RadioTestResult {
  /// Reads a notification; nil if it is not the end of this test.
  init?(_ message: Message, of test: RadioTest, isSTSOnly: Bool) {
    guard message.type == .notification, message.opcode == test.opcode,
      case .payload(let notification) = message.content
    else { return nil }
    func received(
      _ status: Status, _ names: [StaticString], _ counts: [UInt32], _ bitmap: [UInt8] = [],
      isSTSOnly: Bool
    ) -> Self {
      let reception = RadioReception(
        names: names.map(\.description), counts: counts, bitmap: bitmap, isSTSOnly: isSTSOnly)
      return Self(status: status, content: counts.isEmpty ? .nothing : .reception(reception))
    }
    switch notification {
    case let sent as TestPeriodicTXNotification: self.init(status: sent.status, content: .sent)
    case let report as TestPERRXNotification:
      self = received(
        report.status, TestPERRXNotification.counterNames, report.counters, isSTSOnly: isSTSOnly)
    case let report as TestSRRXNotification:
      self = received(
        report.status, TestSRRXNotification.counterNames, report.counters, report.bitmap,
        isSTSOnly: true)
    case let report as TestRXNotification: self.init(report.status, report.frame)
    case let report as TestLoopbackNotification: self.init(report.status, report.frame)
    case let report as TestSSTWRNotification:
      let content = report.ticks.map { Content.time(seconds: Double($0) * Self.tick, ticks: $0) }
      self.init(status: report.status, content: content ?? .nothing)
    default: return nil
    }
  }

  private init(_ status: Status, _ frame: TestFrame?) {
    self.init(status: status, content: frame.map { .frame($0) } ?? .nothing)
  }

  /// Adds the values that Qorvo's firmware reports before the result.
  mutating func adopt(_ debug: QorvoTestDebugNotification?) {
    guard let debug else { return }
    receivers = debug.receivers
    carrierOffsetPPM = debug.carrierOffsetPPM
  }
}
