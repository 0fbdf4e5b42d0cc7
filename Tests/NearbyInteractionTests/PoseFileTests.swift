// SPDX-License-Identifier: Apache-2.0
import Foundation
import SIMDMath
import Testing

@testable import NearbyInteraction

/// Recorded files as sources of poses.
@Suite struct PoseFileTests {
  private func track(_ text: String, beginning: UInt64? = nil) throws -> PoseTrack {
    let url = URL(fileURLWithPath: "\(NSTemporaryDirectory())/poses-\(UUID().uuidString).txt")
    try Data(text.utf8).write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    return try PoseTrack(contentsOf: url, beginning: beginning)
  }

  /// In the file, x is ahead, y is to the left and z is up. In this library, these are -z, -x and
  /// y.
  @Test func trajectoriesAreRead() throws {
    let text = """
      # timestamp tx ty tz qx qy qz qw
      1305031102.5 0 0 1.2 0 0 0 1

      1305031103.5 2 1 1.2 0 0 0.70710678 0.70710678  # turned to the left
      """
    let replayed = try track(text, beginning: 7_000_000_000)
    let middle = try #require(replayed.pose(at: 7_500_000_000)).transform
    #expect(simd_distance(middle.columns.3, simd_float4(-0.5, 1.2, -1, 1)) < 1e-5)
    let end = try #require(replayed.pose(at: 8_000_000_000)).transform
    #expect(simd_distance(end * simd_float4(0, 0, -1, 0), simd_float4(-1, 0, 0, 0)) < 1e-5)
    #expect(replayed.pose(at: 6_900_000_000) == nil)
    // The times in this file are times of the clock itself.
    let live = try track("12.25 1 0 0 0 0 0 1\r\n12.5 1 0 0 0 0 0 1\r\n")
    #expect(live.pose(at: 12_300_000_000) != nil && live.pose(at: 12_000_000_000) == nil)
  }

  @Test(arguments: [
    ("", "no pose"), ("# nothing\n", "no pose"), ("1 2 3", "Line 1"),
    ("1 0 0 0 0 0 0 1\n2 0 0 0 0 0 0 nan", "Line 2"), ("1 0 0 0 0 0 0 0", "rotation in line 1"),
    ("2 0 0 0 0 0 0 1\n1 0 0 0 0 0 0 1", "line 2"), ("-1 0 0 0 0 0 0 1", "line 1"),
    ("1e300 0 0 0 0 0 0 1", "line 1"),
  ])
  func invalidTrajectoriesNameTheLine(text: String, words: String) throws {
    let error = try #require(throws: NIError.self) { try track(text) }
    #expect(error.code == .invalidARConfiguration)
    #expect(error.description.lowercased().contains(words.lowercased()), "\(error)")
  }

  @Test func missingFilesAreNamed() throws {
    let error = try #require(throws: NIError.self) {
      try PoseTrack(contentsOf: URL(fileURLWithPath: "/nowhere/poses.txt"))
    }
    #expect(error.description.contains("/nowhere/poses.txt"))
  }
}
