// SPDX-License-Identifier: Apache-2.0

/// What a kind of chip does with selections and lines. Made from the tables of what NXP's and
/// Qorvo's hosts do on their wires, not from this package's links.
protocol ChipSide {
  var state: SideState { get set }
  /// The host has done something.
  mutating func handle(_ event: FarDevice.Event)
  /// There are packets in the queue, or a time that was planned has come.
  mutating func offerNext()
}

extension ChipSide {
  /// Packets from the host that have come whole since the last call.
  mutating func takePackets() -> [[UInt8]] {
    defer { state.received = [] }
    return state.received
  }

  /// Power: nil when it has not changed since the last call.
  mutating func powerChange() -> Bool? {
    defer { state.power = nil }
    return state.power
  }

  /// Packets to the host.
  mutating func offer(_ packets: [[UInt8]]) {
    for packet in packets { state.say(packet) }
    offerNext()
  }
}

/// What every kind of chip keeps.
struct SideState {
  let device: FarDevice
  var faults: FarFaults
  var ledger = Ledger()
  /// Packets that the host has not taken yet.
  var queue: [[UInt8]] = []
  var received: [[UInt8]] = []
  var power: Bool?
  private(set) var isOn = false
  /// It has stopped doing anything until it is switched off and on.
  private(set) var isHung = false
  private var plans: [(line: FarDevice.Line, high: Bool, at: UInt64)] = []
  private var levels: [FarDevice.Line: Bool] = [:]
  /// When the host has drawn the line for power low.
  private var lowSince: UInt64?

  init(_ device: FarDevice, _ faults: FarFaults) {
    self.device = device
    self.faults = faults
  }

  /// The host has set the line for power; whatever was under way is forgotten. `boots`: the firmware
  /// runs from now on. `least`: nanoseconds that it has to be low at the least.
  mutating func switched(_ on: Bool, at time: UInt64, boots: Bool = true, least: UInt64) {
    isOn = on
    power = on && boots
    isHung = false
    (queue, received, plans) = ([], [], [])
    if on, let lowSince {
      ledger.count("resets")
      if time < lowSince + least { ledger.violated("power was low for \(time - lowSince) ns") }
    }
    lowSince = on ? nil : time
    for (line, high) in levels where high { drive(line, high: false) }
  }

  /// The firmware runs from now on.
  mutating func boot() { power = true }

  /// The chip sets a line.
  mutating func drive(_ line: FarDevice.Line, high: Bool, _ how: FarDevice.Edge = .seen) {
    levels[line] = high
    device.drive(line, high: high, how)
  }

  func isHigh(_ line: FarDevice.Line) -> Bool { levels[line] ?? false }

  /// A packet for the host.
  mutating func say(_ packet: [UInt8]) {
    guard isOn, !isHung else { return }
    if packet[0] == 0x62, packet[1] & 0x3F == 0, faults.strikes(.hangRanging) { return hang() }
    queue.append(packet)
  }

  /// A command has come whole.
  mutating func take(_ packet: [UInt8]) {
    ledger.writes += 1
    if faults.strikes(.hang) { hang() }
    if !isHung, !faults.strikes(.silent) { received.append(packet) }
  }

  private mutating func hang() {
    isHung = true
    (queue, plans) = ([], [])
    for (line, high) in levels where high { drive(line, high: false) }
  }

  /// The chip sets a line at a time: nanoseconds of CLOCK_MONOTONIC.
  mutating func plan(_ line: FarDevice.Line, high: Bool, at time: UInt64) {
    plans.append((line, high, time))
  }

  /// When the side wants to be asked again.
  var retryAt: UInt64?
  /// When the next line is due.
  var due: UInt64? { (plans.map(\.at) + (retryAt.map { [$0] } ?? [])).min() }

  /// Sets the lines that are due by now.
  mutating func drivePlanned(at now: UInt64) {
    let due = plans.filter { $0.at <= now }.sorted { $0.at < $1.at }
    plans.removeAll { $0.at <= now }
    for plan in due { drive(plan.line, high: plan.high) }
  }
}

/// What was counted, and what the host did that the tables do not allow.
struct Ledger {
  var reads = 0
  var writes = 0
  /// Writes while a packet was being offered.
  var collisions = 0
  /// Reads of what was not loaded.
  var early = 0
  /// Wakes, resets, and what else belongs to one kind of chip.
  var others: [String: Int] = [:]
  /// Nanoseconds between the header of a write and its payload, at the least.
  var shortestPause: UInt64?
  /// Hertz, of the last selection.
  var speed: UInt32 = 0
  private(set) var violations: [String] = []

  mutating func count(_ what: String) { others[what, default: 0] += 1 }

  mutating func violated(_ text: String) {
    if violations.count < 20 { violations.append(text) }
  }

  /// One line, and one for each violation.
  var text: String {
    let pause = shortestPause.map { "\($0 / 1_000) us" } ?? "none"
    let more = others.sorted { $0.key < $1.key }.map { ", \($0.value) \($0.key)" }.joined()
    return
      ([
        "\(reads) reads, \(writes) writes, \(collisions) collisions, \(early) early, shortest pause \(pause), "
          + "\(speed) Hz\(more), \(violations.count) violations"
      ] + violations).joined(separator: "\n")
  }
}

/// The length of NXP's and FiRa's packets behind their first four bytes. Source: nxp.md 1.2.
func payloadLength(_ header: [UInt8]) -> Int {
  guard header[0] >> 5 == 0 || header[1] & 0x80 != 0 else { return Int(header[3]) }
  return Int(header[3]) << 8 | Int(header[2])
}
