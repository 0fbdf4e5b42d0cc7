// SPDX-License-Identifier: Apache-2.0

public import UCI

extension AppConfigID {
  /// A parameter by its name, an older name, or its number.
  ///
  /// Ignores case and everything but letters and digits: `slot-duration` is
  /// SLOT_DURATION.
  ///
  /// - Throws: `ParameterTextError.unknownName` with the nearest names.
  public init(named text: String) throws(ParameterTextError) {
    if let number = Quantity.number(text).flatMap(UInt8.init(exactly:)) {
      self.init(rawValue: number)
    } else if let found = Self.byName[plain(text)] {
      self = found
    } else {
      let names = AppConfigParameter.all.map(\.name)
      throw .unknownName(text, nearest: nearestNames(to: text, in: names))
    }
  }

  /// By the letters and digits of the names. What is known by a name comes before older names, and
  /// those before the names of numbers of which nothing is known.
  private static let byName: [[UInt8]: AppConfigID] = {
    let known = AppConfigParameter.all.map { (plain($0.name), $0.id) }
    let older = olderNames.map { (plain($0.name), $0.id) }
    let numbers = (0...UInt8.max).map(AppConfigID.init).map { (plain($0.name), $0) }
    return Dictionary(known + older + numbers) { first, _ in first }
  }()

  // Source: FiRa UCI 1.x as published in AOSP's and pica's packet definitions; Qorvo's tools.
  private static let olderNames: [(name: String, id: AppConfigID)] = [
    ("RANGING_INTERVAL", .rangingDuration), ("RNG_DATA_NTF", .sessionInfoNotificationConfig),
    ("RANGE_DATA_NTF_CONFIG", .sessionInfoNotificationConfig),
    ("RNG_DATA_NTF_PROXIMITY_NEAR", .nearProximity),
    ("RNG_DATA_NTF_PROXIMITY_FAR", .farProximity), ("STATIC_STS", .staticSTSIV),
    ("NO_OF_CONTROLEE", .numberOfControlees), ("NUMBER_OF_CONTROLEE", .numberOfControlees),
    ("RFRAME_CONF", .rframeConfig), ("PREAMBLE_ID", .preambleCodeIndex),
    ("BLOCK_STRIDING", .blockStrideLength), ("RANGING_METHOD", .rangingRoundUsage),
  ]

  /// How values of this parameter are written.
  package var form: ParameterForm { parameter.map { ParameterForm($0) } ?? .unknown(name) }
}

extension TLV {
  /// Reads a parameter of a session from text: `SLOT_DURATION=2ms`, `0x1B=25`.
  ///
  /// - Parameter generation: decides on the length where a parameter has more than one.
  /// - Throws: `ParameterTextError`.
  public init(
    appConfig text: String, for generation: Dialect.Generation = .fira2
  ) throws(ParameterTextError) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let id = try AppConfigID(named: trimmed(parts[0]))
    guard parts.count == 2 else { throw .noValue(id.name) }
    self.init(id, try id.form.bytes(from: String(parts[1]), for: generation))
  }

  /// A parameter of a session as `init(appConfig:for:)` takes it; secrets as they are only where
  /// they are asked for.
  public func appConfigText(includingSecrets: Bool = false) -> String {
    let id = AppConfigID(rawValue: id)
    return id.name + "="
      + (id.isSecret && !includingSecrets ? "(hidden)" : id.form.text(value))
  }
}
