// SPDX-License-Identifier: Apache-2.0

/// Qorvo QM35. Source: qorvo.md 2.1 and 2.2, after Qorvo's GPL driver and its newer relatives.
///
/// In each selection both sides send a header of four bytes (flags, layer, length with the lower
/// byte first), then the payload goes one way. SS_RDY is high while the chip takes part; a pre-read
/// asks what there is, a read repeats what was said and takes it.
struct HSSPISide: ChipSide {
  private enum Host {
    static let write: UInt8 = 0x80
    static let preread: UInt8 = 0x40
    static let read: UInt8 = 0x20
  }
  private enum Chip {
    static let waiting: UInt8 = 0x80
    static let active: UInt8 = 0x40
    static let ready: UInt8 = 0x20
    static let error: UInt8 = 0x10
  }
  private static let layer: UInt8 = 2

  /// RESET low, and from there to the first transfer. Source: qm35.h.
  private static let leastReset: UInt64 = 2_000_000
  private static let leastBoot: UInt64 = 450_000_000
  /// WAKEUP high, or a selection that wakes, and from there to the first transfer. Source: newer
  /// drivers.
  private static let leastWake: UInt64 = 500_000
  private static let leastAwake: UInt64 = 3_000_000
  /// Between selection and the first clock, in microseconds. Source: hsspi.c.
  private static let leastSetup: UInt32 = 5
  /// Hertz; Qorvo's firmware updater goes as fast.
  private static let fastest: UInt32 = 20_000_000
  /// So much it puts into one read.
  private static let longestBlock = 2_048

  // This chip: busy behind a transfer, from RESET to SS_RDY, from being woken to SS_RDY.
  private static let busy: UInt64 = 60_000
  private static let booting: UInt64 = 400_000_000
  private static let waking: UInt64 = 1_000_000

  var state: SideState
  /// How many packets of the queue the host has been told of.
  private var announced = 0
  private var isBooting = false
  private var isAsleep = false
  private var wakeSince: UInt64?
  /// No transfer before this, and what for.
  private var notBefore: (time: UInt64, what: String) = (0, "")
  private var wasReset = false
  private var endedAt: UInt64?

  init(_ device: FarDevice, _ faults: FarFaults) { state = SideState(device, faults) }

  mutating func offerNext() {
    guard state.isOn, !state.isHung else { return }
    if isBooting {
      guard state.isHigh(.ready) else { return }
      isBooting = false
    }
    guard !state.queue.isEmpty else { return }
    if isAsleep { wakeUp(at: monotonic()) }
    if !state.isHigh(.interrupt) {
      state.drive(.interrupt, high: true, state.faults.strikes(.missedEdge) ? .lost : .seen)
    }
  }

  mutating func handle(_ event: FarDevice.Event) {
    switch event {
    case .line(.power, let high, let time):
      state.switched(high, at: time, least: Self.leastReset)
      (announced, isBooting, isAsleep, endedAt) = (0, high, false, nil)
      wasReset = wasReset || !high
      guard high else { return }
      state.drive(.awake, high: true)
      state.plan(.ready, high: true, at: time + Self.booting)
      if wasReset { notBefore = (time + Self.leastBoot, "RESET") }
    case .line(.wake, let high, let time): wakeLine(high, time)
    case .line, .written, .control: state.ledger.violated("a line that QM35 has not was driven")
    case .selected(let bytes, let selection): selected(bytes, selection)
    }
  }

  // MARK: asleep and awake

  private mutating func wakeLine(_ high: Bool, _ time: UInt64) {
    guard !high else { return wakeSince = time }
    guard let since = wakeSince else { return }
    wakeSince = nil
    state.ledger.count("wakes")
    if time < since + Self.leastWake {
      state.ledger.violated("WAKEUP was high for \(time - since) ns")
    }
    notBefore = (time + Self.leastAwake, "WAKEUP")
    wakeUp(at: time)
  }

  private mutating func wakeUp(at time: UInt64) {
    guard isAsleep else { return }
    isAsleep = false
    state.drive(.awake, high: true)
    state.plan(.ready, high: true, at: time + Self.waking)
  }

  // MARK: transfers

