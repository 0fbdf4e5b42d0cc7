// SPDX-License-Identifier: Apache-2.0

import Estimators
import Foundation
import Ranging
import Testing
import UWBTestSupport

@testable import UWBLab

/// Tables computed as a whole and row by row, with cells that are missing or damaged.
@Suite(.computes) struct LiveTests {
  /// The computation, with a row of its table at a time in seconds.
  enum Kind: String, CaseIterable {
    case filter, find, angle, doubleSided, singleSided, secondResponse
  }

  private static func header(_ kind: Kind) -> String {
    switch kind {
    case .filter: "time_s,range_m,peer,sigma_m,bias_sigma_m,rx_power_dbm,fp_power_dbm"
    case .find: "time_s,x,y,yaw_deg,range_m,azimuth_deg,peer"
    case .angle: "time_s,pdoa_rad,other_deg,peer"
    case .doubleSided, .secondResponse: "time_s,t1,t2,t3,t4,t5,t6,peer,rx_power_dbm"
    case .singleSided: "time_s,t1,t2,t3,t4,peer,cfo_ppm,rx_power_dbm"
    }
  }

  /// Returns the stamps of a round over 10 m with replies of 2 ms. The initiator's clock is 10 ppm
  /// fast.
  private static func stamps(_ kind: Kind, _ start: Double, _ peer: Int) -> [Int64] {
    let flight = 10 / SpeedOfLight.inAir
    func own(_ time: Double) -> Int64 { Int64(((start + time) * 1.00001 * 63.8976e9).rounded()) }
    func other(_ time: Double) -> Int64 {
      Int64(((start + time + 3 + Double(peer)) * 63.8976e9).rounded())
    }
    let first = [own(0), other(flight), other(flight + 2e-3), own(2 * flight + 2e-3)]
    return switch kind {
    case .doubleSided: first + [own(5e-3), other(5e-3 + flight)]
    case .secondResponse: first + [other(5e-3), own(5e-3 + flight)]
    default: first
    }
  }

  private static func row(_ kind: Kind, _ step: Int, _ generator: inout CellTests.Generator)
    -> String
  {
    let time = Double(step) / 10
    let peer = step % 3
    let noise = Double.random(in: -0.05...0.05, using: &generator)
    return switch kind {
    case .filter: "\(time),\(5 + noise),\(peer),0.1,0.05,-80,\(-82 - 8 * (step % 2))"
    case .find: "\(time),\(time),\(step % 7),30,\(9 + noise),\(10 * noise),\(peer)"
    case .angle: "\(time),\(0.5 + noise),\(40 * noise),\(peer)"
    case .doubleSided, .secondResponse:
      "\(time),\(stamps(kind, time, peer).map { "\($0)" }.joined(separator: ",")),\(peer),-80"
    case .singleSided:
      "\(time),\(stamps(kind, time, peer).map { "\($0)" }.joined(separator: ",")),\(peer),10,-75"
    }
  }

