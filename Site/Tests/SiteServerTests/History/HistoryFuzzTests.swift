// SPDX-License-Identifier: Apache-2.0

import Foundation
import SiteScenarios
import Testing

@Suite("Damaged files of a history")
struct HistoryFuzzTests {
  @Test("a damaged file is read, or refused with its name", arguments: [1, 2] as [UInt64])
  func damaged(seed: UInt64) throws {
    let folder = FileManager.default.temporaryDirectory.path() + "/fuzz-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var fuzz = try HistoryFuzz(folder: folder, seed: seed)
    let result = try fuzz.run(300)
    #expect(result.wrong.isEmpty)
    #expect(result.refused > 100 && result.places > 1000, "\(result)")
  }
}
