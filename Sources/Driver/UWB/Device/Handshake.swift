// SPDX-License-Identifier: Apache-2.0
internal import System
internal import Logging
internal import UCI
internal import UCIReference
internal import UWBLink

/// The steps from an open link to an identified chip. They end the chip's sessions unless these are
/// to be kept.
struct Handshake {
  let engine: CommandEngine
  let router: MessageRouter
  let reader: FrameReader
  let board: NXPBoard?
  /// Whether the chip has just been started. It then reports when it is ready for its first
  /// command.
  let isChipStarted: Bool
  let logger: Logger

  struct Identity: Sendable {
    var info: DeviceInfo
    var capabilities: [TLV]
    var profile: DeviceProfile
    var dialect: Dialect
    var wasReset: Bool
  }

  /// Milliseconds to wait for a newly opened chip to send something by itself. In this time, the
  /// link also finds the pause after stale frames. A chip that sends nothing is not an error.
  private static let settleMilliseconds = 150

  /// The time-out of each of the first two resets of a chip that has just sent something. Its
  /// firmware drops the beginning of a command after 100 ms, but only when more bytes arrive. It
  /// drops these bytes as well, so it answers the third reset at the latest.
  private static let firstResetMilliseconds = 300

  /// Milliseconds for the packets that Qorvo's firmware stores while no host reads, up to 32 kB. It
  /// sends 12.8 kB a second (64 bytes every 5 ms): 2.5 s, or 2.8 s at 115200 baud.
  private static let backlogMilliseconds = 4_000

  /// Milliseconds after which a chip that has not identified itself is reset.
  private static let identityMilliseconds = 1_000

  func run(
    _ given: DeviceProfile?, _ resetPolicy: UWBDevice.ResetPolicy
  ) async throws(DriverError) -> Identity {
    engine.expectReset(true)
    defer { engine.expectReset(false) }
    if let given { adopt(given, Dialect(vendor: given.vendor)) }
    let found = resetPolicy == .keepState ? try await identifyRunningChip() : nil
    let info: DeviceInfo
    if let found { info = found } else { info = try await begin() }
    let profile = given ?? .matching(info)
    let dialect = Dialect(
      generation: .init(info.uciVersion), vendor: profile.vendor,
      dataLengthInByte3: profile.dataLengthInByte3)
    adopt(profile, dialect)
    logger.info(
      "device", metadata: ["profile": "\(profile.name)", "uci": "\(info.uciVersion)"])
    let capabilities = try await capabilities()
    limitSegments(Capabilities(capabilities), profile, dialect)
    return Identity(
      info: info, capabilities: capabilities, profile: profile, dialect: dialect,
      wasReset: found == nil)
  }

  /// Returns the chip's capabilities. Returns an empty list if the chip refuses the command or its
  /// list cannot be read. Such a chip may still range; otherwise, creating a session fails.
  private func capabilities() async throws(DriverError) -> [TLV] {
    let cause: DriverError
    do throws(DriverError) {
      return try await engine.request(GetCapabilities(), from: .recovery).parameters ?? []
    } catch { cause = error }
    guard cause.code == .refused || cause.code == .malformedAnswer else { throw cause }
    logger.warning("capabilities are not known", metadata: ["cause": "\(cause)"])
    return []
  }

  /// Limits command packets to the shorter of two lengths: the chip's and the profile's. Some chips
  /// report more than they accept.
  private func limitSegments(
    _ capabilities: Capabilities, _ profile: DeviceProfile, _ dialect: Dialect
  ) {
    guard let longest = capabilities.maxMessageSize, longest > PacketHeader.length else { return }
    var limited = profile
    limited.commandSegment = min(profile.commandSegment, longest - PacketHeader.length)
    engine.adopt(limited, dialect)
  }

  /// Identifies a known chip again after it was lost.
  ///
  /// - Throws: `DriverError`; `.otherDevice` if it is a different chip.
  func reidentify(_ known: Identity) async throws(DriverError) {
    engine.expectReset(true)
    defer { engine.expectReset(false) }
    adopt(known.profile, known.dialect)
    let info = try await begin()
    guard info == known.info else { throw .otherDevice }
    limitSegments(Capabilities(known.capabilities), known.profile, known.dialect)
  }

  /// Returns the device information of a running chip; nil without an answer.
  private func identifyRunningChip() async throws(DriverError) -> DeviceInfo? {
    // In this pause, the link finds the boundary between frames.
    _ = try await engine.wait(milliseconds: Self.settleMilliseconds) { $0.device != nil }
    do throws(DriverError) {
      let answer = try await engine.send(
        GetDeviceInfo(), timeout: Self.identityMilliseconds, patience: Self.backlogMilliseconds,
        from: .recovery)
      guard answer.status == .ok else { throw .needsReset }
      return answer.body
    } catch {
      if error.code == .deviceError { throw .needsReset }
      guard error.code == .noAnswer else { throw error }
      // The device information after a reset is the same, so a late answer is valid.
      engine.state.withLock { $0.responses.removeAll() }
      return nil
    }
  }

