// SPDX-License-Identifier: Apache-2.0

import Testing
import UCI
import UCITestSupport

/// Diagnostics read in place equal the decoded values of the same bytes.
@Suite struct DiagnosticsViewTests {
  private struct Item: Equatable {
    var report: Int
    var message, action, type: UInt8
    var bytes: [UInt8]
  }

  private func inPlace(_ payload: [UInt8]) -> [Item]? {
    guard let view = try? RangeDiagnosticsView(payload.span.bytes) else { return nil }
    var list: [Item] = []
    view.forEachItem { head, type, bytes in
      list.append(
        Item(
          report: head.index, message: head.message, action: head.action, type: type,
          bytes: bytes.withUnsafeBytes { Array($0) }))
    }
    return list
  }

  private func asValue(_ payload: [UInt8]) -> [Item]? {
    var reader = PayloadReader(payload.span.bytes)
    guard let value = try? RangeDiagnosticsNotification(from: &reader, dialect: .assumed) else {
      return nil
    }
    return value.reports.enumerated().flatMap { index, report in
      report.items.map {
        Item(
          report: index, message: report.message, action: report.action, type: $0.type,
          bytes: $0.value)
      }
    }
  }

  @Test func rangeDiagnostics() {
    let payload = bytes(
      "01000000 02000000 02 01 00 ff 02 01 0800 0100 0200 2406 c8 01 04 0400 00000100"
        + "05 01 00 01 00 0100 78")
    #expect(inPlace(payload)?.count == 3)
    var random = SystemRandomNumberGenerator()
    for round in 0..<2_000 {
      var changed = payload
      if round > 0 {
        changed[.random(in: 8..<changed.count, using: &random)] = .random(in: 0...9, using: &random)
        changed.removeLast(.random(in: 0...4, using: &random))
      }
      #expect(inPlace(changed) == asValue(changed), "\(changed)")
    }
  }

  @Test func frameLog() throws {
    let entry =
      "83 04 01 4001 8001 19 14 0014 00c0 01000000 02000000 03000000 0008 80f7"
      + String(repeating: "0100ffff", count: 16) + "7c000000 0001"
    for more in ["", "5a"] {
      let size = String(99 + more.count / 2, radix: 16)
      let payload = bytes("01000000 02000000 01 02 \(size) 00" + entry + more + entry + more)
      let value = try NXPRFrameLogNotification(decoding: payload)
      guard let view = NXPFrameLogView(payload.span.bytes) else {
        Issue.record("the log was not read")
        return
      }
      #expect(view.sessionToken == 1 && view.sequenceNumber == 2 && view.count == 2)
      for (index, frame) in value.frames.enumerated() {
        guard let read = view.entry(index) else {
          Issue.record("an entry was not read")
          return
        }
        var withoutTaps = frame
        withoutTaps.taps = []
        #expect(read == withoutTaps && frame.taps.count == 32)
      }
      for length in 0..<payload.count {
        let short = Array(payload[..<length])
        let isThere = NXPFrameLogView(short.span.bytes) != nil
        #expect(!isThere)
      }
    }
  }
}
