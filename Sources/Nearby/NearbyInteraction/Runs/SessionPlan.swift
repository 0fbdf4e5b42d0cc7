// SPDX-License-Identifier: Apache-2.0
internal import AccessoryProtocol
internal import FoundationEssentials
internal import UCI
internal import UCIReference
internal import UWB

/// What a run does on a chip.
struct SessionPlan: Sendable {
  enum Target: Sendable {
    /// nil: with new data for the accessory.
    case accessory(AccessoryConfigurationData, ShareableConfigurationData? = nil)
    case peer(SessionConfiguration)
    case anchors(id: UInt32, NIDLTDOAConfiguration.Radio)
  }

  var target: Target
  /// The chip's name; nil: the default device.
  var device: String?
  /// What the accessory has to be over Bluetooth LE, so that the session goes on in the background.
  var bluetoothPeer: BluetoothPeer?

  struct BluetoothPeer: Sendable {
    /// See `BluetoothAccessory.identifier`.
    let identifier: UUID
    /// What the accessory offers to be read.
    let data: AccessoryConfigurationData

    /// Whether the accessory is paired and connected, and offers the data; otherwise the error.
    func confirm() async -> NIError? {
      do throws(AccessoryError) {
        try await BluetoothCentral.confirm(identifier, offers: data)
        return nil
      } catch {
        return NIError(.accessoryPeerDeviceUnavailable, error)
      }
    }
  }

  /// A session for a chip, and the data that the accessory needs for it.
  struct Made: Sendable {
    var configuration: SessionConfiguration
    var shareable: [UInt8]?

    /// Asks for the levels of frames too: they tell whether the path is free.
    init(_ session: SessionConfiguration, shareable: [UInt8]? = nil) {
      configuration = session
      configuration.diagnostics = DiagnosticsRequest(.levels)
      if session.role == .controller { configuration.additional.append(Self.noInBandTermination) }
      self.shareable = shareable
    }

    /// A controller that stops tells its controlees, unless this parameter is 0, which cannot be set
    /// while a chip ranges (AOSP lists what can). So it is 0 from the beginning, for pausing, and is
    /// set back before the session ends.
    private static let noInBandTermination = TLV(.inBandTerminationAttemptCount, [0])

    /// Returns the session without the optional parameters that a firmware refuses; nil where it
    /// refuses others.
    func without(_ refused: [RefusedParameter]) -> Made? {
      var made = self
      // A firmware that names no parameter may mean any.
      if refused.isEmpty || refused.contains(where: { $0.id == Self.noInBandTermination.id }) {
        made.configuration.additional.removeAll { $0 == Self.noInBandTermination }
      }
      if refused.isEmpty || refused.contains(where: { $0.id != Self.noInBandTermination.id }) {
        made.configuration.diagnostics = nil
      }
      return made.configuration == configuration ? nil : made
    }

    /// The controlees do not learn of its end.
    var suppressesInBandTermination: Bool {
      configuration.additional.contains(Self.noInBandTermination)
    }

    init(anchors: SessionConfiguration) { configuration = anchors }
  }

  /// Makes the session; a different one each time for an accessory, unless the app has given its data.
  func make(for device: UWBDevice) -> Result<Made, NIError> {
    let angles = AngleUse(Capabilities(device.capabilities))
    switch target {
    case .accessory(let accessory, let kept):
      let data = kept ?? ShareableConfigurationData.answering(accessory)
      do throws(AccessoryError) {
        let session = try data.session(of: .app, with: accessory.uwb, angles: angles.azimuth)
        return .success(Made(session, shareable: data.bytes))
      } catch {
        return .failure(NIError(.invalidConfiguration, error))
      }
    case .peer(let session): return .success(Made(session))
    case .anchors(let id, let radio): return .success(Made(anchors: radio.configuration(id: id)))
    }
  }

  /// The error that the app gets for a failure of the driver: what a chip does not list and then
  /// refuses is not supported.
  func failure(_ error: DriverError, of device: UWBDevice) -> NIError {
    let isRefusal: Bool =
      switch error.code {
      case .refused, .parametersRefused, .sessionEnded, .stateNotReached: true
      default: false
      }
    guard case .anchors = target, isRefusal,
      Capabilities(device.capabilities).roles?.contains(.dtTag) == false
    else { return NIError(error, in: device.dialect) }
    return NIError(
      .unsupportedPlatform, reason: "The chip receives no downlink TDoA.",
      recovery: "Check NISession.deviceCapabilities.supportsDLTDOAMeasurement first.",
      underlying: error)
  }
}

/// Which angles of a chip are meaningful.
struct AngleUse: Sendable, Hashable {
  var azimuth: Bool
  var elevation: Bool
  /// The azimuth covers all directions, so it distinguishes front from back.
  var isAllRound: Bool
  /// Angles have figures of merit, of which 0 means that there is no angle.
  var hasMerit: Bool

  init(_ capabilities: Capabilities) {
    let angles = capabilities.angles ?? []
    azimuth = !angles.isDisjoint(with: [.azimuth90, .azimuth180])
    elevation = angles.contains(.elevation)
    isAllRound = angles.contains(.azimuth180)
    hasMerit = angles.contains(.figureOfMerit)
  }

  /// Radians; nil where there is none.
  func azimuth(_ angle: Angle) -> Float? { azimuth ? radians(angle) : nil }
  /// Radians; nil where there is none.
  func elevation(_ angle: Angle) -> Float? { elevation ? radians(angle) : nil }

  private func radians(_ angle: Angle) -> Float? {
    hasMerit && angle.figureOfMerit == 0 ? nil : Float(angle.degrees * .pi / 180)
  }
}

extension SessionPlan {
  /// Whether the driver checks the session; its rules cover two-way ranging only.
  var isChecked: Bool { if case .anchors = target { false } else { true } }

  /// Prepares a session that has been made for its start.
  func prepare(_ session: UWBSession) async throws(DriverError) {
    guard case .anchors(_, let radio) = target, !radio.rounds.isEmpty else { return }
    let command = UpdateDTTagRounds(sessionToken: session.token, rounds: radio.rounds)
    let response = try await session.device.send(command)
    guard response.status == .ok else {
      throw .refused(command: "SESSION_UPDATE_DT_TAG_RANGING_ROUNDS_CMD", response.status)
    }
  }
}
