// SPDX-License-Identifier: Apache-2.0

import Glibc
import UWBSimulator

/// A simulated chip on SPI, and a second one on a pseudo-terminal for it to range with.
struct FarServer {
  private var device: FarDevice
  private var side: any ChipSide
  private var simulation = Simulation(scene: Scene(seed: 7))
  private let chip: Simulation.ChipID
  private let peer: Simulation.ChipID
  private let terminal: Int32
  private var control: Control.Reader
  private let beginning = monotonic()

  static func run(_ arguments: [String]) {
    var arguments = arguments
    guard let kind = option("--chip", in: &arguments),
      let control = option("--control", in: &arguments),
      let link = option("--peer", in: &arguments)
    else { fail("far --chip sr150|sr250 --control FIFO --peer LINK [--faults LIST]") }
    let faults = FarFaults(option("--faults", in: &arguments) ?? "")
    let device = FarDevice()
    let side: any ChipSide
    switch kind {
    case "sr150": side = SR1xxSide(device, faults)
    case "sr250": side = SR2xxSide(device, faults)
    default: fail("'\(kind)' is no chip")
    }
    var server = FarServer(device, side, control: control, peer: link)
    while true { server.step() }
  }

  private init(_ device: FarDevice, _ side: any ChipSide, control: String, peer link: String) {
    self.device = device
    self.side = side
    self.control = Control.Reader(control)
    guard let profile = ChipProfile.named("sr250"), let other = ChipProfile.named("qm33") else {
      fail("the simulator has no such profile")
    }
    chip = simulation.add(profile, at: Position(0, 0, 1))
    peer = simulation.add(other, at: Position(3, 0, 1))
    terminal = Self.pseudoTerminal(link)
    simulation.powerUp(peer)
  }

  private var now: UInt64 { monotonic() - beginning }

  private mutating func step() {
    simulation.advance(to: now)
    side.offer(simulation.takeOutput(of: chip))
    for packet in simulation.takeOutput(of: peer) { _ = write(terminal, packet, packet.count) }
    var waiting = [device.descriptor, terminal, control.descriptor].map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    let wait = simulation.nextDeadline.map {
      $0 > now ? Int32(clamping: ($0 - now + 999_999) / 1_000_000) : 0
    }
    poll(&waiting, nfds_t(waiting.count), wait ?? -1)
    simulation.advance(to: now)
    while let event = device.next() {
      side.handle(event)
      if let isOn = side.powerChange() {
        if isOn { simulation.powerUp(chip) } else { simulation.powerDown(chip) }
      }
      for packet in side.takePackets() { simulation.receive(packet, by: chip) }
    }
    var octets = [UInt8](repeating: 0, count: 4_096)
    let count = read(terminal, &octets, octets.count)
    if count > 0 { simulation.receive(Array(octets[..<count]), by: peer) }
    for line in control.lines() { obey(line) }
  }

  /// `report FILE`: what was seen so far.
  private func obey(_ line: String) {
    let words = line.split(separator: " ").map(String.init)
    guard words.first == "report", words.count == 2 else { return say("'\(line)' is no command") }
    let descriptor = open(words[1], O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    say(side.ledger.text, on: descriptor)
    close(descriptor)
  }

  /// A pseudo-terminal in raw mode with a link to it; the other end is held open.
  private static func pseudoTerminal(_ link: String) -> Int32 {
    let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
    // TIOCGPTN and TIOCSPTLCK of <asm-generic/ioctls.h>.
    var number: UInt32 = 0
    var lock: Int32 = 0
    guard ioctl(master, 0x8004_5430, &number) == 0, ioctl(master, 0x4004_5431, &lock) == 0 else {
      fail("there is no pseudo-terminal: \(lastError)")
    }
    let path = "/dev/pts/\(number)"
    let slave = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    var settings = termios()
    guard slave >= 0, tcgetattr(slave, &settings) == 0 else { fail("\(path): \(lastError)") }
    cfmakeraw(&settings)
    tcsetattr(slave, TCSANOW, &settings)
    chmod(path, 0o666)
    unlink(link)
    guard symlink(path, link) == 0 else { fail("\(link): \(lastError)") }
    return master
  }
}
