// SPDX-License-Identifier: Apache-2.0

/// NXP SR2xx. Source: nxp.md 1.5, after NXP's Zephyr SDK and Samsung's kernel.
///
/// The first byte of each selection is the direction: 00 and a whole packet, or FF, behind which the
/// chip sends a dummy byte and the header, then, in a selection of its own, a dummy byte and the
/// payload. There is no RI, and IRQ may rise again at once. The loader's frames travel likewise, with
/// a header of two bytes. How it is left is not published: a chip that starts in it stays there.
struct SR2xxSide: ChipSide {
  /// From IRQ to the first selection. Source: NXP's Zephyr SDK waits 500 us.
  private static let leastWait: UInt64 = 500_000
  /// Before a write, since whatever was moved last. Source: it waits 2 ms.
  private static let leastBeforeWrite: UInt64 = 2_000_000
  /// RSTN low. Source: it waits 10 ms.
  private static let leastReset: UInt64 = 10_000_000

  var state: SideState
  private var headerRead = false
  private var raisedAt: UInt64?
  private var movedAt: UInt64 = 0
  private let startsInLoader: Bool
  private var loader: HDLLFlash?

  init(_ device: FarDevice, _ faults: FarFaults, startsInLoader: Bool = false) {
    state = SideState(device, faults)
    self.startsInLoader = startsInLoader
  }

  mutating func offerNext() {
    guard raisedAt == nil, !headerRead, !state.queue.isEmpty else { return }
    raisedAt = monotonic()
    state.drive(.interrupt, high: true, state.faults.strikes(.missedEdge) ? .lost : .seen)
  }

  mutating func handle(_ event: FarDevice.Event) {
    switch event {
    case .line(.power, let high, let time):
      (headerRead, raisedAt) = (false, nil)
      loader = high && startsInLoader ? HDLLFlash() : nil
      state.switched(high, at: time, boots: loader == nil, least: Self.leastReset)
      if loader != nil { state.queue = [HDLLFlash.ready] }
      offerNext()
    case .line, .written, .control: state.ledger.violated("a line that SR2xx has not was driven")
    case .selected(let bytes, let selection):
      state.ledger.speed = selection.speed
      guard state.isOn, let direction = bytes.first else {
        state.ledger.violated("selected while RSTN is low, or for nothing")
        return state.device.answer([])
      }
      guard !state.isHung else { return state.device.answer([]) }
      defer {
        movedAt =
          selection.began + UInt64(bytes.count) * 8_000_000_000 / UInt64(max(selection.speed, 1))
      }
      switch direction {
      case 0x00:
        if movedAt > 0, selection.began < movedAt + Self.leastBeforeWrite {
          state.ledger.violated("written \(selection.began - movedAt) ns after a transfer")
        }
        take(Array(bytes.dropFirst()))
      case 0xFF: give(bytes.count - 1, selection)
      default:
        state.ledger.violated("direction \(direction)")
        state.device.answer([])
      }
    }
  }

  private mutating func take(_ packet: [UInt8]) {
    if raisedAt != nil { state.ledger.collisions += 1 }
    if loader != nil {
      state.ledger.writes += 1
      let flips = packet.count > 12 && state.faults.strikes(.flippedBit)
      let frame = flips ? packet.dropLast() + [packet[packet.count - 1] ^ 0x04] : packet
      state.queue += loader?.answers(to: frame, &state) ?? []
    } else if packet.count < 4 || packet.count != 4 + payloadLength(packet) {
      state.ledger.violated("a packet of \(packet.count) bytes")
    } else {
      state.take(packet)
    }
    state.device.answer([])
    if !state.isHung { offerNext() }
  }

  private mutating func give(_ count: Int, _ selection: FarDevice.Selection) {
    guard !state.queue.isEmpty, let raised = raisedAt else {
      state.ledger.violated("read while there is nothing")
      return state.device.answer([])
    }
    let header = loader == nil ? 4 : 2
    guard headerRead else {
      let wait = selection.began - min(raised, selection.began)
      state.ledger.shortestPause = min(state.ledger.shortestPause ?? wait, wait)
      if wait < Self.leastWait { state.ledger.violated("read \(wait) ns after IRQ") }
      if count != header { state.ledger.violated("the header was read in \(count) bytes") }
      headerRead = true
      return state.device.answer([0xFF] + state.queue[0].prefix(header))
    }
    let payload = state.queue.removeFirst().dropFirst(header)
    if count != payload.count {
      state.ledger.violated("\(count) bytes of a payload of \(payload.count)")
    }
    state.ledger.reads += 1
    (headerRead, raisedAt) = (false, nil)
    // It goes low before the selection ends, and high again for the next packet while the host is
    // still busy with this one.
    state.drive(.interrupt, high: false)
    state.device.answer([0xFF] + payload)
    offerNext()
  }
}
