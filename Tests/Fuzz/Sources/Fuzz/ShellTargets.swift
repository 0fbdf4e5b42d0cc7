// SPDX-License-Identifier: Apache-2.0
internal import CommandSupport
internal import Formats
internal import Glibc
internal import Ranging
internal import UCI
internal import UWB
internal import UWBLab
internal import UWBSimulator
internal import UWBTools

/// The input as a file, which is read like every file.
private enum InputPath {
  private static let descriptor: Int32 = {
    let path = "/dev/shm/uwb-fuzz-\(getpid())"
    defer { unlink(path) }
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
  }()

  static func holding(_ bytes: [UInt8]) -> String {
    guard ftruncate(descriptor, 0) == 0, pwrite(descriptor, bytes, bytes.count, 0) == bytes.count
    else { fail("the input cannot be written") }
    return "/proc/self/fd/\(descriptor)"
  }
}

/// Tables: byte 0 selects the computation.
enum TableTarget: Target {
  static let name = "tables"

  /// Estimates and charts of a row need about a hundred bytes; a row is two bytes at least.
  static func memoryLimit(for size: Int) -> Int { 8 << 20 + 32_768 * size }

  static func run(_ input: [UInt8]) {
    guard let choice = input.first else { return }
    let path = InputPath.holding(Array(input.dropFirst()))
    do throws(LabError) {
      let table = try CSVTable(file: path)
      try compute(table, Int(choice) % kinds.count)
    } catch {
      Properties.printable(printable(error.description))
    }
  }

  private static let anchors = #"{"A": [0, 0, 2.5], "B": [5, 0, 2.5], "C": [0, 6, 1]}"#
  private static let geometry = """
    {"channel": 9, "antennas": {"1": [0.02, 0, 0], "2": [0, 0.02, 0]}, "pairs": [
      {"column": "pdoa_rad", "antennas": ["1", "2"]},
      {"column": "p2", "table": [{"angle_deg": -90, "phase_rad": -3}, {"angle_deg": 90, "phase_deg": 170}]}],
     "power_bias": [{"rx_power_dbm": -80, "bias_m": 0.1}], "delays_m": {"x": 0.1}, "delay_m": 0.2}
    """
  private static let kinds: [(header: String, row: String)] = [
    (
      "time_s,peer,t1,t2,t3,t4,t5,t6,rx_power_dbm",
      "1,x,0,2132,127797332,127799464,638980264,638982396,-70"
    ),
    (
      "time_s,t1,t2,t3,t4,cfo_ppm,rx_power_dbm,truth_m",
      "1,0,5000002132,5063899732,63902503,10,-70,9"
    ),
    ("time_s,range_m,peer,sigma_m,rx_power_dbm,fp_power_dbm", "0.2,3.05,a,0.1,-70,-71"),
    ("time_s,pdoa_rad,p2,peer", "1,0.5,0.2,a"),
    ("time_s,anchor,range_m,peer,sigma_m", "1,A,3,x,0.1"),
    ("time_s,anchor_a,anchor_b,tdoa_m", "1,A,B,0.3"),
    ("time_s,x,y,z,qw,qx,qy,qz,range_m,azimuth_rad,peer", "1,0,1,0,1,0,0,0,3,0.2,a"),
    ("board_a,board_b,truth_m,range_m,channel,antenna_a,antenna_b", "A,B,2,2.3,9,0,0"),
    ("angle_deg,pdoa_rad,elevation_deg", "30,1.5,0"),
    ("truth_m,range_m,rx_power_dbm,peer,time_s", "2,2.1,-70,a,1"),
    ("time_s,x_m,y_m,z_m,azimuth_deg,pdoa_rad", "1,1,2,0,30,0.5"),
    (
      "nlos,room,range_m,truth_m,rx_power_dbm,fp_power_dbm,x",
      "1,a,3,2.5,-80,-88,4\n0,a,2,2,-79,-80,3\n1,b,3,2.5,-80,-88,4\n0,b,2,2,-79,-80,3"
    ),
  ]

