// SPDX-License-Identifier: Apache-2.0

/// NXP SR1xx. Source: nxp.md 1.3 and 1.4, after NXP's own driver in NXP/uwb-driver-testapp.
///
/// The host writes the header and the payload in a selection each. To read it waits for IRQ, raises
/// RI, waits for IRQ to fall and to rise again, reads four octets, then the payload; IRQ falls, and
/// RI has to.
struct SR1xxSide: ChipSide {
  private enum Phase {
    case idle, offered, loaded, headerRead, taken
  }

  /// Between header and payload. Source: 30 us in the predecessor of NXP's driver, the least that any
  /// public driver waits.
  private static let leastPause: UInt64 = 30_000

  let device: FarDevice
  var faults: FarFaults
  private(set) var ledger = Ledger()
  private var phase = Phase.idle
  private var queue: [[UInt8]] = []
  private var received: [[UInt8]] = []
  private var header: [UInt8]?
  private var headerEnd: UInt64 = 0
  private var power: Bool?
  private var isOn = false
  private var readIsHigh = false

  init(_ device: FarDevice, _ faults: FarFaults) {
    self.device = device
    self.faults = faults
  }

  mutating func takePackets() -> [[UInt8]] {
    defer { received = [] }
    return received
  }

  mutating func powerChange() -> Bool? {
    defer { power = nil }
    return power
  }

  mutating func offer(_ packets: [[UInt8]]) {
    if isOn { queue += packets }
    offerNext()
  }

  private mutating func offerNext() {
    guard phase == .idle, header == nil, !queue.isEmpty else { return }
    phase = .offered
    device.drive(.interrupt, high: true)
    // As a waveform of Google's driver shows: IRQ may pulse twice before RI takes effect.
    if faults.strikes(.doublePulse) {
      device.drive(.interrupt, high: false)
      device.drive(.interrupt, high: true)
    }
  }

  mutating func handle(_ event: FarDevice.Event) {
    switch event {
    case .line(.power, let high):
      isOn = high
      power = high
      (phase, queue, header) = (.idle, [], nil)
      device.drive(.interrupt, high: false)
    case .line(.read, let high): readIndication(high)
    case .line: ledger.violated("a line that SR1xx has not was driven")
    case .selected(let octets, let selection):
      if let answer = selected(octets, selection) { device.answer(answer) }
    }
  }

  private mutating func readIndication(_ high: Bool) {
    readIsHigh = high
    switch (phase, high) {
    case (.offered, true):
      guard !faults.strikes(.deafToRI) else { return }
      device.drive(.interrupt, high: false)
      device.drive(.interrupt, high: true)
      phase = .loaded
    case (.idle, true): ledger.violated("RI was raised while IRQ was low")
    case (.taken, false):
      phase = .idle
      offerNext()
    // The host has given up; the packet stays, and IRQ with it.
    case (.loaded, false), (.headerRead, false): phase = .offered
    default: break
    }
  }

  /// What the chip sends; nil: it has been sent.
  private mutating func selected(_ octets: [UInt8], _ selection: FarDevice.Selection) -> [UInt8]? {
    ledger.speed = selection.speed
    if selection.mode & 0x3 != 0 { ledger.violated("SPI mode \(selection.mode & 0x3), not 0") }
    guard isOn else {
      ledger.violated("selected while CE is low")
      return []
    }
    switch phase {
    case .loaded:
      if octets.count != 4 { ledger.violated("the header was read in \(octets.count) octets") }
      phase = .headerRead
      return Array(queue[0].prefix(4))
    case .headerRead:
      let payload = Array(queue[0].dropFirst(4))
      if octets.count != payload.count {
        ledger.violated("\(octets.count) octets read of a payload of \(payload.count)")
      }
      queue.removeFirst()
      phase = .taken
      ledger.reads += 1
      // What goes out last is still on the wire when IRQ falls.
      device.answer(payload)
      device.drive(.interrupt, high: false)
      return nil
    case .taken: ledger.violated("selected again before RI fell")
    // With RI high it is no write, but a host that has not waited: it reads zeros, as Google's driver
    // notes.
    case .idle, .offered:
      if readIsHigh { ledger.early += 1 } else { write(octets, selection) }
    }
    return []
  }

  private mutating func write(_ octets: [UInt8], _ selection: FarDevice.Selection) {
    let end =
      selection.began + UInt64(octets.count) * 8_000_000_000 / UInt64(max(selection.speed, 1))
    if let first = header {
      header = nil
      let pause = selection.began - min(headerEnd, selection.began)
      ledger.shortestPause = min(ledger.shortestPause ?? pause, pause)
      if pause < Self.leastPause { ledger.violated("\(pause) ns between header and payload") }
      if octets.count != payloadLength(first) {
        ledger.violated("\(octets.count) octets of a payload of \(payloadLength(first))")
      }
      finishWrite(first + octets)
    } else if octets.count != 4 {
      ledger.violated("a header of \(octets.count) octets")
    } else {
      if phase == .offered {
        ledger.collisions += 1
        // IRQ may drop when the host writes, and comes back.
        device.drive(.interrupt, high: false)
        phase = .idle
      }
      headerEnd = end
      if payloadLength(octets) > 0 { header = octets } else { finishWrite(octets) }
    }
  }

  private mutating func finishWrite(_ packet: [UInt8]) {
    ledger.writes += 1
    received.append(packet)
    if faults.strikes(.silent) { received.removeLast() }
    offerNext()
  }
}

/// What a far side does wrong on purpose: each kind every so many times.
struct FarFaults {
  enum Kind: String, CaseIterable {
    /// IRQ falls and rises once more before RI takes effect.
    case doublePulse = "double-pulse"
    /// RI is not seen: the host has to give up and try again.
    case deafToRI = "deaf-to-ri"
    /// A command is lost.
    case silent
  }

  private var every: [Kind: Int] = [:]
  private var counts: [Kind: Int] = [:]

  /// `double-pulse=3,deaf-to-ri=50`
  init(_ text: String) {
    for part in text.split(separator: ",") {
      let words = part.split(separator: "=").map(String.init)
      guard words.count == 2, let kind = Kind(rawValue: words[0]), let count = Int(words[1]),
        count > 0
      else { fail("'\(part)' is no fault") }
      every[kind] = count
    }
  }

  mutating func strikes(_ kind: Kind) -> Bool {
    guard let every = every[kind] else { return false }
    counts[kind, default: 0] += 1
    return counts[kind, default: 0] % every == 0
  }
}
