// SPDX-License-Identifier: Apache-2.0

/// What is behind /dev/srxxx: an SR1xx of which the kernel's driver hides the wires. Source: nxp.md 2.
struct SRxxxSide: ChipSide {
  var state: SideState
  private let startsInLoader: Bool
  private var loader: HBCIRom?
  private var isLoading = false

  init(_ device: FarDevice, _ faults: FarFaults, startsInLoader: Bool) {
    state = SideState(device, faults)
    self.startsInLoader = startsInLoader
  }

  mutating func offerNext() {
    guard !state.queue.isEmpty, !isLoading else { return }
    // Several packets in one read.
    if state.queue.count > 1 { state.ledger.count("reads of several packets") }
    state.ledger.reads += 1
    state.device.offer(Array(state.queue.joined()))
    state.queue = []
  }

  mutating func handle(_ event: FarDevice.Event) {
    switch event {
    case .control(1, 2): state.ledger.count("aborted reads")
    case .control(1, let value):
      guard state.isOn != (value == 1) else { return }
      loader = value == 1 && startsInLoader ? HBCIRom() : nil
      state.switched(value == 1, at: monotonic(), boots: loader == nil, least: 80_000)
    case .control(_, let value):
      isLoading = value == 1
      offerNext()
    case .written(let bytes):
      if isLoading { load(bytes) } else { take(bytes) }
    case .line, .selected: state.ledger.violated("wires were used")
    }
  }

  private mutating func take(_ packet: [UInt8]) {
    guard packet.count >= 4, packet.count == 4 + payloadLength(packet), state.isOn else {
      return state.ledger.violated("\(packet.count) bytes written are no packet, or it is off")
    }
    state.take(packet)
  }

  private mutating func load(_ bytes: [UInt8]) {
    loader?.take(bytes, &state)
    while let answer = loader?.answers.first {
      loader?.answers.removeFirst()
      state.device.offer(answer)
    }
    guard loader?.isDone == true else { return }
    loader = nil
    state.boot()
  }
}

/// What is behind /dev/uci0: a QM35 of which the kernel's driver hides the wires. Source: qorvo.md 2.3.
struct UCINodeSide: ChipSide {
  var state: SideState

  init(_ device: FarDevice, _ faults: FarFaults) { state = SideState(device, faults) }

  mutating func offerNext() {
    state.ledger.reads += state.queue.count
    for packet in state.queue { state.device.offer(packet) }
    state.queue = []
  }

  mutating func handle(_ event: FarDevice.Event) {
    switch event {
    case .control(_, let value): state.switched(value == 1, at: monotonic(), least: 2_000_000)
    case .written(let bytes):
      if bytes.count < 4 || bytes.count != 4 + Int(bytes[3]) {
        state.ledger.violated("\(bytes.count) bytes written are no packet")
      } else {
        state.take(bytes)
      }
      state.device.answer([])
    case .line, .selected: state.ledger.violated("wires were used")
    }
  }
}