  private static func compute(_ table: CSVTable, _ choice: Int) throws(LabError) {
    func finish<T>(_ result: ComputedTable<T>) throws(LabError) {
      try result.write(to: "/dev/null")
      _ = Figure(result.charts).svg
    }
    func report(_ report: CalibrationReport) {
      _ = Figure(report.charts).svg
      _ = report.calibration.summary
    }
    let calibration = try RangingCalibration(file: InputPath.holding(Array(geometry.utf8)))
    switch choice {
    case 0:
      try? table.checkPolls()
      try finish(try table.doubleSidedDistances())
      try finish(try table.doubleSidedDistances(calibration: calibration))
    case 1:
      try? table.checkPolls()
      try finish(try table.singleSidedDistances())
      _ = try table.singleSidedCalibration(truth: "truth_m").summary
    case 2:
      try finish(try table.filteredRanges())
      try finish(try table.filteredRanges(live: true))
    case 3: try finish(try table.directions(geometry: calibration))
    case 4, 5:
      let anchors = try Anchors(file: InputPath.holding(Array(anchors.utf8)))
      try finish(try table.positions(anchors, motion: .independent))
      try finish(try table.positions(anchors))
    case 6: try finish(try table.targets())
    case 7: report(try DelayCalibration().fit(try table.delayMeasurements().values).report)
    case 8:
      let samples = try table.phaseSamples("pdoa_rad").values
      report(PairCalibration.report([try AngleCalibration().fit("pdoa_rad", samples)]))
    case 9: report(try PowerCalibration(table) { _ in }.report())
    case 11:
      let labelled = try PathCalibration(table, label: "nlos", room: "room", others: ["x"]) { _ in }
      report(try labelled.report())
    default:
      let path = try table.path(around: .zero, yaw: 0).values
      let phases = try table.phases("pdoa_rad").values
      report(PairCalibration.report([try AngleCalibration().fit("p", path: path, phases: phases)]))
    }
  }

  static func seeds(_ frames: [[UInt8]]) -> [[UInt8]] {
    kinds.enumerated().flatMap { number, kind in
      [1, 12].map { count in
        let rows = (0..<count).map { row in
          kind.row.replacing("1,", with: "\(row),", maxReplacements: 1)
        }
        return [UInt8(number)] + Array(([kind.header] + rows).joined(separator: "\n").utf8)
      }
    }
  }
}

/// Files of JSON: byte 0 selects the kind.
enum JSONTarget: Target {
  static let name = "json"

  /// The limit allows for the nested containers of the decoder.
  static func memoryLimit(for size: Int) -> Int { 8 << 20 + 16_384 * size }

  static func run(_ input: [UInt8]) {
    guard let choice = input.first else { return }
    let path = InputPath.holding(Array(input.dropFirst()))
    do throws(LabError) {
      switch choice % 4 {
      case 0: try use(try RangingCalibration(file: path))
      case 1:
        let anchors = try Anchors(file: path)
        let names = anchors.byName.keys.prefix(4)
        let rows = names.map { "1,\($0.filter { $0.isLetter }),3\n" }.joined()
        let table = try CSVTable(Array("time_s,anchor,range_m\n\(rows)".utf8))
        try table.positions(anchors).write(to: "/dev/null")
      case 2:
        let scene: SceneFile
        do throws(FormatError) { scene = try SceneFile(file: path) } catch { throw LabError(error) }
        use(scene)
      default: _ = try? CalibrationBackup(file: path).entries()
      }
    } catch {
      Properties.printable(printable(error.description))
    }
  }

  private static func use(_ calibration: RangingCalibration) throws(LabError) {
    _ = calibration.summary
    _ = EstimationSettings(calibration, board: nil, channel: 9, peers: [0x0001])
    let stamps = Array(
      "board_a,board_b,t1,t2,t3,t4,rx_power_dbm\nA,B,0,2132,12779733,12781865,-70\n".utf8)
    try? CSVTable(stamps).singleSidedDistances(calibration: calibration).write(to: "/dev/null")
    let columns = (calibration.pairs ?? []).map(\.column).filter { $0.allSatisfy(\.isLetter) }
    let header = (["time_s"] + columns).joined(separator: ",")
    let row = (["1"] + columns.map { _ in "0.5" }).joined(separator: ",")
    let phases = try CSVTable(Array("\(header)\n\(row)\n".utf8))
    try phases.directions(geometry: calibration).write(to: "/dev/null")
  }

