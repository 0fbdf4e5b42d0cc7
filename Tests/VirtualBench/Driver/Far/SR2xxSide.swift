// SPDX-License-Identifier: Apache-2.0

/// NXP SR2xx that runs its firmware. Source: nxp.md 1.5, after NXP's Zephyr SDK and Samsung's kernel.
///
/// The first octet of each selection is the direction: 00 and a whole packet, or FF, behind which the
/// chip sends a dummy octet and the header, then, in a selection of its own, a dummy octet and the
/// payload. There is no RI, and IRQ may rise again at once.
struct SR2xxSide: ChipSide {
  /// From IRQ to the first selection. Source: NXP's Zephyr SDK waits 500 us.
  private static let leastWait: UInt64 = 500_000

  let device: FarDevice
  var faults: FarFaults
  private(set) var ledger = Ledger()
  private var queue: [[UInt8]] = []
  private var received: [[UInt8]] = []
  private var headerRead = false
  private var raisedAt: UInt64?
  private var isOn = false
  private var power: Bool?

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
    guard raisedAt == nil, !headerRead, !queue.isEmpty else { return }
    // Lost by the host: only the level shows it.
    raisedAt = monotonic()
    device.drive(.interrupt, high: true)
  }

  mutating func handle(_ event: FarDevice.Event) {
    switch event {
    case .line(.power, let high):
      isOn = high
      power = high
      (queue, headerRead, raisedAt) = ([], false, nil)
      device.drive(.interrupt, high: false)
    case .line: ledger.violated("a line that SR2xx has not was driven")
    case .selected(let octets, let selection):
      ledger.speed = selection.speed
      guard isOn, let direction = octets.first else {
        ledger.violated("selected while RSTN is low, or for nothing")
        return device.answer([])
      }
      switch direction {
      case 0x00: take(Array(octets.dropFirst()))
      case 0xFF: give(octets.count - 1, selection)
      default:
        ledger.violated("direction \(direction)")
        device.answer([])
      }
    }
  }

  private mutating func take(_ packet: [UInt8]) {
    if packet.count < 4 || packet.count != 4 + payloadLength(packet) {
      ledger.violated("a packet of \(packet.count) octets")
    } else {
      if raisedAt != nil { ledger.collisions += 1 }
      ledger.writes += 1
      received.append(packet)
    }
    device.answer([])
  }

  private mutating func give(_ count: Int, _ selection: FarDevice.Selection) {
    guard !queue.isEmpty, let raised = raisedAt else {
      ledger.violated("read while there is nothing")
      return device.answer([])
    }
    guard headerRead else {
      let wait = selection.began - min(raised, selection.began)
      ledger.shortestPause = min(ledger.shortestPause ?? wait, wait)
      if wait < Self.leastWait { ledger.violated("read \(wait) ns after IRQ") }
      if count != 4 { ledger.violated("the header was read in \(count) octets") }
      headerRead = true
      return device.answer([0xFF] + queue[0].prefix(4))
    }
    let payload = queue.removeFirst().dropFirst(4)
    if count != payload.count {
      ledger.violated("\(count) octets of a payload of \(payload.count)")
    }
    ledger.reads += 1
    (headerRead, raisedAt) = (false, nil)
    // It goes low before the selection ends, and high again for the next packet while the host is
    // still busy with this one.
    device.drive(.interrupt, high: false)
    device.answer([0xFF] + payload)
    offerNext()
  }
}
