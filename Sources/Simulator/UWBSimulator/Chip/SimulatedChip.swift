// SPDX-License-Identifier: Apache-2.0

package import UCI

/// One simulated UWB chip as a state machine. Its input is bytes and a time, and its output is
/// packets. It does no input or output and has no clock; `Simulation` runs the ranging rounds.
package struct SimulatedChip: Sendable {
  package let profile: ChipProfile
  /// Injected faults. Setting them restarts the count of bytes.
  package var faults: ChipFaults {
    get { line.faults }
    set { line.faults = newValue }
  }
  package internal(set) var isPowered = false
  /// The state of the last CORE_DEVICE_STATUS_NTF.
  package internal(set) var deviceState: DeviceState

  var line = FaultyLine()
  var output: [[UInt8]] = []
  var receiver: CommandReceiver
  var assembler = CommandAssembler()
  /// The received segments of a data message.
  var dataSegments: [UInt8] = []
  var sessions: [SimulatedSession] = []
  var nextHandle: UInt32
  var deviceParameters: [UInt8: [UInt8]]
  var twoByteParameters: [UInt8: [UInt8]] = [:]
  /// The error of the chip's clock in parts per million, positive if the clock runs fast.
  var clockOffset = 0.0
  /// The time of power-up in nanoseconds.
  var poweredAt: UInt64 = 0
  var boot = BootProgress()
  var lastCommand: UInt64 = 0
  /// The time of the last bytes from the host, in nanoseconds.
  private(set) var now: UInt64 = 0
  /// Changes of state that have not been reported to the host yet, in their order.
  private(set) var unreported: [Unreported] = []
  /// The number of commands that came earlier or more often than the chip's state allowed.
  package internal(set) var disorderlyCommands = 0
  var stops = 0
  /// Ended sessions whose controlees have not been notified yet.
  var terminations: [Termination] = []

  var calibration: CalibrationStore
  var radioTest: SimulatedRadioTest?
  var testParameters: [UInt8: [UInt8]] = [:]
  var transmissions: [RadioTransmission] = []

  struct BootProgress: Sendable {
    var isInitialised = false
    var initsToRefuse = 0
    var resetsToRefuse = 0
    var owesNotification = false
    /// The time at which a reset ends, in nanoseconds.
    var busyUntil: UInt64 = 0
  }

  /// A notification that is due later.
  struct Unreported: Sendable {
    /// The time of the notification in nanoseconds.
    var due: UInt64
    var opcode: Opcode
    var payload: [UInt8]
    /// The session; nil for the chip.
    var token: UInt32?
  }

  /// A controller's last message on the air.
  struct Termination: Sendable {
    var setup: RangingSetup
    var destinations: [MACAddress]
    /// The time of the message in nanoseconds.
    var time: UInt64
  }

  package init(profile: ChipProfile) {
    self.profile = profile
    deviceState = profile.bootState
    receiver = CommandReceiver(rule: profile.reception)
    nextHandle = profile.firstHandle
    deviceParameters = profile.deviceParameters
    calibration = profile.calibration
  }

  /// Powers the chip up at a time in nanoseconds; returns its unsolicited packets.
  package mutating func powerUp(at now: UInt64) -> [[UInt8]] {
    let (faults, offset, calibration) = (faults, clockOffset, calibration)
    self = SimulatedChip(profile: profile)
    self.faults = faults
    clockOffset = offset
    self.calibration = calibration
    isPowered = true
    poweredAt = now
    boot.initsToRefuse = profile.needsDeviceInit ? profile.retriesAfterBoot : 0
    boot.resetsToRefuse = profile.retriesAfterBoot
    boot.isInitialised = !profile.needsDeviceInit
    deviceState = profile.bootState
    notify(.coreDeviceStatus, [deviceState.rawValue])
    return takeOutput()
  }

  /// Powers the chip down: all state is lost.
  package mutating func powerDown() {
    isPowered = false
    sessions = []
    output = []
    unreported = []
    terminations = []
    radioTest = nil
    transmissions = []
  }

  /// Simulates an internal failure: drops all sessions, reports ERROR and needs a reset.
  package mutating func fail() {
    sessions = []
    terminations = []
    deviceState = .error
    notify(.coreDeviceStatus, [deviceState.rawValue])
  }

  /// Receives bytes from the host, in chunks of any size.
  ///
  /// - Parameters:
  ///   - now: nanoseconds; never less than before.
  /// - Returns: the packets the chip sends, header included, faults applied.
  package mutating func receive(_ bytes: [UInt8], at now: UInt64) -> [[UInt8]] {
    guard isPowered else { return [] }
    self.now = now
    for packet in receiver.take(bytes, at: now) { take(packet, at: now) }
    return takeOutput()
  }

  /// Returns the packets to send, faults applied.
  mutating func takeOutput() -> [[UInt8]] {
    guard !output.isEmpty else { return [] }
    defer { output.removeAll(keepingCapacity: true) }
    return line.pass(output)
  }

  private mutating func take(_ packet: [UInt8], at now: UInt64) {
    guard
      let header = try? unsafe PacketHeader(
        parsing: packet.span.bytes, dataLengthInByte3: profile.dialect.dataLengthInByte3)
    else { return }
    let payload = Array(packet[PacketHeader.length...])
    if header.type == .data { return takeData(header, payload) }
    guard header.type == .command else { return }
    guard let whole = assembler.take(header, payload) else { return }
    execute(header.opcode, whole, at: now)
  }

  // MARK: sending

  mutating func respond(_ opcode: Opcode, _ payload: [UInt8]) {
    output += Segmentation.packets(type: .response, opcode: opcode, payload: payload)
  }

  /// Sends a response that consists of a status.
  mutating func respond(_ opcode: Opcode, _ status: Status) { respond(opcode, [status.rawValue]) }

  mutating func respond(_ opcode: Opcode, _ response: some UCIResponse) {
    respond(opcode, response.encoded(dialect: profile.dialect))
  }

  mutating func notify(_ opcode: Opcode, _ payload: [UInt8]) {
    let long = profile.extendedLength && hasExtendedNotifications
    output += Segmentation.packets(
      type: .notification, opcode: opcode, payload: payload, limit: long ? 65_535 : 255)
  }

  mutating func notify<N: UCINotification>(_ notification: N) {
    notify(N.opcode, notification.encoded(dialect: profile.dialect))
  }

  /// Sends CORE_DEVICE_STATUS_NTF if the state has changed.
  mutating func report(_ state: DeviceState) {
    guard state != deviceState else { return }
    deviceState = state
    announce(.coreDeviceStatus, [state.rawValue])
  }

  /// Notifies the host of a change of state; some chips do so after a delay.
  mutating func announce(_ opcode: Opcode, _ payload: [UInt8], of token: UInt32? = nil) {
    guard profile.reportDelay > 0 else { return notify(opcode, payload) }
    unreported.append(
      Unreported(due: now + profile.reportDelay, opcode: opcode, payload: payload, token: token))
  }

  /// Sends the notifications that are due.
  mutating func sendReports(until time: UInt64) {
    while let first = unreported.first, first.due <= time {
      unreported.removeFirst()
      notify(first.opcode, first.payload)
    }
  }

  /// Changes the state of a session and notifies the host.
  mutating func move(
    _ index: Int, to state: SessionState, reason: StateChangeReason = .managementCommand
  ) {
    sessions[index].state = state
    guard state != .deinitialised || profile.reportsRemoval else { return }
    let status = SessionStatusNotification(
      sessionToken: sessions[index].token, state: state, reason: reason)
    announce(
      .sessionStatus, status.encoded(dialect: profile.dialect), of: sessions[index].token)
  }

  /// Whether the host has enabled vendor bytes after measurements.
  var hasExtendedNotifications: Bool {
    profile.twoByteDeviceParameter != nil && twoByteParameters[0x33]?.first == 1
  }
}

/// The reason why a command is not executed: the status of its response.
struct Refusal: Error {
  var status: Status

  init(_ status: Status) { self.status = status }
}
