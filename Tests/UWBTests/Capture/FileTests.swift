// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import UCI
import UWB
import UWBTestSupport

@Suite(.timeLimit(.minutes(10))) struct FileTests {
  private func withPath(_ body: (String) throws -> Void) rethrows {
    let path = NSTemporaryDirectory() + "/capture-\(UUID().uuidString).pcapng"
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(path)
  }

  /// The file is complete after every packet, without a call that closes it.
  @Test func everyPacketIsThereAtOnce() throws {
    try withPath { path in
      let file = try CaptureFile(path)
      #expect(try CaptureReader.read(file: path).packets.isEmpty)
      for (index, packet) in Samples.all.enumerated() {
        file.record(.inbound, packet.span.bytes, time: UInt64(index))
        let capture = try CaptureReader.read(file: path)
        #expect(capture.packets.map(\.bytes) == Array(Samples.all[...index]))
        #expect(capture.problems.isEmpty)
      }
      #expect(file.failure == nil)
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
      // The time is the time of day, not the time since boot.
      let time = try #require(try CaptureReader.read(file: path).packets.first?.time)
      #expect(time < UInt64(Date().timeIntervalSince1970 * 1e9))
    }
  }

  @Test func threadsMayRecordTogether() async throws {
    let path = NSTemporaryDirectory() + "/capture-\(UUID().uuidString).pcapng"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let file = try CaptureFile(path)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          let packet = Samples.ready
          for time in 0..<200 {
            file.record(.inbound, packet.span.bytes, time: UInt64(time))
          }
        }
      }
    }
    let capture = try CaptureReader.read(file: path)
    #expect(capture.packets.count == 1_600)
    // The times are sorted, as `capinfos` requires for strict time order, although threads may
    // write in another order.
    let times = capture.packets.compactMap(\.time)
    #expect(times == times.sorted())
    #expect(capture.problems.isEmpty)
  }

  @Test func failuresNameTheFile() throws {
    #expect(throws: CaptureError.self) { try CaptureFile("/nowhere/at/all.pcapng") }
    do throws(CaptureError) {
      _ = try CaptureReader.read(file: "/nowhere/at/all.pcapng")
      Issue.record("read")
    } catch {
      #expect(error.description.contains("/nowhere/at/all.pcapng"))
      #expect(error.recoverySuggestion != nil)
    }
    #expect(throws: CaptureError.tooLong(path: "/dev/zero", limit: 1_000_000)) {
      try CaptureReader.contents(ofFile: "/dev/zero", limit: 1_000_000)
    }
    // The disk is full, so the first write fails.
    #expect(throws: CaptureError.self) { try CaptureFile("/dev/full") }
  }

  @Test(arguments: ["", "20000100\n\n", "11:22:33.444 UCI [HAL] => 20000100\n"])
  func aLongLineIsNamed(_ before: String) throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let path = try folder.write(before + String(repeating: "20", count: (1 << 19) + 1), to: "long")
    let line = 1 + before.count { $0 == "\n" }
    #expect(throws: CaptureError.lineTooLong(path: path, line: line, limit: 1 << 20)) {
      try CaptureReader.read(asItComes: path) { _ in
      } line: { _ in
      }
    }
  }
}
