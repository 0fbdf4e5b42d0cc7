// SPDX-License-Identifier: Apache-2.0
internal import AccessoryProtocol
internal import Channels
internal import FoundationEssentials
internal import UCI
internal import UCIReference
internal import UWB

/// The plan of a run on a chip.
struct SessionPlan: Sendable {
  enum Target: Sendable {
    /// An accessory, with the data of an earlier run; nil for new data.
    case accessory(AccessoryConfigurationData, ShareableConfigurationData? = nil)
    case peer(SessionConfiguration)
    case anchors(id: UInt32, NIDLTDOAConfiguration.Radio)
  }

  var target: Target
  /// The name of the chip; nil for the default device.
  var device: String?
  /// The accessory that has to be connected over Bluetooth LE for a session in the background.
  var bluetoothPeer: BluetoothPeer?

  struct BluetoothPeer: Sendable {
    /// See `BluetoothAccessory.identifier`.
    let identifier: UUID
    /// The configuration data that the accessory has to offer.
    let data: AccessoryConfigurationData

    /// Returns the error unless the accessory is paired and connected, and offers the data.
    func confirm() async -> NIError? {
      do throws(ChannelError) {
        try await BluetoothCentral.confirm(identifier) { [data] in
          (try? AccessoryConfigurationData($0)) == data
        }
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

    /// Creates a session that also requests the levels of frames, which show whether the path is
    /// free.
    init(_ session: SessionConfiguration, shareable: [UInt8]? = nil) {
      configuration = session
      configuration.diagnostics = DiagnosticsRequest(.levels)
      if session.role == .controller { configuration.additional.append(Self.noInBandTermination) }
      self.shareable = shareable
    }

    /// The parameter by which a stopping controller does not notify its controlees.
    ///
    /// It cannot be set while a chip ranges (AOSP lists the parameters that can). So it is 0 from
    /// the beginning, for pausing, and is changed before the session ends.
    private static let noInBandTermination = TLV(.inBandTerminationAttemptCount, [0])

    /// Returns the session without the optional parameters that a firmware refuses; nil if it
    /// refuses other parameters.
    func without(_ refused: [RefusedParameter]) -> Made? {
      var made = self
      // A firmware that names no parameter may refuse any of them.
      if refused.isEmpty || refused.contains(where: { $0.id == Self.noInBandTermination.id }) {
        made.configuration.additional.removeAll { $0 == Self.noInBandTermination }
      }
      if refused.isEmpty || refused.contains(where: { $0.id != Self.noInBandTermination.id }) {
        made.configuration.diagnostics = nil
      }
      return made.configuration == configuration ? nil : made
    }

    /// Whether the controlees are not notified of the end.
    var suppressesInBandTermination: Bool {
      configuration.additional.contains(Self.noInBandTermination)
    }

    init(anchors: SessionConfiguration) { configuration = anchors }
  }

  /// Creates the session. A session with an accessory is different each time, unless the app has
  /// provided the data.
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

  /// Returns the error that the app receives for a failure of the driver.
  ///
  /// A feature that a chip does not list, and then refuses, is unsupported.
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

/// The meaningful angles of a chip.
struct AngleUse: Sendable, Hashable {
  var azimuth: Bool
  var elevation: Bool
  /// Whether the azimuth covers all directions, and so distinguishes front from back.
  var isAllRound: Bool
  /// Whether angles have figures of merit. A figure of 0 means that there is no angle.
  var hasMerit: Bool

  init(_ capabilities: Capabilities) {
    let angles = capabilities.angles ?? []
    azimuth = !angles.isDisjoint(with: [.azimuth90, .azimuth180])
    elevation = angles.contains(.elevation)
    isAllRound = angles.contains(.azimuth180)
    hasMerit = angles.contains(.figureOfMerit)
  }

  /// Returns the azimuth in radians; nil if there is none.
  func azimuth(_ angle: Angle) -> Float? { azimuth ? radians(angle) : nil }
  /// Returns the elevation in radians; nil if there is none.
  func elevation(_ angle: Angle) -> Float? { elevation ? radians(angle) : nil }

  private func radians(_ angle: Angle) -> Float? {
    hasMerit && angle.figureOfMerit == 0 ? nil : Float(angle.degrees * .pi / 180)
  }
}

extension SessionPlan {
  /// Whether the driver checks the session. The chip decides on the values of an app's radio.
  var isChecked: Bool { if case .anchors = target { false } else { true } }
}