  /// A table, in which cells of every tenth row or so are empty, damaged, surplus or cut off.
  private static func table(
    _ kind: Kind, seed: Int, damaged: Bool, rows: Int = 90
  ) -> String {
    var generator = CellTests.Generator(seed)
    var text = header(kind) + "\n"
    for step in 0..<rows {
      var cells = row(kind, step, &generator).split(separator: ",").map(String.init)
      if damaged, Int.random(in: 0..<10, using: &generator) == 0 {
        let place = cells.indices.randomElement(using: &generator) ?? 0
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: cells[place] = ""
        case 1: cells[place] = "?"
        case 2: cells.append("surplus")
        case 3: cells.removeLast(min(2, cells.count - 1))
        default: text += "# a comment\n\n"
        }
      }
      text += cells.joined(separator: ",") + "\n"
    }
    return text
  }

  private static func geometry() throws -> RangingCalibration {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    return try RangingCalibration(
      file: try folder.write(
        """
        {pairs: [{column: "pdoa_rad", spacing_wavelengths: 0.45},
                 {column: "other_deg", spacing_wavelengths: 0.45, axis: [1, 0, 0]}]}
        """, to: "a.json"))
  }

  /// Returns the lines of the output and the warnings: of the whole table, row by row, or in
  /// pieces.
  private static func lines<Value>(
    _ text: String, isLive: Bool, piece: Int? = nil,
    _ begin: (CSVTable) throws(LabError) -> RowComputation<Value>
  ) throws -> (lines: [String], warnings: [String]) {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let warnings: [String]
    if let piece {
      let input = try folder.write(text, to: "in.csv")
      let result = try RowComputation.compute(from: input, to: folder.path("out.csv"), piece: piece)
      {
        table throws(LabError) in try begin(table)
      }
      #expect(result.problem == nil)
      warnings = result.warnings
    } else if isLive {
      warnings = try RowComputation.run(
        from: try folder.write(text, to: "in.csv"), to: folder.path("out.csv")
      ) { table throws(LabError) in try begin(table) }
    } else {
      let table = try begin(try CSVTable(text: text)).table()
      try table.write(to: folder.path("out.csv"))
      warnings = table.warnings
    }
    return (try folder.read("out.csv").split(separator: "\n").map(String.init), warnings)
  }

  private static func lines(
    _ kind: Kind, _ text: String, isLive: Bool, usesLaterRows: Bool = false, piece: Int? = nil
  ) throws -> (lines: [String], warnings: [String]) {
    let (geometry, live) = (try geometry(), !usesLaterRows)
    let parameters = TwoWayParameters()
    return switch kind {
    case .filter:
      try lines(text, isLive: isLive, piece: piece) { table throws(LabError) in
        try table.filtering(sigma: 0.1, biasDeviation: 0, .init(), live: live)
      }
    case .find:
      try lines(text, isLive: isLive, piece: piece) { table throws(LabError) in
        try table.locating(TargetFinder.Parameters())
      }
    case .angle:
      try lines(text, isLive: isLive, piece: piece) { table throws(LabError) in
        try table.directing(geometry: geometry, wander: 0.5, live: live)
      }
    case .doubleSided, .secondResponse:
      try lines(text, isLive: isLive, piece: piece) { table throws(LabError) in
        try table.doubleSided(
          parameters, secondResponse: kind == .secondResponse, calibration: nil, live: live)
      }
    case .singleSided:
      try lines(text, isLive: isLive, piece: piece) { table throws(LabError) in
        try table.singleSided(
          parameters, secondResponse: false, calibration: nil, powerBias: nil, live: live)
      }
    }
  }

  /// Computations row by row have the results, statuses and warnings of the whole table.
  @Test(arguments: Kind.allCases, 1...2)
  func rowsGiveTheSameAsTheTable(_ kind: Kind, seed: Int) throws {
    let text = Self.table(kind, seed: seed, damaged: seed > 1)
    let whole = try Self.lines(kind, text, isLive: false)
    let live = try Self.lines(kind, text, isLive: true)
    #expect(live.lines == whole.lines && whole.lines.count == 91)
    #expect(live.warnings == whole.warnings && live.warnings.isEmpty == (seed == 1))
  }

  /// The search for a target uses earlier rows only.
  private static let pieces =
    Kind.allCases.map { ($0, false) } + Kind.allCases.filter { $0 != .find }.map { ($0, true) }

  /// Pieces give the same as the whole table, also with results that need later rows.
  @Test(arguments: pieces)
  func piecesGiveTheSameAsTheTable(_ kind: Kind, usesLaterRows: Bool) throws {
    // The first hundred rows show the clocks of double-sided ranging, and belong to one piece.
    let rows = kind == .find ? 90 : 330
    let text = Self.table(kind, seed: 3, damaged: true, rows: rows)
    let whole = try Self.lines(kind, text, isLive: false, usesLaterRows: usesLaterRows)
    let piece = text.utf8.count / 3
    let pieces = try Self.lines(
      kind, text, isLive: false, usesLaterRows: usesLaterRows, piece: piece)
    #expect(pieces.lines == whole.lines && whole.lines.count == rows + 1)
    #expect(pieces.warnings == whole.warnings && !pieces.warnings.isEmpty)
  }

  /// An error in a late piece names its line, and the rows before it are written.
  @Test func lateErrorsComeAfterTheRowsBefore() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let rows = (0..<200).map { "\($0),3" }
    let text = "time_s,range_m\n" + rows.joined(separator: "\n") + "\n200,\"3\n201,3\n"
    let input = try folder.write(text, to: "in.csv")
    let error = #expect(throws: LabError.self) {
      try RowComputation.compute(from: input, to: folder.path("out.csv"), piece: 100) {
        table throws(LabError) in
        try table.filtering(sigma: 0.1, biasDeviation: 0, .init(), live: true)
      }
    }
    #expect(error?.line == 202 && error?.code == .badTable)
    #expect(try folder.read("out.csv").split(separator: "\n").count == 201)
  }

  /// If the output file is also the input file, the command reads it before truncating it.
  @Test func outputsMayBeTheInput() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let rows = (0..<200).map { "\($0),3\n" }
    let file = try folder.write("time_s,range_m\n" + rows.joined(), to: "a.csv")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("link.csv"), withDestinationPath: file)
    func begin(_ table: CSVTable) throws(LabError) -> RowComputation<RangeEstimate> {
      try table.filtering(sigma: 0.1, biasDeviation: 0, .init(), live: true)
    }
    _ = try RowComputation.compute(from: file, to: folder.path("link.csv"), piece: 100, begin)
    #expect(try folder.read("a.csv").split(separator: "\n").count == 201)
    let error = #expect(throws: LabError.self) {
      try RowComputation.run(from: file, to: folder.path("link.csv"), .init(), begin)
    }
    #expect(error?.code == .usage)
    #expect(try folder.read("a.csv").split(separator: "\n").count == 201)
  }

  /// If no row of a table has a result, the problem is the same in pieces.
  @Test(arguments: ["?", ""]) func tablesWithoutResultsAreRefused(_ cell: String) throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let text = "time_s,range_m\n" + String(repeating: "1,\(cell)\n", count: 100)
    let input = try folder.write(text, to: "in.csv")
    var errors: [LabError] = []
    for piece in [50, 1 << 20] {
      do {
        let result = try RowComputation.compute(
          from: input, to: folder.path("out.csv"), piece: piece
        ) { table throws(LabError) in
          try table.filtering(sigma: 0.1, biasDeviation: 0, .init(), live: false)
        }
        errors += [result.problem].compactMap(\.self)
      } catch { errors.append(error) }
    }
    #expect(errors.count == 2 && errors.first?.description == errors.last?.description)
    #expect(errors.allSatisfy { $0.line == 2 && $0.code == .badTable })
  }

  /// A row, a quoted cell or a comment may continue in the next piece.
  @Test(arguments: 22...72) func piecesEndAnywhere(_ size: Int) throws {
    let text =
      "time_s,range_m,note\r\n0,3,\"a\nb\"\n#c,\"d\n1,3.1,e\"f\n\n2,3.2,\"g\"\"h\"\n3,3.3,i"
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    var pieces = try TablePieces(folder.write(text, to: "in.csv"), .init(), size: size)
    var rows: [String] = []
    repeat {
      for row in 0..<pieces.table.rowCount {
        rows.append((0..<3).map { pieces.table.text(row, $0) }.joined(separator: "|"))
        #expect(pieces.table.line(row) == [2, 5, 7, 8][rows.count - 1])
      }
    } while try pieces.next()
    #expect(rows == ["0|3|a\nb", "1|3.1|e\"f", "2|3.2|g\"h", "3|3.3|i"])
    var all = try TablePieces(folder.path("in.csv"), .init(), size: size)
    try all.takeAll()
    #expect(all.table.rowCount == 4 && all.table.text(3, 2) == "i")
  }

  /// The table has the positions of two peers and other rows. One of the peers has no row at some
  /// times.
  @Test(arguments: [false, true]) func epochsGiveTheSameAsTheTable(damaged: Bool) throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let anchors = ["A": (0.0, 0.0, 2.0), "B": (6, 0, 2), "C": (3, 5, 2.5), "D": (0, 5, 1.5)]
    let list = anchors.map { "\"\($0.key)\": [\($0.value.0), \($0.value.1), \($0.value.2)]" }
    let file = try folder.write("{\(list.joined(separator: ", "))}", to: "anchors.json")
    var generator = CellTests.Generator(7)
    var text = "time_s,anchor,peer,range_m\n"
    for step in 0..<60 {
      for (number, (name, place)) in anchors.sorted(by: { $0.key < $1.key }).enumerated() {
        for peer in 0..<2 where peer == 0 || step % 7 != 3 {
          let (x, y) = (2 + 0.02 * Double(step), 1.5 + Double(peer))
          let squares =
            (x - place.0) * (x - place.0) + (y - place.1) * (y - place.1)
            + (1 - place.2) * (1 - place.2)
          let noise = Double.random(in: -0.05...0.05, using: &generator)
          let range =
            damaged && step % 9 == 4 && number == 0 ? "x" : "\(squares.squareRoot() + noise)"
          text += "\(Double(step) / 10),\(name),p\(peer),\(range)\n"
        }
      }
      if damaged, step % 20 == 9 { text += ",A,p0,3\n" }
    }
    let places = try Anchors(file: file)
    let input = try folder.write(text, to: "in.csv")
    let warnings = try places.locate(
      from: input, to: folder.path("live.csv"), CSVTable.Format(), sigma: 0.15, height: 1,
      acceleration: nil, calibration: nil)
    let whole = try CSVTable(text: text).positions(places, height: 1, motion: .tracked(live: true))
    try whole.write(to: folder.path("whole.csv"))
    let lines = try ["live.csv", "whole.csv"].map { try folder.read($0).split(separator: "\n") }
    #expect(lines[0].count > 110 && lines[0] == lines[1])
    #expect(warnings == whole.warnings && warnings.isEmpty == !damaged)
  }

  /// An endless table with ever new peers takes a bounded amount of memory.
  @Test func silentPeersAreForgotten() throws {
    let rows = ["0,a,3", "0,b,3"] + (0..<12_000).map { "\(1 + $0 / 1000),\($0),3" }
    // One of the two has rows again and again.
    var text = "time_s,peer,range_m\n"
    for (index, row) in rows.enumerated() {
      text += row + "\n"
      if index % 4000 == 3999 { text += "\(1 + index / 1000),b,3\n" }
    }
    text += "14,a,3\n14,b,3\n"
    let lines = try Self.lines(.filter, text, isLive: true).lines
    #expect(lines[lines.count - 2].hasSuffix(",started"), "\(lines[lines.count - 2])")
    #expect(!lines[lines.count - 1].hasSuffix(",started"), "\(lines[lines.count - 1])")
    var peers = RecentPeers<Int>(limit: 2)
    for peer in ["a", "b", "c", "a", "d", "e", "a"] { peers.update(peer, from: 0) { $0 += 1 } }
    let counts = ["a", "e", "b"].map { peer in peers.update(peer, from: 0) { $0 } }
    #expect(counts == [3, 1, 0])
  }

  /// With later rows, the rows keep their order and their cells, and at least as many rows have a
  /// result.
  @Test(arguments: Kind.allCases.filter { $0 != .find })
  func laterRowsOnlyAddResults(_ kind: Kind) throws {
    let text = Self.table(kind, seed: 5, damaged: true)
    let before = try Self.lines(kind, text, isLive: false)
    let after = try Self.lines(kind, text, isLive: false, usesLaterRows: true)
    #expect(after.lines.count == before.lines.count)
    let width = Self.header(kind).split(separator: ",").count
    for (a, b) in zip(before.lines, after.lines) {
      let (old, new) = (
        a.split(separator: ",", omittingEmptySubsequences: false),
        b.split(separator: ",", omittingEmptySubsequences: false)
      )
      #expect(old.prefix(width) == new.prefix(width) && old.count == new.count)
      #expect(new[width].isEmpty ? old[width].isEmpty : true, "\(a)\n\(b)")
    }
  }

  /// Distances are right with each protocol, whatever damage other rows have.
  @Test(arguments: [Kind.doubleSided, .singleSided, .secondResponse], [false, true])
  func distancesAreRight(_ kind: Kind, isLive: Bool) throws {
    let lines = try Self.lines(
      kind, Self.table(kind, seed: 9, damaged: true), isLive: isLive, usesLaterRows: !isLive
    ).lines
    let width = Self.header(kind).split(separator: ",").count
    let good = lines.dropFirst().map { $0.split(separator: ",", omittingEmptySubsequences: false) }
      .filter { $0.last == "ok" }
    #expect(good.count > 60)
    for cells in good { #expect(abs((Double(cells[width]) ?? 0) - 10) < 0.05, "\(cells)") }
  }

  /// Each computation names the missing column, and the existing ones.
  @Test(arguments: Kind.allCases) func missingColumnsAreNamed(_ kind: Kind) throws {
    let names = Self.header(kind).split(separator: ",").map(String.init)
    let optional = [
      "peer", "sigma_m", "bias_sigma_m", "rx_power_dbm", "fp_power_dbm", "azimuth_deg", "cfo_ppm",
    ]
    let hasTime = [.filter, .find, .angle].contains(kind)
    for missing in names {
      let kept = names.filter { $0 != missing }
      let cells = kept.map { _ in "1" }.joined(separator: ",")
      let text = "\(kept.joined(separator: ","))\n\(cells)\n"
      guard !optional.contains(missing), hasTime || missing != "time_s" else {
        _ = try? Self.lines(kind, text, isLive: true)
        continue
      }
      for isLive in [false, true] {
        let error = #expect(throws: LabError.self, "\(missing)") {
          try Self.lines(kind, text, isLive: isLive)
        }
        let stem = missing == "yaw_deg" ? "yaw" : missing
        #expect(error?.code == .badTable && error?.description.contains(stem) == true)
        #expect(error?.recoverySuggestion?.contains(kept.joined(separator: ", ")) == true)
      }
    }
  }

  /// The status of a row names the cell that is empty or damaged.
  @Test(arguments: Kind.allCases) func statusesNameTheCell(_ kind: Kind) throws {
    var generator = CellTests.Generator(3)
    let names = Self.header(kind).split(separator: ",").map(String.init)
    let needed: Set<String> =
      switch kind {
      case .filter: ["time_s", "range_m"]
      case .find: ["time_s", "x", "y", "yaw_deg", "range_m"]
      case .angle: ["time_s"]
      default: ["t1", "t2", "t3", "t4"]
      }
    for (place, name) in names.enumerated() where needed.contains(name) {
      for (cell, word) in [("", "missing_"), ("0x1F", "invalid_"), ("nan", "invalid_")] {
        var rows = (0..<3).map { Self.row(kind, $0, &generator) }
        var cells = rows[1].split(separator: ",").map(String.init)
        cells[place] = cell
        rows[1] = cells.joined(separator: ",")
        let text = "\(Self.header(kind))\n\(rows.joined(separator: "\n"))\n"
        let (lines, warnings) = try Self.lines(kind, text, isLive: true)
        #expect(lines[2].hasSuffix(",\(word)\(name)"), "\(lines[2])")
        #expect(warnings == ["1 of 3 rows cannot be used. The first is line 3: \(word)\(name)."])
      }
    }
  }

  @Test(arguments: ["", "# only a comment\n", "\n\n", "time_s,range_m\n", "time_s,range_m\nx,y\n"])
  func tablesWithoutResultsAreErrors(_ text: String) {
    let error = #expect(throws: LabError.self) { try Self.lines(.filter, text, isLive: true) }
    #expect(error?.code == .badTable)
  }

  /// Repeated charts of a table are equal, and each computation has at least one chart.
  @Test(arguments: Kind.allCases) func chartsAreDrawn(_ kind: Kind) throws {
    let table = try CSVTable(text: Self.table(kind, seed: 11, damaged: true))
    let charts: [Chart] =
      switch kind {
      case .filter: try table.filteredRanges().charts
      case .find: try table.targets().charts
      case .angle: try table.directions(geometry: try Self.geometry()).charts
      case .doubleSided: try table.doubleSidedDistances().charts
      case .singleSided: try table.singleSidedDistances().charts
      case .secondResponse: try table.singleSidedDistances(secondResponse: true).charts
      }
    #expect(charts.count == (kind == .angle ? 2 : 1))
    let svg = Figure(charts).svg
    #expect(svg.hasPrefix("<?xml") && svg.contains(charts[0].title) && svg.contains("<poly"))
  }

  @Test(arguments: [
    (nil, "Time_s,peer,timer,range_m,x_m,y_m,z_m,r95_m,cov_xx,cov_xy,cov_xz,cov_yy,cov_yz,cov_zz,"),
    (["time", "peer"], "Time_s,peer,x_m,y_m,z_m,r95_m,"), (["time"], "Time_s,x_m,y_m,z_m,r95_m,"),
  ])
  func aTerminalGetsTheColumnsForAPerson(_ brief: [String]?, _ columns: String) throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let table = try CSVTable(text: "Time_s,peer,timer,range_m\n0,p,1,3\n")
    var writer = try ComputedWriter(
      to: folder.path("out"), table, [OutputColumn<PositionEstimate>].positions, brief: brief)
    try writer.add(ComputedRow(row: 0, peer: "p", time: 0), of: table)
    try writer.finish()
    let lines = try folder.read("out").split(separator: "\n")
    #expect(lines[0] == columns + "used,status")
    #expect(lines[1].count { $0 == "," } == lines[0].count { $0 == "," })
  }
}
