// SPDX-License-Identifier: Apache-2.0

/// NXP SR1xx. Source: nxp.md 1.3 and 1.4, after NXP's own driver in NXP/uwb-driver-testapp.
///
/// The host writes the header and the payload in a selection each. To read it waits for IRQ, raises
/// RI, waits for IRQ to fall and to rise again, reads four bytes, then the payload; IRQ falls, and
/// RI has to.
struct SR1xxSide: ChipSide {
  private enum Phase {
    case idle, offered, loaded, headerRead, taken
  }

  /// Between header and payload. Source: 30 us in the predecessor of NXP's driver, the least that any
  /// public driver waits.
  private static let leastPause: UInt64 = 30_000
  /// CE low, and from CE high until the chip is on. Source: Google's driver, 80 us and 950 us.
  private static let leastOff: UInt64 = 80_000
  private static let leastOn: UInt64 = 950_000

  var state: SideState
  private var phase = Phase.idle
  private var header: [UInt8]?
  private var headerEnd: UInt64 = 0
  private var readIsHigh = false
  /// Switched on, it is in its loader.
  private let startsInLoader: Bool
  private var loader: HBCIRom?
  private var onSince: UInt64 = 0
  private var isHeldBack = false

  init(_ device: FarDevice, _ faults: FarFaults, startsInLoader: Bool = false) {
    state = SideState(device, faults)
    self.startsInLoader = startsInLoader
  }

  mutating func offerNext() {
    guard loader == nil else { return }
    guard phase == .idle, header == nil, !state.queue.isEmpty else { return }
    if isHeldBack {
      // The host may be waiting for just this.
      guard let retry = state.retryAt, monotonic() >= retry else { return }
      (isHeldBack, state.retryAt) = (false, nil)
    } else if state.faults.strikes(.midWrite) {
      isHeldBack = true
      state.retryAt = monotonic() + 5_000_000
      return
    }
    phase = .offered
    state.drive(.interrupt, high: true, state.faults.strikes(.missedEdge) ? .lost : .seen)
    // As a waveform of Google's driver shows: IRQ may pulse twice before RI takes effect.
    if state.faults.strikes(.doublePulse) {
      state.drive(.interrupt, high: false)
      state.drive(.interrupt, high: true)
    }
  }

  mutating func handle(_ event: FarDevice.Event) {
    switch event {
    case .line(.power, let high, let time):
      (phase, header, isHeldBack) = (.idle, nil, false)
      state.retryAt = nil
      loader = high && startsInLoader ? HBCIRom() : nil
      state.switched(high, at: time, boots: loader == nil, least: Self.leastOff)
      onSince = time
    case .line(.read, let high, _): readIndication(high)
    case .line, .written, .control: state.ledger.violated("a line that SR1xx has not was driven")
    case .selected(let bytes, let selection):
      if let answer = selected(bytes, selection) { state.device.answer(answer) }
    }
  }

  private mutating func readIndication(_ high: Bool) {
    readIsHigh = high
    switch (phase, high) {
    case (.offered, true):
      guard !state.faults.strikes(.deafToRI) else { return }
      state.drive(.interrupt, high: false)
      state.drive(.interrupt, high: true)
      phase = .loaded
    case _ where state.isHung: break
    case (.idle, true): state.ledger.violated("RI was raised while IRQ was low")
    case (.taken, false):
      phase = .idle
      offerNext()
    // The host has given up; the packet stays, and IRQ with it.
    case (.loaded, false), (.headerRead, false): phase = .offered
    default: break
    }
  }

  /// What the chip sends; nil: it has been sent.
  private mutating func selected(_ bytes: [UInt8], _ selection: FarDevice.Selection) -> [UInt8]? {
    state.ledger.speed = selection.speed
    if selection.mode & 0x3 != 0 {
      state.ledger.violated("SPI mode \(selection.mode & 0x3), not 0")
    }
    guard state.isOn else {
      state.ledger.violated("selected while CE is low")
      return []
    }
    guard !state.isHung else { return [] }
    if selection.began < onSince + Self.leastOn {
      state.ledger.violated("selected before it is on")
    }
    if loader != nil { return load(bytes) }
    switch phase {
    case .loaded:
      if bytes.count != 4 {
        state.ledger.violated("the header was read in \(bytes.count) bytes")
      }
      phase = .headerRead
      return Array(state.queue[0].prefix(4))
    case .headerRead:
      let payload = Array(state.queue[0].dropFirst(4))
      if bytes.count != payload.count {
        state.ledger.violated("\(bytes.count) bytes read of a payload of \(payload.count)")
      }
      state.queue.removeFirst()
      phase = .taken
      state.ledger.reads += 1
      // What goes out last is still on the wire when IRQ falls.
      state.device.answer(payload)
      state.drive(.interrupt, high: false)
      return nil
    case .taken: state.ledger.violated("selected again before RI fell")
    // With RI high it is no write, but a host that has not waited: it reads zeros, as Google's driver
    // notes.
    case .idle, .offered:
      if readIsHigh { state.ledger.early += 1 } else { write(bytes, selection) }
    }
    return []
  }

  private mutating func write(_ bytes: [UInt8], _ selection: FarDevice.Selection) {
    let end =
      selection.began + UInt64(bytes.count) * 8_000_000_000 / UInt64(max(selection.speed, 1))
    if let first = header {
      header = nil
      let pause = selection.began - min(headerEnd, selection.began)
      state.ledger.shortestPause = min(state.ledger.shortestPause ?? pause, pause)
      if pause < Self.leastPause { state.ledger.violated("\(pause) ns between header and payload") }
      if bytes.count != payloadLength(first) {
        state.ledger.violated("\(bytes.count) bytes of a payload of \(payloadLength(first))")
      }
      finishWrite(first + bytes)
    } else if bytes.count != 4 {
      state.ledger.violated("a header of \(bytes.count) bytes")
    } else {
      if phase == .offered {
        state.ledger.collisions += 1
        // IRQ may drop when the host writes, and comes back.
        state.drive(.interrupt, high: false)
        phase = .idle
      }
      headerEnd = end
      if isHeldBack {
        // Between the two halves of the write.
        (isHeldBack, state.retryAt) = (false, nil)
        phase = .offered
        state.ledger.count("offered in a write")
        state.drive(.interrupt, high: true)
      }
      if payloadLength(bytes) > 0 { header = bytes } else { finishWrite(bytes) }
    }
  }

  private mutating func finishWrite(_ packet: [UInt8]) {
    state.take(packet)
    if !state.isHung { offerNext() }
  }

  /// A selection while it is in its loader: IRQ says that it has an answer.
  private mutating func load(_ bytes: [UInt8]) -> [UInt8]? {
    guard let answer = loader?.answers.first else {
      loader?.take(bytes, &state)
      if loader?.answers.isEmpty == false { state.drive(.interrupt, high: true) }
      return []
    }
    if bytes.count != answer.count {
      state.ledger.violated("\(bytes.count) bytes read of an answer of \(answer.count)")
    }
    loader?.answers.removeFirst()
    state.drive(.interrupt, high: false)
    state.device.answer(answer)
    if loader?.isDone == true {
      loader = nil
      state.boot()
    }
    return nil
  }
}
