// SPDX-License-Identifier: Apache-2.0

import Glibc
import UWBSimulator

/// A simulated chip on SPI or behind a vendor's device, and its peer on a pseudo-terminal.
struct ChipModelServer {
  private var device: BenchDevice
  private let model: ChipModel
  private var simulation = Simulation(scene: Scene(seed: 7))
  private let chip: Simulation.ChipID
  private let peer: Simulation.ChipID
  private let terminal: Int32
  private var control: Control.Reader
  private let beginning = monotonic()
  private var stamps = (chip: Stamps(), peer: Stamps())

  static func run(_ arguments: [String]) {
    var arguments = arguments
    guard let kind = option("--chip", in: &arguments),
      let control = option("--control", in: &arguments),
      let link = option("--peer", in: &arguments)
    else {
      fail("chip --chip NAME --control FIFO --peer LINK [--faults LIST] [--loader]")
    }
    let faults = option("--faults", in: &arguments) ?? ""
    let device = BenchDevice()
    guard
      let model = ChipModel(
        kind, faults, startsInLoader: arguments.contains("--loader"), device)
    else { fail("'\(kind)' is no chip, or '\(faults)' is no list of faults") }
    let profile = kind == "qm35" || kind == "uci" ? "qm33" : "sr250"
    var server = ChipModelServer(device, model, profile, control: control, peer: link)
    while true { server.step() }
  }

  private init(
    _ device: BenchDevice, _ model: ChipModel, _ name: String, control: String, peer link: String
  ) {
    self.device = device
    self.model = model
    self.control = Control.Reader(control)
    guard let profile = ChipProfile.named(name), let other = ChipProfile.named("qm33") else {
      fail("the simulator has no such profile")
    }
    chip = simulation.add(profile, placement: .init(at: SIMD3(0, 0, 1)))
    peer = simulation.add(other, placement: .init(at: SIMD3(3, 0, 1)))
    terminal = pseudoTerminal(link)
    simulation.powerUp(peer)
  }

  private var now: UInt64 { monotonic() - beginning }

  private mutating func step() {
    simulation.advance(to: now)
    let packets = simulation.takeOutput(of: chip)
    for packet in packets { stamps.chip.note(packet) }
    model.advance()
    for packet in packets { model.say(packet) }
    model.advance()
    for packet in simulation.takeOutput(of: peer) {
      stamps.peer.note(packet)
      _ = write(terminal, packet, packet.count)
    }
    wait()
    simulation.advance(to: now)
    while let event = device.next() {
      model.handle(event)
      if let isOn = model.takePowerChange() {
        if isOn { simulation.powerUp(chip) } else { simulation.powerDown(chip) }
      }
      for packet in model.takePackets() { simulation.receive(packet, by: chip) }
    }
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = read(terminal, &bytes, bytes.count)
    if count > 0 { simulation.receive(Array(bytes[..<count]), by: peer) }
    for line in control.lines() { obey(line) }
  }

  /// Waits until the host, the simulation or the model needs an action.
  private func wait() {
    var waiting = [device.descriptor, terminal, control.descriptor].map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    let due = [simulation.nextDeadline, model.due.map { $0 - min(beginning, $0) }]
    let next = due.compactMap { $0 }.min()
    // poll(2) waits for whole milliseconds, but the chips' lines change in less time.
    let left = next.map { $0 - min(now, $0) } ?? .max
    if left < 1_000_000 {
      var time = timespec(tv_sec: 0, tv_nsec: Int(left))
      nanosleep(&time, nil)
    }
    poll(
      &waiting, nfds_t(waiting.count), left < 1_000_000 ? 0 : milliseconds(until: next, from: now))
  }

  /// `report FILE`: writes the counts of the model. `stamps FILE FILE`: writes the times of the
  /// measurements of the chip and its peer. `state N`: sets the state that the vendor's device
  /// reports.
  private func obey(_ line: String) {
    let words = line.split(separator: " ").map(String.init)
    switch (words.first, words.count) {
    case ("report", 2): Stamps.save([model.ledger], to: words[1])
    case ("stamps", 3):
      stamps.chip.save(to: words[1])
      stamps.peer.save(to: words[2])
    case ("state", 2): device.report(state: UInt32(words[1]) ?? 0)
    default: say("'\(line)' is no command")
    }
  }
}
