// SPDX-License-Identifier: Apache-2.0

import Glibc
import UWBSimulator

/// Simulated chips behind gadgets, in one scene. The cable powers a chip, so that an unplugged chip
/// loses its state, as on a board.
struct ChipServer {
  private var simulation = Simulation(scene: Scene(seed: 7))
  private var ports: [GadgetPort]
  private var chips: [Simulation.ChipID] = []
  private var control: Control.Reader
  private let beginning = monotonic()
  /// Boards to be plugged in again, and the times for it.
  private var returns: [(port: Int, at: UInt64)] = []
  /// Boards that are unplugged in the middle of their next notification.
  private var cuts: Set<Int> = []
  private var returnAfterCut: UInt64?
  private var stamps: [Stamps] = []

  static func run(_ arguments: [String]) {
    var arguments = arguments
    guard let control = option("--control", in: &arguments), !arguments.isEmpty else {
      fail("chips --control FIFO TERMINAL,GADGET,CONTROLLER[,bridge]…")
    }
    var server = ChipServer(ports: arguments.map(GadgetPort.init), control: control)
    while true { server.step() }
  }

  private init(ports: [GadgetPort], control: String) {
    self.ports = ports
    self.control = Control.Reader(control)
    stamps = ports.map { _ in Stamps() }
    for index in ports.indices {
      let name = ports[index].bridge == nil ? "qm33" : "sr250"
      guard let profile = ChipProfile.named(name) else { fail("'\(name)' is no profile") }
      chips.append(simulation.add(profile, placement: .init(at: SIMD3(3 * Double(index), 0, 1))))
    }
    for index in ports.indices {
      if ports[index].hasCable { followCable(index) } else { simulation.powerUp(chips[index]) }
    }
  }

  private var now: UInt64 { monotonic() - beginning }

  private mutating func step() {
    simulation.advance(to: now)
    for index in ports.indices { pass(simulation.takeOutput(of: chips[index]), to: index) }
    var waiting = [pollfd(fd: control.descriptor, events: Int16(POLLIN), revents: 0)]
    waiting += ports.flatMap(\.waiting)
    let deadline = ([simulation.nextDeadline] + returns.map(\.at)).compactMap { $0 }.min()
    poll(&waiting, nfds_t(waiting.count), milliseconds(until: deadline, from: now))

    for index in ports.indices {
      if waiting[1 + 2 * index].revents != 0 { followCable(index) }
      if waiting[2 + 2 * index].revents != 0 { serve(index) }
    }
    let time = now
    for (port, at) in returns where at <= time { ports[port].plug() }
    returns.removeAll { $0.at <= time }
    if waiting[0].revents != 0 { for line in control.lines() { obey(line) } }
  }

  private mutating func serve(_ index: Int) {
    guard let bytes = ports[index].received() else {
      // The cable is unplugged; /dev/ttyGS hangs up and has to be opened again.
      ports[index].closeTerminal()
      if ports[index].isConfigured { ports[index].openTerminal() }
      return
    }
    simulation.advance(to: now)
    if ports[index].bridge == nil {
      if !bytes.isEmpty { simulation.receive(bytes, by: chips[index]) }
    } else {
      for command in ports[index].bridge?.take(bytes) ?? [] { obey(command, index) }
    }
    ports[index].flush()
  }

  private mutating func followCable(_ index: Int) {
    guard let isConfigured = ports[index].stateChange() else { return }
    simulation.advance(to: now)
    ports[index].closeTerminal()
    if isConfigured {
      ports[index].openTerminal()
      // The chip behind a bridge starts in its loader, until the host starts the firmware.
      if ports[index].bridge == nil { simulation.powerUp(chips[index]) }
    } else {
      simulation.powerDown(chips[index])
    }
  }

  /// A command from the host to the board itself.
  private mutating func obey(_ command: Bridge.Command, _ index: Int) {
    switch command {
    case .packet(let packet): simulation.receive(packet, by: chips[index])
    case .reset:
      simulation.powerDown(chips[index])
      ports[index].send(Bridge.resetAnswer)
    case .leaveLoader: simulation.powerUp(chips[index])
    }
  }

  private mutating func pass(_ packets: [[UInt8]], to index: Int) {
    for packet in packets {
      stamps[index].note(packet)
      // A notification of a measurement is long enough to have a middle.
      guard cuts.contains(index), packet.count > 16 else {
        ports[index].send(packet)
        continue
      }
      cuts.remove(index)
      ports[index].send(Array(packet[..<(packet.count / 2)]))
      ports[index].drain()
      // The half in the port's buffer still has to be transmitted over USB.
      usleep(20_000)
      pull(index)
      if let returnAfterCut { returns.append((index, now + returnAfterCut)) }
      return
    }
  }

  private mutating func pull(_ index: Int) {
    ports[index].unplug()
    followCable(index)
  }

  // MARK: commands

  /// `hello`, `unplug N`, `plug N`, `replug N MS`, `cut N [MS]`, `chatter N HEX`, `mute N 0|1`,
  /// `stamps N FILE`, `report N FILE`.
  private mutating func obey(_ line: String) {
    let words = line.split(separator: " ").map(String.init)
    let index = words.count > 1 ? Int(words[1]) ?? 0 : 0
    guard ports.indices.contains(index) else { return say("there is no board \(index)") }
    let milliseconds = words.count > 2 ? UInt64(words[2]) : nil
    switch words.first {
    case "hello": say("\(ports.count) chips")
    case "unplug": pull(index)
    case "plug": ports[index].plug()
    case "replug":
      pull(index)
      returns.append((index, now + (milliseconds ?? 100) * 1_000_000))
    case "cut":
      cuts.insert(index)
      returnAfterCut = milliseconds.map { $0 * 1_000_000 }
    case "chatter":
      ports[index].send(Control.bytes(words.count > 2 ? words[2] : ""))
    case "mute": simulation[chips[index]].chip.faults.mute = milliseconds == 1
    case "stamps" where words.count > 2: stamps[index].save(to: words[2])
    case "report" where words.count > 2:
      Stamps.save([ports[index].bridge?.text ?? "no bridge"], to: words[2])
    default: say("'\(line)' is no command")
    }
  }
}