  /// Chips range in the scene, in virtual time.
  private static func use(_ file: SceneFile) {
    var scene = Scene()
    file.apply(to: &scene)
    var stage = Simulation(scene: scene)
    let chips = [("A", ChipProfile.qm33PDoA), ("B", .sr250)].map { name, profile in
      var placement = Placement(at: name == "A" ? .zero : SIMD3(3, 1, 0))
      file.apply(to: &placement, of: name)
      return stage.add(profile, placement: placement, name: name)
    }
    for chip in chips {
      stage.powerUp(chip)
      for command in commands(isController: chip == chips[0]) { stage.receive(command, by: chip) }
    }
    stage.advance(to: 1_000_000_000)
    for chip in chips { _ = stage.takeOutput(of: chip) }
  }

  private static func commands(isController: Bool) -> [[UInt8]] {
    let own: UInt8 = isController ? 0 : 1
    let parameters: [[UInt8]] = [
      [0x00, 1, isController ? 1 : 0], [0x11, 1, isController ? 1 : 0], [0x03, 1, 0], [0x05, 1, 1],
      [0x06, 2, own, 0], [0x07, 2, 1 - own, 0], [0x09, 4, 50, 0, 0, 0], [0x2E, 1, 0x0F],
      [0x0D, 1, 1], [0x22, 1, 1], [0xE8, 1, 1],
    ]
    let body = [1, 0, 0, 0, UInt8(parameters.count)] + parameters.joined()
    return [
      [0x20, 0, 0, 1, 0], [0x21, 0, 0, 5, 1, 0, 0, 0, 0],
      [0x21, 3, 0, UInt8(body.count)] + body, [0x22, 0, 0, 4, 1, 0, 0, 0],
    ]
  }

  static func seeds(_ frames: [[UInt8]]) -> [[UInt8]] {
    let texts = [
      """
      {"format": "swift-uwb ranging calibration", "version": 1, "delay_m": 0.2, "channel": 9,
       "delays_m": {"0001": 0.2}, "power_bias": [{"rx_power_dbm": -80, "bias_m": 0.1}],
       "antenna_delays": [{"board": "A", "delay_m": 0.1, "sigma_m": 0.01}, {"board": "B", "delay_m": 0.2}],
       "antennas": {"1": [0.02, 0, 0], "2": [0, 0.02, 0]}, "pairs": [
        {"column": "p", "antennas": ["1", "2"], "noise_rad": 0.1},
        {"column": "q", "spacing_m": 0.0188, "harmonics": [{"cos_rad": 0.1, "sin_rad": 0.2}]},
        {"column": "r", "table": [{"angle_deg": -90, "phase_rad": 2.9}, {"angle_deg": 90, "phase_deg": 9}]}]}
      """,
      #"{"anchors": {"A": [0, 0, 2.5], "B": [5, 0, 2.5]}, "height_m": 1.2}"#,
      #"[{"id": "A", "x": 0, "y": 0, "z": 2.5, "bias_m": 0.1}, {name: 'B', position: [1, 2]}]"#,
      """
      {"clock_ppm": 20, "clock_wander_ppm": 0.2, "loss": 0.1, "range_m": 60, "noise_dbm": -100,
       "distance_noise_m": 0.1, "angle_noise_deg": 2, "carrier_noise_ppm": 0.1, "level_noise_db": 1,
       "reflection_delay_ns": 12, "reflection_loss_db": 8,
       "power_bias": [{"rx_power_dbm": -100, "bias_m": 0.1}, {"rx_power_dbm": -60, "bias_m": 0.2}],
       "walls": [{"from": [1, -2], "to": [1, 3], "loss_db": 8, "delay_ns": 1}],
       "chips": {"A": {"position": [4, -3, 1], "delays": {"9": {"tx_m": 0.1, "rx_m": 0.1}}},
         "all": {"yaw_deg": 30, "clock_ppm": 3, "antenna_delay_m": 0.2, "antenna": [
           {"angle_deg": -90, "phase_rad": -3.4}, {"angle_deg": 90, "phase_rad": 2.9}]}}}
      """,
      """
      {"format": "swift-uwb calibration 1", "created": "2026-01-01T00:00:00Z",
       "device": {"family": "qorvo", "chip_id": "ab", "uci": "2.0"},
       "values": [{"name": "ant0.ch9.ant_delay", "hex": "4B40"}]}
      """,
    ]
    let kinds: [UInt8] = [0, 1, 1, 2, 3]
    return zip(kinds, texts).map { [$0] + Array($1.utf8) }
      + (0..<4).map { [$0] + Array(String(repeating: "[", count: 600).utf8) }
  }
}

/// Other inputs of the commands, of which byte 0 selects the kind.
enum ShellTarget: Target {
  static let name = "shell"

