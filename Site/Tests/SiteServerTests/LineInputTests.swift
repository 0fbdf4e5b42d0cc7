// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import SiteServer

@Suite struct LineInputTests {
  private func lines(_ path: String) throws -> (lines: [String], reason: String?) {
    var found: [String] = []
    let reason = try LineInput(path).forEach(isStopped: { false }) {
      found.append(String(decoding: $0, as: UTF8.self))
    }
    return (found, reason)
  }

  @Test("A file has all of its lines, also the last one without an end, and no reason")
  func whole() throws {
    let path = NSTemporaryDirectory() + UUID().uuidString
    try "one\n\ntwo".write(toFile: path, atomically: false, encoding: .utf8)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let (lines, reason) = try lines(path)
    #expect(lines == ["one", "", "two"] && reason == nil)
  }

  @Test("A folder and a missing file are refused before they are read")
  func refused() {
    let folder = #expect(throws: SourceFailure.self) { try LineInput("/tmp") }
    #expect(folder?.description == "/tmp: is a folder; a file belongs here")
    let missing = #expect(throws: SourceFailure.self) { try LineInput("/nowhere/lines") }
    #expect(missing?.description == "/nowhere/lines: there is no such file")
  }

  @Test("A read that fails is not the end of the input: its reason is returned")
  func failed() throws {
    // No memory has the address 0, so that the first read is an error of the system.
    let (lines, reason) = try lines("/proc/self/mem")
    #expect(lines.isEmpty && reason == "the device is gone")
  }

  @Test("A stop ends the input without a reason")
  func stopped() throws {
    let reason = try LineInput("/proc/self/mem").forEach(isStopped: { true }) { _ in
      Issue.record("a line")
    }
    #expect(reason == nil)
  }
}
