// SPDX-License-Identifier: Apache-2.0
internal import AccessoryProtocol
internal import UCI
internal import UCIReference
internal import UWB

/// What a run is to do on a chip.
struct SessionPlan: Sendable {
  /// With whom.
  enum Target: Sendable {
    case accessory(AccessoryConfigurationData)
    case peer(SessionConfiguration)
    case anchors(id: UInt32, NIDLTDOAConfiguration.Radio)
  }

  var target: Target
  /// The chip's name; nil: found.
  var device: String?

  /// A session for a chip, and what the other side has to be told.
  struct Made: Sendable {
    var configuration: SessionConfiguration
    var shareable: [UInt8]?

    /// With the levels of frames, where the chip can report them: they tell whether the path is free.
    init(_ session: SessionConfiguration, shareable: [UInt8]? = nil) {
      configuration = session
      configuration.diagnostics = DiagnosticsRequest(.levels)
      if session.role == .controller { configuration.additional.append(Self.quietEnd) }
      self.shareable = shareable
    }

    /// A controller that stops tells its controlees, unless it is set not to, which chips do not take
    /// while they range (AOSP's list of what they take). So it is set from the beginning: who pauses
    /// says nothing, and who ends sets it back.
    private static let quietEnd = TLV(.inBandTerminationAttemptCount, [0])

    /// The same without what a firmware refuses of what is asked for on top; nil: it refuses
    /// something else.
    func without(_ refused: [RefusedParameter]) -> Made? {
      var made = self
      // A firmware that names none may mean any.
      if refused.isEmpty || refused.contains(where: { $0.id == Self.quietEnd.id }) {
        made.configuration.additional.removeAll { $0 == Self.quietEnd }
      }
      if refused.isEmpty || refused.contains(where: { $0.id != Self.quietEnd.id }) {
        made.configuration.diagnostics = nil
      }
      return made.configuration == configuration ? nil : made
    }

    /// The controlees are not told of its end.
    var endsQuietly: Bool { configuration.additional.contains(Self.quietEnd) }

    /// Without.
    init(anchors: SessionConfiguration) { configuration = anchors }
  }

  /// Makes the session. For an accessory it is another one each time.
  func make(for device: UWBDevice) -> Result<Made, NIError> {
    let angles = AngleUse(Capabilities(device.capabilities))
    switch target {
    case .accessory(let accessory):
      let data = ShareableConfigurationData.answering(accessory)
      do throws(AccessoryProtocolError) {
        let session = try data.session(of: .app, with: accessory.uwb, angles: angles.azimuth)
        return .success(Made(session, shareable: data.bytes))
      } catch {
        return .failure(
          NIError(.invalidConfiguration, reason: error.description, recovery: error.suggestion))
      }
    case .peer(let session): return .success(Made(session))
    case .anchors(let id, let radio):
      guard Capabilities(device.capabilities).roles?.contains(.dtTag) ?? true else {
        return .failure(
          NIError(
            .unsupportedPlatform, reason: "The chip receives no downlink TDoA.",
            recovery: "Check NISession.deviceCapabilities.supportsDLTDOAMeasurement first."))
      }
      return .success(Made(anchors: radio.configuration(id: id)))
    }
  }
}

/// Which angles of a chip are to be believed.
struct AngleUse: Sendable, Hashable {
  var azimuth: Bool
  var elevation: Bool
  /// The azimuth tells front from back.
  var isAllRound: Bool
  /// Angles come with figures of merit; 0 then means that there is no angle.
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
  /// Whether the driver looks at the session before it is sent; it knows two-way ranging only.
  var isChecked: Bool {
    switch target {
    case .accessory, .peer: true
    case .anchors: false
    }
  }

  /// What there is to do between the making of the session and its start.
  func prepare(_ session: UWBSession) async throws(DriverError) {
    guard case .anchors(_, let radio) = target, !radio.rounds.isEmpty else { return }
    let command = UpdateDTTagRounds(sessionToken: session.token, rounds: radio.rounds)
    let response = try await session.device.send(command)
    guard response.status == .ok else {
      throw .refused(command: "SESSION_UPDATE_DT_TAG_RANGING_ROUNDS_CMD", response.status)
    }
  }
}