  /// Resets the chip and reads its device information.
  private func begin() async throws(DriverError) -> DeviceInfo {
    let settle = isChipStarted ? engine.profile.resetTimeout : Self.settleMilliseconds
    let chip = try await engine.wait(milliseconds: settle) { $0.device != nil }
    try await wakeAndReset(bootStateSeen: chip?.device == .initialising)
    if let board { try await setUp(board) }
    let answer = try await engine.request(GetDeviceInfo(), from: .recovery)
    guard let info = answer.body else {
      throw .malformedAnswer(
        command: "CORE_GET_DEVICE_INFO_CMD",
        .tooShort(field: "device info", needed: 10, available: 1))
    }
    return info
  }

  private func adopt(_ profile: DeviceProfile, _ dialect: Dialect) {
    engine.adopt(profile, dialect)
    router.adopt(profile)
    var framing = Link.Framing()
    framing.extendedLength = profile.extendedLength
    framing.dataLengthInByte3 = profile.dataLengthInByte3
    reader.setFraming(framing)
  }

  /// Resets the chip. Sends NXP's vendor command first where necessary.
  ///
  /// Most chips accept CORE_DEVICE_RESET at once. NXP's chips accept no command before their vendor
  /// command, which has another meaning on other chips. It is therefore sent only if the chip
  /// reports NXP's boot state, its endpoint belongs to NXP's chips, or it did not answer at all.
  private func wakeAndReset(bootStateSeen: Bool) async throws(DriverError) {
    if bootStateSeen || engine.profile.needsDeviceInit {
      try await initialise()
      try await reset(timeout: nil)
      return
    }
    let before = engine.statistics
    // The kernel echoes until the line is raw. A chip that sent something before has received its
    // own bytes, takes them for the beginning of a command, and ignores the next bytes.
    for _ in 0..<2 where engine.chip.device != nil {
      do throws(DriverError) {
        return try await reset(timeout: Self.firstResetMilliseconds)
      } catch {
        guard error.code == .noAnswer else { throw error }
        logger.info("no answer to the reset; repeating it")
      }
    }
    do {
      try await reset(timeout: engine.profile.responseTimeout)
    } catch let first {
      guard first.code == .noAnswer, mayBeNXP(since: before) else { throw first }
      logger.info("no answer to the reset; trying NXP's CORE_DEVICE_INIT")
      do throws(DriverError) { try await initialise() } catch {
        // A chip that refuses the command is present, and is not from NXP. The next reset ends its
        // earlier state.
        guard error.code == .refused else { throw first }
      }
      try await reset(timeout: nil)
    }
  }

  /// Returns whether a chip without an answer may be waiting for NXP's command. Such a chip has
  /// reported that it boots, or has reported only its state. Its reports may arrive after
  /// `settleMilliseconds`.
  private func mayBeNXP(since before: LinkStatistics) -> Bool {
    let (now, state) = (engine.statistics, engine.chip.device)
    if state == .initialising { return true }
    let isStatus = now.framesRead == before.framesRead + 1 && state != nil
    return now.bytesRead == before.bytesRead + (isStatus ? Self.statusBytes : 0)
  }

  /// The number of bytes of CORE_DEVICE_STATUS_NTF: a header and the state.
  private static let statusBytes: UInt64 = 5

  private func initialise() async throws(DriverError) {
    let profile = engine.profile
    var boot = profile
    boot.vendor = .nxp
    engine.adopt(boot, Dialect(vendor: .nxp))
    do throws(DriverError) {
      let ready = engine.chip.readyCount
      let variant = (board ?? .plain).variant
      try await engine.request(
        NXPDeviceInit(boardVariant: variant.board, boardVersion: variant.version), from: .recovery)
      _ = try await engine.wait(milliseconds: profile.resetTimeout) { $0.readyCount > ready }
    } catch {
      engine.adopt(profile, Dialect(vendor: profile.vendor))
      throw error
    }
  }

  /// Resets the chip and waits for READY after the response. Some chips report READY only before
  /// the response. Without a later report, the earlier one is accepted.
  private func reset(timeout: Int?) async throws(DriverError) {
    let before = engine.chip.readyCount
    let response = try await engine.send(
      DeviceReset(), timeout: timeout, patience: Self.backlogMilliseconds, from: .recovery)
    guard response.status == .ok else {
      throw .refused(command: "CORE_DEVICE_RESET_CMD", response.status)
    }
    let atResponse = engine.chip.readyAtResponse
    let patience = atResponse > before ? 500 : engine.profile.resetTimeout
    let chip = try await engine.wait(milliseconds: patience) { $0.readyCount > atResponse }
    guard chip != nil || atResponse > before else {
      throw .noAnswer(
        command: "CORE_DEVICE_RESET_CMD (READY afterwards)",
        milliseconds: engine.profile.resetTimeout, garbage: 0)
    }
  }

  /// Configures the chip for its board. A reset has discarded this configuration.
  private func setUp(_ board: NXPBoard) async throws(DriverError) {
    for parameters in board.configuration {
      let response = try await engine.send(SetConfig(parameters), from: .recovery)
      guard response.status == .ok else {
        throw .parametersRefused(
          response.status, response.refused ?? [], command: "CORE_SET_CONFIG_CMD")
      }
    }
    for command in board.calibration { try await engine.request(command, from: .recovery) }
    logger.info("board", metadata: ["name": "\(board.name)"])
  }
}
