// SPDX-License-Identifier: Apache-2.0
import CUWBTestSupport
import Glibc
import SystemPackage
import UWBSimulator

/// A process with chips on pseudo-terminals. The chips are simulated and answer commands. Their
/// measurements, however, are frames at even intervals, so that the time of each is known. The
/// process prints the path of each chip, and at the end its own processor time.
struct ChipProcess {
  /// The number of the first frame. It is greater than the numbers of the simulated chip's own
  /// rounds.
  static let firstNumber = 1_000

  private let chips: Int
  private let frames: Int
  private let measurements: Int
  private let period: UInt64
  private let stamps: UnsafeMutablePointer<UInt64>
  private var simulation = Simulation(scene: Scene(seed: 3))
  private var terminals: [PseudoTerminal] = []
  private var random = SplitMix(state: 11)
  private var started: Set<Int> = []
  private var buffer = [UInt8](repeating: 0, count: 4_096)
  private let start = cuwb_test_now()

  /// - Parameters:
  ///   - measurements: The number of measurements in each frame.
  ///   - stamps: The memory for the time of each frame, one chip after the other.
  init(
    chips: Int, hertz: Int, frames: Int, measurements: Int, stamps: UnsafeMutablePointer<UInt64>
  ) throws {
    (self.chips, self.frames, self.stamps) = (chips, frames, stamps)
    self.measurements = measurements
    period = 1_000_000_000 / UInt64(hertz)
    for _ in 0..<chips {
      let id = simulation.add(.fira1, placement: Placement(at: SIMD3(0, 0, 1)))
      simulation.powerUp(id)
      terminals.append(try PseudoTerminal())
    }
  }

  /// Runs until the end of standard input.
  mutating func run() {
    for terminal in terminals { print(terminal.path) }
    fflush(nil)
    while started.count < chips {
      guard serve(timeout: 10) else { return }
    }
    let first = cuwb_test_now() + 500_000_000
    for step in 0..<frames * chips {
      // Frames are evenly distributed over the period, like frames of independent chips.
      let (number, chip) = step.quotientAndRemainder(dividingBy: chips)
      let due = first + UInt64(number) * period + UInt64(chip) * period / UInt64(chips)
      let frame = Frames.packets(
        number: UInt32(Self.firstNumber + number), measurements: measurements, &random)
      cuwb_test_sleep_until(due)
      stamps[chip * frames + number] = cuwb_test_now()
      write(chip, frame)
    }
    var usage = rusage()
    getrusage(Int32(RUSAGE_SELF.rawValue), &usage)
    print(usage.microseconds)
    fflush(nil)
    while serve(timeout: 1_000) {}
  }

  /// Answers the commands that have arrived. Returns whether a client is connected.
  private mutating func serve(timeout: Int32) -> Bool {
    var entries = terminals.map {
      pollfd(fd: $0.master.rawValue, events: Int16(POLLIN), revents: 0)
    }
    entries.append(pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0))
    poll(&entries, nfds_t(entries.count), timeout)
    simulation.advance(to: cuwb_test_now() - start)
    for (chip, id) in simulation.chips.enumerated() {
      if entries[chip].revents != 0 {
        let count = read(terminals[chip].master.rawValue, &buffer, buffer.count)
        if count > 1 {
          simulation.receive(Array(buffer[..<count]), by: id)
          // SESSION_START
          if buffer[0] == 0x22, buffer[1] == 0x00 { started.insert(chip) }
        }
      }
      for packet in simulation.takeOutput(of: id) { write(chip, packet) }
    }
    return entries[chips].revents == 0
  }

  private func write(_ chip: Int, _ bytes: [UInt8]) {
    _ = Glibc.write(terminals[chip].master.rawValue, bytes, bytes.count)
  }
}

extension rusage {
  /// The processor time in microseconds.
  var microseconds: Int {
    1_000_000 * (ru_utime.tv_sec + ru_stime.tv_sec) + Int(ru_utime.tv_usec + ru_stime.tv_usec)
  }
}
