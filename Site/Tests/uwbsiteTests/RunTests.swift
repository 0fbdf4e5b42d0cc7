// SPDX-License-Identifier: Apache-2.0

import Testing
import UWBSite

@Suite struct RunTests {
  private let site = """
    {"version": 1, "gauge": {"kind": "measured"},
     "anchors": [
       {"id": "A0", "addresses": ["0x0a00"], "position_m": [0, 0, 2.5], "position_sd_m": [0, 0, 0]},
       {"id": "A1", "position_m": [10, 0, 3], "position_sd_m": [0, 0, 0]},
       {"id": "A2", "position_m": [10, 8, 2.5], "position_sd_m": [0, 0, 0]},
       {"id": "A3", "position_m": [0, 8, 3], "position_sd_m": [0, 0, 0]}],
     "tags": [{"id": "T", "addresses": ["0x0b00"], "height_m": 1}]}
    """
  private let anchors: [SIMD3<Double>] = [[0, 0, 2.5], [10, 0, 3], [10, 8, 2.5], [0, 8, 3]]

  /// Returns rounds at 10 Hz of a tag at 3, 5, 1.
  private func lines(_ rounds: Int, _ line: (Double, Int, Double) -> String) -> String {
    var text = ""
    for number in 0..<rounds {
      for (index, anchor) in anchors.enumerated() {
        let arm = SIMD3(3, 5, 1) - anchor
        text += line(Double(number) / 10, index, (arm * arm).sum().squareRoot()) + "\n"
      }
    }
    return text
  }

  private func run(
    _ input: String, board: String = "", _ arguments: String...
  ) throws -> (String, String, Int32) {
    let program = ProgramTests()
    var result = ("", "", Int32(-1))
    try program.with(site) { site in
      try program.with(input) { input in
        let found = try program.run(["run", site, board + input] + arguments)
        result = (found.output, found.errors, found.status)
      }
    }
    return result
  }

  @Test("Lines of JSON lead to places, and bad ones are counted with their field")
  func places() throws {
    var input = lines(20) { time, anchor, range in
      #"{"t": \#(time), "tag": "T", "anchor": "A\#(anchor)", "distance_m": \#(range)}"#
    }
    input += """
      {"t": 2, "tag": "T", "anchor": "A0", "distance_m": "far"}
      {"t": 2,
      {"t": 2, "tag": "T", "anchor": "A9", "distance_m": 2}

      """
    let (output, errors, status) = try run(input, "--format", "json")
    #expect(status == 0)
    let places = output.split(separator: "\n").filter { $0.contains("position_m") }
    #expect(places.count >= 14)
    let last = try JSONValue(Array(try #require(places.last).utf8))
    guard case .array(let position)? = last["position_m"], case .number(let x) = position[0] else {
      Issue.record("\(last)")
      return
    }
    #expect(abs(x - 3) < 0.1)
    #expect(output.contains(#"{"event": "unknown_address", "address": "A9"}"#))
    #expect(errors.contains("line 81: distance_m: far is not a number"))
    #expect(errors.contains("line 82: column 9"))
    #expect(errors.contains("1 of unknown boards, 2 bad lines"))
  }

  @Test("Recordings of several boards are merged by their times")
  func merged() throws {
    let program = ProgramTests()
    func half(_ parity: Int) -> String {
      lines(20) { time, anchor, range in
        anchor % 2 == parity
          ? #"{"t": \#(time), "tag": "T", "anchor": "A\#(anchor)", "distance_m": \#(range)}"# : ""
      }
    }
    try program.with(site) { site in
      try program.with(half(0)) { even in
        try program.with(half(1)) { odd in
          let (status, output, errors) = try program.run("run", site, even, odd, "--speed", "100")
          #expect(status == 0)
          #expect(output.split(separator: "\n").last?.hasPrefix("       1.9  T") == true)
          #expect(errors.contains("80 lines"))
          #expect(!errors.contains("late"))
          #expect(try program.run("run", site, even, "-", "--speed", "2").status == 64)
        }
      }
    }
  }

  @Test("Lines of uwbctl name the peer, and BOARD=SOURCE the board at this end")
  func peers() throws {
    let input = lines(20) { time, anchor, range in
      let peer = anchor == 0 ? "0a:00" : "A\(anchor)"
      return
        #"{"time_s": \#(time), "peer": "\#(peer)", "status": "OK", "distance_cm": \#(range * 100)}"#
    }
    let (output, errors, status) = try run(input, board: "0x0b00=")
    #expect(status == 0)
    #expect(output.split(separator: "\n").last?.hasSuffix("rest") == true)
    #expect(errors.contains("80 lines"))
    #expect(try run(input).1.contains("line 1: device: is missing; BOARD=SOURCE"))
  }
}
