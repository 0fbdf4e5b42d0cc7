// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Foundation
import ProgramTestSupport
import Testing
import UWBTestSupport

/// Anchors and tags in processes of their own, with `uwbctl simulate` in place of boards.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct OneWayTests {
  @Test("Anchors and a tag in four processes; a service and a capture between them")
  func downlink() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let boards = try ChildProcess(
      ["simulate", "--profile", "fira2", "--chips", "4", "--link", folder.path("board")])
    defer { boards.end() }
    _ = try boards.read(until: "D\t")
    func range(_ board: String, _ options: [String]) throws -> ChildProcess {
      try ChildProcess(["range", "--device", folder.path("board-\(board)")] + options)
    }
    let responders = try ["b", "c"].enumerated().map { index, board in
      try range(
        board,
        [
          "--role", "dl-tdoa-anchor", "--address", "000\(index + 1)", "--location",
          "1,\(index),2.5",
        ])
    }
    let initiator = try range(
      "a", ["--role", "dl-tdoa-anchor", "--responders", "2", "--location", "0,0,2.5"])
    defer { for anchor in responders + [initiator] { anchor.end() } }

    // The service forwards the rounds of the tag and its messages.
    let socket = folder.path("control")
    let service = try ChildProcess(
      ["--socket", socket, folder.path("board-d")], program: ChildProcess.uwbd)
    defer { service.end() }
    let device = "uwbd:\(socket)?chip=\(folder.path("board-d"))"
    while try ChildProcess.run(["info", "--device", device]).status != 0 {
      guard service.process.isRunning else { throw ChildProcess.Failure(what: service.errors()) }
    }
    let file = folder.path("tag.pcapng")
    let tag = try ChildProcess.run([
      "range", "--device", device, "--role", "dl-tdoa-tag", "-n", "8", "--format", "json",
      "--capture", file,
    ])
    #expect(tag.status == 0, "\(tag.complaints)")
    let messages = try tag.objects()
    let peers = Set(messages.compactMap { $0["peer"] as? String })
    #expect(peers.isSubset(of: ["0x0000", "0x0001", "0x0002"]) && peers.contains("0x0000"))
    #expect(messages.allSatisfy { $0["anchor_z_mm"] as? Int == 2_500 })
    let again = try ChildProcess.run(
      ["replay", file, "--speed", "max", "--format", "json", "-n", "8"])
    #expect(try again.objects().count == messages.count, "\(again.complaints)")
  }

  @Test("A chip without the role, and options that do not go with it, are errors with a next step")
  func errors() throws {
    let refused = try ChildProcess.run(["range", "--role", "dl-tdoa-tag", "--sim-chip", "qm33"])
    #expect(refused.status != 0)
    #expect(
      refused.complaints.contains(
        "This chip refuses the role DT-tag; it lists responder, initiator"))
    for arguments in [
      ["--role", "dl-tdoa-tag", "--calibration", "x.json"], ["--role", "ul-tdoa-tag", "-n", "1"],
      ["--role", "dl-tdoa-anchor", "--location", "1,2"],
      ["--role", "ul-tdoa-tag", "--peer", "0001"],
      ["--role", "ul-tdoa-tag", "--device-id", "012345"],
    ] {
      let outcome = try ChildProcess.run(["range"] + arguments)
      #expect(outcome.status != 0 && outcome.output.isEmpty, "\(arguments)")
    }
  }

  @Test("Profiles of anchors and tags are printed, checked and used")
  func profiles() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    for role in [
      "dl-tdoa-anchor", "dl-tdoa-tag", "ul-tdoa-anchor", "ul-tdoa-sync", "ul-tdoa-tag",
      "aoa-advertiser", "aoa-observer",
    ] {
      let printed = try ChildProcess.run(["profile", "--role", role])
      #expect(printed.status == 0, "\(printed.complaints)")
      let path = try folder.write(printed.output, to: "\(role).json")
      let checked = try ChildProcess.run(["profile", "check", path])
      #expect(checked.status == 0 && !checked.output.contains("prevents"), "\(checked.output)")
    }
    let tag = try ChildProcess.run(
      ["range", "--profile", folder.path("dl-tdoa-tag.json"), "-n", "1", "--format", "csv"])
    #expect(tag.status == 0 && tag.output.contains("poll"), "\(tag.complaints)")
    let unknown = try ChildProcess.run([
      "profile", "--role", "dl-tdoa-tag", "--preset", "qorvo-kit",
    ])
    #expect(unknown.complaints.contains("no published values"), "\(unknown.complaints)")
    let rate = ["profile", "--preset", "android", "--update-rate", "infrequent"]
    #expect(try ChildProcess.run(rate).output.contains("\"RANGING_DURATION\": \"600 ms\""))
    for role in ["dl-tdoa-tag", "ul-tdoa-tag"] {
      let refused = try ChildProcess.run(rate + ["--role", role])
      #expect(refused.complaints.contains("two-way ranging"), "\(refused.complaints)")
    }
  }

  @Test("The stamps of simulated anchors agree with the places in their messages")
  func places() throws {
    let run = try ChildProcess.run([
      "range", "--role", "dl-tdoa-tag", "-n", "3", "--format", "json", "--seed", "3",
    ])
    let messages = try run.objects()
    func number(_ message: [String: Any], _ key: String) -> Double {
      (message[key] as? NSNumber)?.doubleValue ?? .nan
    }
    func between(_ key: String, _ a: [String: Any], _ b: [String: Any]) -> Double {
      let turn = 0x1p40
      let difference = number(b, key) - number(a, key)
      return difference < 0 ? difference + turn : difference
    }
    func place(_ message: [String: Any]) -> SIMD3<Double> {
      SIMD3(
        number(message, "anchor_x_mm"), number(message, "anchor_y_mm"),
        number(message, "anchor_z_mm")) / 1_000
    }
    func length(_ arm: SIMD3<Double>) -> Double { (arm * arm).sum().squareRoot() }
    // A tag that starts late misses the first blocks.
    let blocks = Set(messages.compactMap { $0["block"] as? Int })
    try #require(blocks.count == 3, "\(run.complaints)")
    for block in blocks {
      let round = messages.filter { $0["block"] as? Int == block }
      try #require(round.count == 6, "\(run.complaints)")
      let (poll, final) = (round[0], round[5])
      let rate = between("tx_ticks", poll, final) / between("rx_ticks", poll, final)
      let metres = 299_702_547 / 63_897_600_000.0
      var errors: [Double] = []
      for response in round[1...4] {
        let later =
          rate * between("rx_ticks", poll, response) - number(response, "tof_ticks")
          - number(response, "responder_reply_ticks")
          / (1 - number(response, "anchor_cfo_ppm") * 1e-6)
        // The tag walks between two places, so its position is only known to be between them.
        let error = (0...40).map { step in
          let tag = SIMD3<Double>(3, 2, 1.2) + SIMD3(2, 2, 0) * (Double(step) / 40)
          return abs(
            later * metres - length(place(response) - tag) + length(place(poll) - tag))
        }.min()
        errors.append(error ?? 9)
      }
      // The carrier offset in the messages has an error of 0.05 ppm, which is 24 cm after 8 ms. The
      // limit is three times that.
      #expect(errors.allSatisfy { $0 < 0.75 }, "\(errors)")
    }
  }
}
