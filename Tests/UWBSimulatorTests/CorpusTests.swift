// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import UCI

@testable import UWBSimulator

/// Published logs of SR250 boards, as far as they are complete: the same commands have to return
/// the same packets, in the same order between responses.
@Suite struct CorpusTests {
  private struct Dialogue: Decodable {
    struct Frame: Decodable {
      var dir: String
      var hex: String
    }
    var source: String
    var device: String
    var n: Int
    var complete: Int
    var frames: [Frame]
  }

  private static let folder: String = {
    if let folder = ProcessInfo.processInfo.environment["UWB_CORPUS"] { return folder }
    var root = URL(filePath: #filePath)
    for _ in 0..<3 { root.deleteLastPathComponent() }
    return root.appending(path: "../shared/corpus").path
  }()

  private static let isThere = FileManager.default.fileExists(
    atPath: folder + "/uci-dialogues.jsonl")

  @Test(
    "dialogues with SR250 boards",
    .enabled(if: isThere, "no corpus: set UWB_CORPUS to the folder with uci-dialogues.jsonl"))
  func dialogues() throws {
    let text = try String(contentsOfFile: Self.folder + "/uci-dialogues.jsonl", encoding: .utf8)
    var played = 0
    for line in text.split(separator: "\n") {
      let dialogue = try JSONDecoder().decode(Dialogue.self, from: Data(line.utf8))
      guard dialogue.device.contains("SR250"), dialogue.complete == dialogue.n,
        dialogue.frames.first?.hex == "6001000101"
      else { continue }
      play(dialogue)
      played += 1
    }
    #expect(played >= 3)
  }

  private func play(_ dialogue: Dialogue) {
    var frames = dialogue.frames
    // Calibration values differ between boards, so the comparison ends before them.
    if let end = frames.firstIndex(where: { $0.hex.hasPrefix("2f2100") }),
      !frames.contains(where: { $0.hex.hasPrefix("2100") })
    {
      frames.removeSubrange(end...)
    }
    // Firmwares describe their boards differently, so the chip gets the log's descriptions.
    var profile = ChipProfile.sr250
    for frame in frames {
      if frame.hex.hasPrefix("4002") { profile.deviceInfo = Array(bytes(frame.hex)[4...]) }
      if frame.hex.hasPrefix("4003") { profile.capabilities = Array(bytes(frame.hex)[4...]) }
    }
    var stage = Stage()
    let id = stage.simulation.add(profile, placement: .init(at: SIMD3(0, 0, 0)))
    stage.simulation.powerUp(id)
    var expected: [String] = []
    func compare() {
      // The chip ranges until it has sent as many packets as the log has.
      var heard = stage.heard(from: id)
      for _ in 0..<20 where heard.count < expected.count {
        stage.pass(milliseconds: 120)
        heard += stage.heard(from: id)
      }
      #expect(heard == expected, "\(dialogue.source)")
      expected = []
    }
    for (place, frame) in frames.enumerated() {
      guard frame.dir == "h2c" else {
        expected.append(frame.hex)
        continue
      }
      compare()
      let next = place + 1 < frames.count ? frames[place + 1] : nil
      // The log repeats a command that has no answer: the first one was lost on its way to a
      // sleeping chip.
      if next?.hex == frame.hex { continue }
      // A request to repeat a command outside of the boot means that the chip had been idle and
      // slept.
      if next?.hex == "600700010a", frame.hex.hasPrefix("2f") { stage.pass(milliseconds: 600) }
      stage.send(frame.hex, to: id)
    }
    compare()
  }
}