  static func memoryLimit(for size: Int) -> Int { 16 << 20 + 16_384 * size }

  static func run(_ input: [UInt8]) {
    guard let choice = input.first else { return }
    let rest = Array(input.dropFirst())
    do {
      switch choice % 6 {
      case 0: _ = try DiffSide(file: InputPath.holding(rest))
      case 1: try decode(rest)
      case 2: try replay(rest)
      case 3: try answer(rest)
      case 4:
        for kind in [FirmwareImage.Kind.hbci, .hdll] { _ = try? FirmwareImage(rest, kind: kind) }
      default: words(String(decoding: rest, as: UTF8.self))
      }
    } catch {
      Properties.printable(printable("\(error)"))
    }
  }

  private static func decode(_ bytes: [UInt8]) throws {
    for isJSON in [false, true] {
      var session = DecodeSession(
        decoder: FrameDecoder(), format: FrameFormat(showSecrets: isJSON), isJSON: isJSON,
        write: { Properties.printable($0.replacing("\n", with: "")) }, complain: { _ in })
      for (number, line) in bytes.split(separator: 0x0A).enumerated() {
        try session.takeLine(String(decoding: line, as: UTF8.self), number: number)
      }
      session.finish()
    }
  }

  private static func replay(_ bytes: [UInt8]) throws {
    let capture = try CaptureReader.read(file: InputPath.holding(bytes))
    var measurements = CapturedMeasurements()
    var summary = RangeSummary()
    var rounds: [EstimatedRound] = []
    for packet in capture.packets { rounds += measurements.rounds(packet, EstimationSettings()) }
    for round in rounds + measurements.remaining() {
      switch round {
      case .estimate(let estimate):
        let row = RangeRow(
          seconds: 0, measurement: estimate.measurement, computed: estimate,
          hasRSSI: measurements.hasRSSI)
        _ = summary.add(row)
        _ = RangeRow.json.line(row)
      case .empty(let empty): summary.add(empty)
      }
    }
    _ = summary.text("")
  }

  /// A recorded chip, which receives the recorded commands and others.
  private static func answer(_ bytes: [UInt8]) throws {
    let recording = Recording(try CaptureReader.read(bytes))
    guard recording.packets > 0 else { return }
    var chip = RecordedChip(recording, speed: .infinity)
    for command in [[0x20, 0, 0, 1, 0], [0x20, 2, 0, 0], [0x22, 0, 0, 4, 1, 0, 0, 0]] as [[UInt8]] {
      chip.receive(command, at: 0)
      _ = chip.takeOutput(at: 1_000_000_000)
    }
  }

  /// Options of one word.
  private static func words(_ text: String) {
    _ = MACAddress(text)
    _ = quantityValue(text, "m")
    _ = try? FrameText.frames(text)
    _ = UdevRules.isNode(text)
    do throws(LinkError) { _ = "\(try LinkEndpoint(text))" } catch {
      Properties.printable(printable(error.description))
    }
    for scheme in [CalibrationScheme.namedKeys, .numberedParameters] {
      for value in scheme.values.prefix(40) { _ = try? value.bytes(from: text) }
    }
  }

  static func seeds(_ frames: [[UInt8]]) -> [[UInt8]] {
    let text = Array(frames.map(hexadecimal).joined(separator: "\n").utf8)
    let profile = Array(Preset.firaStatic.profile().text().utf8)
    let capabilities = Array(#"{"id":4,"sub_id":null,"octets":"05 09"}"#.utf8)
    var seeds: [[UInt8]] = [[0] + profile, [0] + capabilities]
    for start in stride(from: 0, to: frames.count, by: 4) {
      let part = Array(
        frames[start..<min(start + 4, frames.count)].map(hexadecimal).joined(separator: "\n").utf8)
      for choice in 0..<4 as Range<UInt8> { seeds.append([choice] + part) }
    }
    seeds.append([4] + text.prefix(600))
    let words = [
      "usb:SERIAL?if=2", "spi:/dev/spidev0.0?chip=sr150&irq=GPIO24&ri=GPIO23&ce=GPIO18&fw=FILE",
      "tcp:host:1", "/dev/ttyUSB0?baud=3000000&rtscts", "00:11:22:33:44:55:66:77", "2,5 m",
      "hex:0102",
      "0x1F", "-3.5", "1:2,3", "6001000101",
    ]
    return seeds + words.map { [5] + Array($0.utf8) }
  }
}