  private mutating func selected(_ bytes: [UInt8], _ selection: FarDevice.Selection) {
    state.ledger.speed = selection.speed
    guard state.isOn, !state.isHung else {
      if !state.isOn { state.ledger.violated("selected while RESET is low") }
      return state.device.answer([])
    }
    guard !bytes.isEmpty else { return wokenBySelection(selection) }
    check(bytes, selection)
    let answer = state.faults.strikes(.absent) ? none(bytes) : transfer(bytes)
    // Nothing more until it is ready again, and before the selection ends.
    state.drive(.ready, high: false)
    if state.queue.isEmpty { state.drive(.interrupt, high: false) }
    let end = monotonic()
    endedAt = end
    if state.isHung { return state.device.answer(answer) }
    if state.queue.isEmpty, state.faults.strikes(.sleepy) {
      isAsleep = true
      state.ledger.count("times asleep")
      state.drive(.awake, high: false)
    } else {
      if state.faults.strikes(.shortReady) { state.drive(.ready, high: false, .pulse) }
      state.plan(.ready, high: true, at: end + Self.busy)
    }
    state.device.answer(answer)
  }

  private mutating func wokenBySelection(_ selection: FarDevice.Selection) {
    state.ledger.count("wakes by selection")
    if UInt64(selection.hold) * 1_000 < Self.leastWake {
      state.ledger.violated("selected for \(selection.hold) us to wake it")
    }
    let end = selection.began + UInt64(selection.hold) * 1_000
    notBefore = (end + Self.leastAwake, "waking")
    wakeUp(at: end)
    state.device.answer([])
  }

  private mutating func none(_ bytes: [UInt8]) -> [UInt8] {
    state.ledger.count("times absent")
    return [UInt8](repeating: 0xFF, count: bytes.count)
  }

  private mutating func check(_ bytes: [UInt8], _ selection: FarDevice.Selection) {
    func violated(_ text: String) { state.ledger.violated(text) }
    if selection.mode & 0x3 != 0 { violated("SPI mode \(selection.mode & 0x3), not 0") }
    if selection.speed > Self.fastest { violated("\(selection.speed) Hz") }
    if selection.hold < Self.leastSetup { violated("\(selection.hold) us before the first clock") }
    if isAsleep { violated("selected while it is asleep") }
    if !state.isHigh(.ready) { violated("selected while SS_RDY is low") }
    if selection.began < notBefore.time {
      violated("selected \(notBefore.time - selection.began) ns too early after \(notBefore.what)")
    }
    if let endedAt {
      let pause = selection.began - min(endedAt, selection.began)
      state.ledger.shortestPause = min(state.ledger.shortestPause ?? pause, pause)
    }
  }

  /// Header and payload, both ways.
  private mutating func transfer(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.count >= 4 else {
      state.ledger.violated("a transfer of \(bytes.count) bytes")
      return []
    }
    let (flags, layer) = (bytes[0], bytes[1])
    let length = Int(bytes[2]) | Int(bytes[3]) << 8
    switch flags {
    case Host.write, Host.write | Host.preread:
      if layer != Self.layer || length != bytes.count - 4 {
        state.ledger.violated("a write of \(bytes.count - 4) bytes on layer \(layer), \(length)")
      }
      if state.isHigh(.interrupt) { state.ledger.collisions += 1 }
      let chip = flags & Host.preread != 0 ? announce() : [Chip.ready, 0, 0, 0]
      state.take(Array(bytes.dropFirst(4)))
      return chip
    case Host.preread:
      if bytes.count != 4 || layer != 0 || length != 0 {
        state.ledger.violated("a pre-read with more than its flag")
      }
      state.ledger.count("pre-reads")
      return announce()
    case Host.read: return give(layer, length, bytes.count)
    default:
      state.ledger.violated("flags \(flags)")
      return []
    }
  }

  private mutating func announce() -> [UInt8] {
    announced = 0
    var length = 0
    for packet in state.queue where length + packet.count <= Self.longestBlock {
      length += packet.count
      announced += 1
    }
    guard announced > 0 else { return [Chip.ready, 0, 0, 0] }
    return [Chip.ready | Chip.waiting, Self.layer, UInt8(length & 0xFF), UInt8(length >> 8)]
  }

  private mutating func give(_ layer: UInt8, _ length: Int, _ count: Int) -> [UInt8] {
    let block = Array(state.queue.prefix(announced).joined())
    if announced == 0 || layer != Self.layer || length != block.count || count != 4 + length {
      state.ledger.violated(
        "a read of \(count) bytes, \(length) on layer \(layer), of a block of \(block.count)")
    }
    if state.faults.strikes(.transferError) {
      state.ledger.count("failed transfers")
      return [Chip.ready | Chip.error, layer, UInt8(length & 0xFF), UInt8(length >> 8)]
    }
    state.ledger.reads += 1
    if announced > 1 { state.ledger.count("reads of several packets") }
    state.queue.removeFirst(announced)
    announced = 0
    let flags = Chip.ready | Chip.active | (state.queue.isEmpty ? 0 : Chip.waiting)
    return [flags, layer, UInt8(length & 0xFF), UInt8(length >> 8)] + block
  }
}
