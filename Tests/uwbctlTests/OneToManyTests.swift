// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Foundation
import ProgramTestSupport
import Testing
import UWBTestSupport

/// Several controlees as the documentation starts them: `uwbctl simulate` in place of boards, and
/// `uwbctl range` for each end, in processes that share only their options.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct OneToManyTests {
  private struct Stage {
    private let folder: TemporaryFolder
    private let boards: ChildProcess

    init() throws {
      folder = try TemporaryFolder()
      boards = try ChildProcess(["simulate", "--chips", "3", "--link", folder.path("board")])
      _ = try boards.read(until: "C\t")
    }

    func end() {
      boards.end()
      folder.remove()
    }

    private func path(_ board: String) -> String { folder.path("board-\(board)") }

    /// A service with a board, and the name of the board in it.
    func share(_ board: String) throws -> (service: ChildProcess, device: String) {
      let socket = folder.path("control")
      let service = try ChildProcess(
        ["--socket", socket, path(board)], program: ChildProcess.uwbd)
      let device = "uwbd:\(socket)?chip=\(path(board))"
      while try ChildProcess.run(["info", "--device", device]).status != 0 {
        guard service.process.isRunning else { throw ChildProcess.Failure(what: service.errors()) }
      }
      return (service, device)
    }

    /// - Parameter board: A letter, or the name of a device.
    func range(_ board: String, _ options: [String]) throws -> ChildProcess {
      let device = ["--device", board.count == 1 ? path(board) : board]
      return try ChildProcess(
        ["range", "--interval", "40", "--format", "json"] + device + options,
        runtime: folder.path("."))
    }

    /// A controlee that already listens.
    func controlee(_ board: String, _ options: String...) throws -> ChildProcess {
      let process = try range(board, ["--role", "controlee"] + options)
      _ = try process.read(until: "RANGING_RX_TIMEOUT")
      return process
    }

    func multicast(_ arguments: String...) throws -> ChildProcess.Outcome {
      try ChildProcess.run(["multicast"] + arguments, runtime: folder.path("."))
    }

    /// Compares two boards.
    func diff(_ devices: String...) throws -> ChildProcess.Outcome {
      try ChildProcess.run(
        ["diff"] + devices.map { $0.count == 1 ? path($0) : $0 }, runtime: folder.path("."))
    }
  }

  private static let measured = #""status":"OK""#

  /// Measures all controlees, also where a service has one of the boards.
  @Test(arguments: [false, true])
  func eachRoundMeasuresAllControlees(isShared: Bool) throws {
    let stage = try Stage()
    defer { stage.end() }
    let shared = isShared ? try stage.share("c") : nil
    defer { shared?.service.end() }
    let controlees = [
      try stage.controlee("b", "--one-to-many"),
      try stage.controlee(shared?.device ?? "c", "--one-to-many", "--address", "0002"),
    ]
    let controller = try stage.range("a", ["--responders", "2", "-n", "20"]).outcome()
    #expect(controller.status == 0, "\(controller.complaints)")
    #expect(controller.complaints.contains(" 40 measured, 0 failed"), "\(controller.complaints)")
    var peers: [Int: Set<String>] = [:]
    for row in try controller.objects() where row["status"] as? String == "OK" {
      let (sequence, peer) = (row["sequence"] as? Int, row["peer"] as? String)
      peers[try #require(sequence), default: []].insert(try #require(peer))
    }
    #expect(peers.count == 20)
    #expect(peers.values.allSatisfy { $0 == ["0x0001", "0x0002"] }, "\(peers)")
    for controlee in controlees {
      for _ in 0..<20 { _ = try controlee.read(until: Self.measured) }
      // The controlee's session ends with the controller's.
      let end = controlee.outcome()
      #expect(end.status == 85, "\(end.complaints)")
    }
  }

  @Test func aControleeIsAddedAndRemovedWhileAnotherIsMeasured() throws {
    let stage = try Stage()
    defer { stage.end() }
    let first = try stage.controlee("b", "--one-to-many")
    let second = try stage.controlee("c", "--one-to-many", "--address", "0002")
    let controller = try stage.range("a", ["--one-to-many"])
    _ = try controller.read(until: Self.measured)
    let added = try stage.multicast("add", "0002")
    #expect(added.status == 0, "\(added.output)\(added.complaints)")
    let again = try stage.multicast("add", "0002")
    #expect(again.status == 78)
    #expect(again.complaints.contains("The chip did not add 0x0002: "), "\(again.complaints)")
    _ = try controller.read(until: #""peer":"0x0002","# + Self.measured)
    _ = try second.read(until: Self.measured)
    let removed = try stage.multicast("remove", "0002")
    #expect(removed.status == 0, "\(removed.output)\(removed.complaints)")
    // With two controlees, every other line belongs to the second one.
    var alone = 0
    for _ in 0..<20_000 where alone < 10 {
      let line = try controller.read(until: "\n")
      #expect(line.contains(Self.measured), "\(line)")
      alone = line.contains("0x0001") ? alone + 1 : 0
    }
    #expect(alone == 10)
    // The controller is last, because the others would end with it.
    for process in [second, first, controller] {
      let end = process.interrupt()
      #expect(end.status == 0, "\(end.complaints)")
    }
  }

  @Test func aSessionWithoutControleesStops() throws {
    let stage = try Stage()
    defer { stage.end() }
    let controlee = try stage.controlee("b", "--one-to-many")
    let controller = try stage.range("a", ["--one-to-many"])
    _ = try controller.read(until: Self.measured)
    let removed = try stage.multicast("remove", "0001")
    #expect(removed.status == 0)
    #expect(removed.output.hasSuffix(") without controlees, so that it stops\n"))
    let end = controller.outcome()
    #expect(end.status == 85 && end.complaints.contains("the list became empty"))
    _ = controlee.interrupt()
  }

  /// Compares both ends while they range, also where a service has one of the boards.
  @Test(arguments: [false, true])
  func endsAreComparedWhileTheyRange(isShared: Bool) throws {
    let stage = try Stage()
    defer { stage.end() }
    let shared = isShared ? try stage.share("b") : nil
    defer { shared?.service.end() }
    let other = shared?.device ?? "b"
    let controlee = try stage.controlee(other)
    let controller = try stage.range("a", [])
    _ = try controller.read(until: Self.measured)
    let same = try stage.diff("a", other)
    #expect(same.status == 0, "\(same.output)\(same.complaints)")
    #expect(same.output.hasSuffix("No difference prevents ranging.\n"), "\(same.output)")
    #expect(try stage.multicast("list").output.split(separator: "\n").count == 1)
    for process in [controlee, controller] { #expect(process.interrupt().status == 0) }
    let preamble = try stage.range("a", ["--preamble", "11"])
    _ = try preamble.read(until: "RANGING_RX_TIMEOUT")
    let late = try stage.controlee(other)
    let different = try stage.diff("a", other)
    #expect(different.status == 83, "\(different.output)\(different.complaints)")
    #expect(
      different.output.contains("prevents ranging: PREAMBLE_CODE_INDEX: 11 / 10\n"),
      "\(different.output)")
    for process in [late, preamble] { #expect(process.interrupt().status == 82) }
  }

  @Test func aControleeThatExpectsToBeAloneIsNamedAmongTheCauses() throws {
    let stage = try Stage()
    defer { stage.end() }
    // The number of slots in a round would differ as well.
    let controlees = [
      try stage.controlee("b", "--slots", "13"),
      try stage.controlee("c", "--slots", "13", "--address", "0002"),
    ]
    let controller = try stage.range("a", ["--responders", "2", "-n", "3"]).outcome()
    #expect(controller.status == 82, "\(controller.complaints)")
    #expect(controller.complaints.contains("set to unicast"), "\(controller.complaints)")
    #expect(controller.complaints.contains("--one-to-many"), "\(controller.complaints)")
    for controlee in controlees { #expect(controlee.interrupt().status == 82) }
  }
}
