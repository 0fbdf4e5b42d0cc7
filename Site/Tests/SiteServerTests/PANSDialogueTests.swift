// SPDX-License-Identifier: Apache-2.0

import Testing
import UWBSite

@testable import SiteServer

@Suite struct PANSDialogueTests {
  /// A board in virtual time, as its documentation describes the shell.
  private struct Board {
    var isShell = false
    var isStreaming = false
    var isDead = false
    var hasLabel = true
    private var enters: [Double] = []
    private var command = ""
    private var last = ""
    static let round = "DIST,2,AN0,0A00,0.00,0.00,2.50,3.25,AN1,0A01,1.00,0.00,2.50,0.00\r\n"

    /// Returns the answer of the board to output of the dialogue.
    mutating func receive(_ output: String, at now: Double) -> String {
      guard !isDead else { return "" }
      var answer = ""
      for character in output {
        guard character == "\r" else {
          command.append(character)
          continue
        }
        answer += enter(now)
        command = ""
      }
      return answer
    }

    private mutating func enter(_ now: Double) -> String {
      guard isShell else {
        enters = enters.filter { now - $0 < 1 } + [now]
        isShell = enters.count > 1
        return isShell ? "\r\n DWM1001 TWR Real Time Location System\r\n\r\ndwm> " : "@\u{1}\u{1}"
      }
      let name = command.isEmpty ? last : command
      last = name
      switch name {
      case "lec":
        isStreaming.toggle()
        return "lec\r\ndwm> "
      case "si":
        let label = hasLabel ? " label=DW0B00" : ""
        return "si\r\n[000044.950 INF] uwb0: panid=xBACA addr=xDECADDF048950B00\r\n"
          + "[000044.970 INF] cfg: sync=0\(label)\r\ndwm> "
      default: return "dwm> "
      }
    }

    /// Returns the output of a tenth of a second.
    var output: String { isStreaming && !isDead ? Self.round : "" }
  }

  private struct Result {
    var items: [SourceItem] = []
    var commands: [String] = []
    var failure: PANSDialogue.Failure?
    var dialogue: PANSDialogue
  }

  /// Runs a board and the dialogue with steps of 0.1 s.
  private func talk(
    _ board: inout Board, name: String? = nil, seconds: Double = 10,
    _ change: (inout Board, Double) -> Void = { _, _ in }
  ) throws -> Result {
    let names = SiteNames(try SiteScene().site)
    var result = Result(dialogue: PANSDialogue(board: name, names, at: 0))
    for step in 0..<Int(seconds * 10) {
      let now = Double(step) / 10
      change(&board, now)
      var input = board.output
      do throws(PANSDialogue.Failure) {
        var (items, output) = try result.dialogue.tick(at: now)
        result.items += items
        while !input.isEmpty || !output.isEmpty {
          if !output.isEmpty { result.commands.append(output) }
          input += board.receive(output, at: now)
          (items, output) = result.dialogue.receive(Array(input.utf8), at: now)
          result.items += items
          input = ""
        }
      } catch {
        result.failure = error
        break
      }
    }
    return result
  }

  private func ranges(_ result: Result) -> [RangeLine] {
    result.items.compactMap { if case .measurement(let line) = $0 { line } else { nil } }
  }

  @Test("A silent board: two Enters, its address, and ranges with the name of the site")
  func silent() throws {
    var board = Board()
    let result = try talk(&board)
    #expect(result.commands == ["\r", "\r", "si\r", "lec\r"])
    #expect(board.isStreaming && result.dialogue.hasStarted)
    #expect(
      result.items.first == .state(.connected(identity: "0xdecaddf048950b00 DW0B00")))
    let ranges = ranges(result)
    #expect(ranges.count > 60)
    #expect(ranges.allSatisfy { $0.tag == "0x0b00" && $0.anchor == "0x0a00" })
    #expect(ranges.first?.quantities == [.distance(3.25)])
    // The second range of each round is 0.
    #expect(result.items.count { $0 == .failed } == ranges.count)
  }

  @Test("A board that prints already is not switched off")
  func streaming() throws {
    var board = Board()
    (board.isShell, board.isStreaming) = (true, true)
    let result = try talk(&board)
    #expect(result.commands == ["si\r"])
    #expect(board.isStreaming && !result.dialogue.hasStarted)
    #expect(ranges(result).count > 90)
  }

  @Test("Enter in an open shell repeats lec, and the second Enter is not sent")
  func openShell() throws {
    var board = Board()
    board.isShell = true
    _ = board.receive("lec\rlec\r", at: -10)
    #expect(!board.isStreaming)
    let result = try talk(&board)
    #expect(result.commands == ["\r", "si\r"])
    #expect(board.isStreaming)
  }

  @Test("The name in the argument, and a board without a label")
  func names() throws {
    var board = Board()
    board.hasLabel = false
    let result = try talk(&board, name: "U")
    #expect(ranges(result).last?.tag == "U")
    #expect(board.isStreaming)
  }

  @Test("No answer is a failure with the next step, after three attempts")
  func dead() throws {
    var board = Board()
    board.isDead = true
    let result = try talk(&board, seconds: 30)
    #expect(result.failure == .noShell)
    #expect(result.commands == Array(repeating: "\r", count: 6))
    #expect(result.failure?.description.contains("check the firmware") == true)
  }

  @Test("A board that restarts is asked again after a long silence")
  func restart() throws {
    var board = Board()
    let result = try talk(&board, seconds: 150) { board, now in
      if now == 20 { board = Board() }
    }
    #expect(board.isStreaming)
    #expect(result.failure == nil)
    #expect(ranges(result).filter { $0.time > 120 }.count > 100)
  }

  @Test("Lines with missing characters are counted with their line and field")
  func noise() throws {
    let names = SiteNames(try SiteScene().site)
    var dialogue = PANSDialogue(board: "T", names, at: 0)
    let text = "DIST,1,AN0,0A00,0.00,0.00,2.50,3.2\r\n" + Board.round
    var items: [SourceItem] = []
    for byte in text.utf8 { items += dialogue.receive([byte], at: 1).items }
    #expect(items.first == .bad("line 1: AN0: 3.2 is not a length with two decimals"))
    #expect(items.count == 3)
  }

  @Test("The delay of attempts doubles up to a bound, and a reason is reported once")
  func delay() {
    var delay = RetryDelay()
    let away = AttemptEnd(reason: "away", hasWorked: false)
    let attempts = (0..<6).map { _ in delay.next(after: away) }
    #expect(attempts.map(\.seconds) == [0.5, 1, 2, 4, 8, 8])
    #expect(attempts.map(\.isNews) == [true, false, false, false, false, false])
    #expect(delay.next(after: AttemptEnd(reason: "denied", hasWorked: false)).isNews)
    let again = delay.next(after: AttemptEnd(reason: "denied", hasWorked: true))
    #expect(again == (0.5, true))
  }
}
