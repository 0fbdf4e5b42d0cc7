// SPDX-License-Identifier: Apache-2.0
internal import UCI
internal import UCIReference

/// The diagnostics of single frames that the chip has to report beside its measurements.
public struct DiagnosticsRequest: Sendable, Hashable {
  /// The parts of the report. Chips that can only report all parts or none report all.
  public struct Content: OptionSet, Sendable, Hashable {
    /// The bits of this set, which are not the bits of the wire.
    public let rawValue: UInt8
    /// Creates a set from any bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Phase differences between antennas.
    public static let phases = Content(rawValue: 1)
    /// The peer's clock offset from this device's clock, from the carrier.
    public static let carrierOffset = Content(rawValue: 2)
    /// The levels and positions of the first and the strongest path.
    public static let levels = Content(rawValue: 4)
    /// The sender, which distinguishes peers in one-to-many ranging.
    public static let emitter = Content(rawValue: 8)
    /// Channel impulse responses: some hundred bytes for each frame.
    public static let impulseResponses = Content(rawValue: 16)
    /// All parts except impulse responses.
    public static let usual: Content = [.phases, .carrierOffset, .levels, .emitter]
  }

  /// The requested parts.
  public var content: Content
  /// The pairs of antennas that measure angles (NXP only), by their numbers in the device
  /// configuration. Empty: the antennas are not changed, and no phases are reported.
  public var antennaPairs: [UInt8]

  /// Creates a request. Chips that cannot report all parts report the others.
  public init(_ content: Content = .usual, antennaPairs: [UInt8] = []) {
    self.content = content
    self.antennaPairs = antennaPairs
  }
}

/// The way in which a family of chips is configured for diagnostics.
package enum DiagnosticsScheme: Sendable, Hashable {
  /// The family has no diagnostics, or its configuration is unknown.
  case unknown
  /// The parameters ENABLE_DIAGNOSTICS and DIAGNOSTICS_FRAME_REPORTS_FIELDS of the session.
  case fields
  /// Extended notifications of the device, and vendor parameters of the session.
  case vendorParameters
}

extension DiagnosticsRequest {
  /// The bits of DIAGNOSTICS_FRAME_REPORTS_FIELDS.
  ///
  /// Source: DW3_QM33_SDK 1.1.0 (fira_region_params.h).
  var fields: UInt8 {
    let bits: [(Content, UInt8)] = [
      (.phases, 0x02), (.carrierOffset, 0x08), (.emitter, 0x10), (.levels, 0x20),
      (.impulseResponses, 0x40),
    ]
    return bits.reduce(0) { content.contains($1.0) ? $0 | $1.1 : $0 }
  }
}

extension DeviceCore {
  /// Configures the chip for diagnostics of a session that does not range yet. Does nothing if the
  /// chip's `DiagnosticsScheme` is unknown.
  func requestDiagnostics(
    _ record: SessionRecord, from sender: CommandEngine.Sender
  ) async throws(DriverError) {
    guard let request = record.configuration.diagnostics else { return }
    switch profile.diagnosticsScheme {
    case .unknown: return
    case .fields:
      try await configure(
        record,
        [TLV(.enableDiagnostics, [1]), TLV(.diagnosticsFrameReportsFields, [request.fields])],
        sender)
    case .vendorParameters:
      // Source: UWBIoT API Reference Guide; nxp-uwb/sr250-uwbiot-zephyr (facts only).
      try await engine.request(SetConfig([TLV(.extendedNotifications, [1])]), from: sender)
      var parameters = [TLV(NXPAppConfigID.rframeLogNotification.rawValue, [1])]
      let pairs = request.antennaPairs
      if request.content.contains(.phases), !pairs.isEmpty {
        parameters.append(
          TLV(
            NXPAppConfigID.antennasConfigurationRX.rawValue,
            [1, UInt8(clamping: pairs.count)] + pairs))
      }
      try await engine.request(
        NXPSetAppConfig(sessionToken: record.token, parameters: parameters), from: sender)
    }
  }
}
