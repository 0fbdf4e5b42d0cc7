// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// Figures of many chips on one machine, and of one that is nearly idle. They are the processor
/// time of the driver, its wakes, and the time until an estimate is available. The chips are in
/// other processes, so that their costs are not counted. The figures cover a whole host process
/// from its first to its last estimate.
struct Scale {
  /// The number of chips in each process.
  private var processes: Int
  private var chips: Int
  private var hertz: Int
  /// The seconds without a frame at the end.
  private var idle = 0

  /// The aim for the processor time of all processes together, as a fraction of one core. No frame
  /// may be lost.
  private var core: Double?

  private static let cases = [
    Scale(processes: 1, chips: 1, hertz: 5, idle: 4), Scale(processes: 1, chips: 1, hertz: 100),
    Scale(processes: 1, chips: 16, hertz: 100),
    Scale(processes: 1, chips: 64, hertz: 100, core: 0.6),
    Scale(processes: 8, chips: 8, hertz: 100, core: 0.6),
  ]

  private init(processes: Int, chips: Int, hertz: Int, idle: Int = 0, core: Double? = nil) {
    (self.processes, self.chips, self.hertz) = (processes, chips, hertz)
    (self.idle, self.core) = (idle, core)
  }

  /// Prints a table. Returns whether every frame arrived.
  static func run(_ settings: Settings) -> Bool {
    print("\n" + Report.machine)
    print(
      "| processes x chips | Hz | us of CPU a frame | of a core | wakes a frame | p50, us | p99, us "
        + "| threads | MB | lost | idle: wakes, ms of CPU a second | chips: of a core |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    return cases.map { $0.measure(seconds: settings.quick ? 2 : 10) }.allSatisfy { $0 }
  }

  private func measure(seconds: Int) -> Bool {
    let frames = max(20, seconds * hertz)
    let file = NSTemporaryDirectory() + "uwb-scale-\(getpid())"
    defer { unlink(file) }
    do {
      let sizes = ["\(frames)", "\(hertz)", file]
      let simulator = try Child(["chips", "\(processes * chips)"] + sizes + ["1"])
      let paths = try (0..<processes * chips).map { _ in try simulator.readLine() }
      let hosts = try (0..<processes).map { number in
        try Child(
          ["host", "\(number * chips)"] + sizes + ["\(idle)"]
            + paths[number * chips..<(number + 1) * chips])
      }
      let own = Double(try simulator.readLine()) ?? 0
      let results = try hosts.map { host in
        defer { try? host.end() }
        return try host.readLine().split(separator: " ").map { Double($0) ?? 0 }
      }
      try simulator.end()
      return write(results, frames: frames, chipsProcessor: own)
    } catch {
      print("\(processes) processes with \(chips) chips: \(error)")
      return false
    }
  }

  private func write(_ results: [[Double]], frames: Int, chipsProcessor: Double) -> Bool {
    func sum(_ column: Int) -> Double { results.map { $0[column] }.reduce(0, +) }
    func most(_ column: Int) -> Double { results.map { $0[column] }.max() ?? 0 }
    let (count, span) = (sum(0), most(1) / 1_000)
    let lost = Double(processes * chips * frames) - count
    let core = sum(2) / span
    let verdict = self.core.map { " <= \($0) " + (core <= $0 ? "met" : "MISSED") } ?? ""
    func shown(_ value: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", value) }
    let seconds = Double(max(1, idle))
    let rest = [shown(sum(8) / seconds, 2), shown(sum(9) / 1_000 / seconds, 2)]
    let cells = [
      "\(processes) x \(chips)", "\(hertz)", shown(sum(2) / count, 1), shown(core, 3) + verdict,
      shown(sum(3) / count, 2), shown(Percentiles(results.map { $0[4] }).p50, 0),
      shown(most(5), 0), shown(sum(6), 0), shown(sum(7) / 1_024, 1), shown(lost, 0),
      idle > 0 ? rest.joined(separator: ", ") : "", shown(chipsProcessor / span, 3),
    ]
    print("| " + cells.joined(separator: " | ") + " |")
    return lost == 0
  }

  /// Runs a process of `measure` or of `ServiceFigures`.
  static func runChild(_ arguments: [String]) throws {
    if arguments.count == 2, arguments[0] == "relay" { return try Relay(arguments[1]).run() }
    if arguments.count == 4, arguments[0] == "packets", let programs = Int(arguments[3]) {
      return PacketRelay(chip: arguments[1], at: arguments[2], programs: programs).run()
    }
    let numbers = arguments.dropFirst().prefix(3).compactMap { Int($0) }
    guard arguments.count >= 6, numbers.count == 3 else { throw CocoaError(.featureUnsupported) }
    let (first, frames, hertz) = (numbers[0], numbers[1], numbers[2])
    let paths = Array(arguments.dropFirst(6))
    let chips = arguments[0] == "host" ? first + paths.count : first
    let count = arguments[0] == "readers" ? 1 : chips
    let stamps = try shared(arguments[4], count: count * frames)
    let last = Int(arguments[5]) ?? 0
    switch arguments[0] {
    case "chips":
      var process = try ChipProcess(
        chips: chips, hertz: hertz, frames: frames, measurements: last, stamps: stamps)
      process.run()
    case "readers":
      var process = try ReaderProcess(
        connections: first, frames: frames, seconds: frames / hertz, pause: last,
        arguments[6...], stamps: stamps)
      process.run()
    default:
      let own = UncheckedStamps(values: UnsafePointer(stamps + first * frames))
      waiting {
        do {
          try await HostProcess.run(
            paths: paths, frames: frames, hertz: hertz, idle: last, stamps: own.values)
        } catch {
          FileHandle.standardError.write(Data("\(error)\n".utf8))
        }
      }
    }
  }

  private struct UncheckedStamps: @unchecked Sendable {
    // Safe because the other process writes a value before it sends the frame with its index.
    let values: UnsafePointer<UInt64>
  }

  /// Returns memory that processes share through a file.
  private static func shared(
    _ path: String, count: Int
  ) throws -> UnsafeMutablePointer<UInt64> {
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(file) }
    let size = count * MemoryLayout<UInt64>.size
    var status = stat()
    guard file >= 0, fstat(file, &status) == 0,
      Int(status.st_size) >= size || ftruncate(file, size) == 0,
      let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0),
      memory != MAP_FAILED
    else { throw CocoaError(.fileWriteUnknown) }
    return memory.bindMemory(to: UInt64.self, capacity: count)
  }
}
