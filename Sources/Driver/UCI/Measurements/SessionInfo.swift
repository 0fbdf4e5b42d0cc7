// SPDX-License-Identifier: Apache-2.0

/// A SESSION_INFO_NTF (FiRa 1.x: RANGE_DATA_NTF) as a value, for uses that allow a copy.
///
/// The reader of a stream uses `SessionInfoView`, which does not copy.
package struct SessionInfo: UCINotification, Hashable {
  package static let opcode = Opcode.sessionInfo

  /// The measurements, by type.
  package enum Measurements: Hashable, Sendable {
    /// Distances and angles to peers.
    case twoWay([TwoWayMeasurement])
    /// Angles to advertisers.
    case oneWayAoA([OneWayAoAMeasurement])
    /// Messages of anchors, at a tag.
    case downlinkTDoA([DownlinkTDoAMeasurement])
    /// Messages of anchors, at a tag, in the second version.
    case downlinkTDoAV2([DownlinkTDoAMeasurementV2])
    /// Frames of tags, at an anchor.
    case uplinkTDoA([UplinkTDoAMeasurement])
    /// Measurements of another type or layout: the bytes after the header.
    case other(count: UInt8, bytes: [UInt8])
  }

  /// The number of the notification in its session, from 0 at its start.
  package var sequenceNumber: UInt32 = 0
  /// The token of the session: its id in FiRa 1.x, its handle since 2.0.
  package var sessionToken: UInt32 = 0
  /// Reserved in many implementations.
  package var rcrIndication: UInt8 = 0
  /// The ranging interval in milliseconds; some chips send 0.
  package var intervalMilliseconds: UInt32 = 0
  /// The type of the measurements.
  package var type = MeasurementType.twoWay
  package var reserved14: UInt8 = 0
  /// The kind of addresses: 0 short, 1 extended.
  package var addressIndicator: UInt8 = 0
  /// The primary session of a hybrid schedule.
  package var primarySessionToken: UInt32 = 0
  package var reserved20: UInt32 = 0
  /// The measurements, by type.
  package var measurements = Measurements.twoWay([])
  /// The raw reserved bytes of each two-way measurement: 11, or 5 with extended addresses.
  package var reservedBytes: [[UInt8]] = []

  package init() {}

  /// Creates a notification of two-way measurements.
  package init(
    sequenceNumber: UInt32, sessionToken: UInt32, intervalMilliseconds: UInt32,
    twoWay: [TwoWayMeasurement], extendedAddresses: Bool = false
  ) {
    (self.sequenceNumber, self.sessionToken) = (sequenceNumber, sessionToken)
    self.intervalMilliseconds = intervalMilliseconds
    addressIndicator = extendedAddresses ? 1 : 0
    measurements = .twoWay(twoWay)
    reservedBytes = twoWay.map { _ in Array(repeating: 0, count: extendedAddresses ? 5 : 11) }
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("sequence", &sequenceNumber)
    try coder.field("session", &sessionToken)
    try coder.field("rcr", &rcrIndication, .hidden)
    try coder.field("interval_ms", &intervalMilliseconds)
    try coder.code("type", &type)
    try coder.field("reserved", &reserved14, .hidden)
    try coder.field("address_indicator", &addressIndicator, .hidden)
    try coder.field("primary_session", &primarySessionToken, .hidden)
    try coder.field("reserved", &reserved20, .hidden)
    if coder.isReading { measurements = Measurements(of: type) }
    var count = measurements.count
    try coder.field("count", &count, .hidden)
    try visitMeasurements(&coder, count)
  }

  /// Reads the measurements of a notification whose header has been read in place.
  package static func measurements(
    of view: borrowing SessionInfoView, dialect: Dialect
  ) throws(PayloadError) -> Measurements {
    var info = SessionInfo()
    info.measurements = Measurements(of: view.type)
    info.addressIndicator = view.hasExtendedAddresses ? 1 : 0
    let rest = view.payload.extracting(SessionInfoView.headerLength..<view.payload.byteCount)
    var coder = FieldReader(PayloadReader(rest), dialect)
    try info.visitMeasurements(&coder, UInt8(view.count))
    return info.measurements
  }

  private mutating func visitMeasurements<C: FieldCoder & ~Escapable>(
    _ coder: inout C, _ count: UInt8
  ) throws(PayloadError) {
    let isExtended = addressIndicator != 0
    switch measurements {
    case .twoWay(let list):
      var rows = zip(list, reservedBytes).map { (measurement: $0, reserved: $1) }
      try coder.list(
        "measurements", &rows, .exactly(Int(count)), blank: (TwoWayMeasurement(), [])
      ) { c, row throws(PayloadError) in
        try row.measurement.visit(&c, isExtended: isExtended)
        try c.bytes("reserved", &row.reserved, .exactly(isExtended ? 5 : 11), .hidden)
      }
      measurements = .twoWay(rows.map(\.measurement))
      reservedBytes = rows.map(\.reserved)
    case .oneWayAoA(var list):
      try coder.measurements(&list, count, isExtended: isExtended)
      measurements = .oneWayAoA(list)
    case .downlinkTDoA(var list):
      try coder.measurements(&list, count, isExtended: isExtended)
      measurements = .downlinkTDoA(list)
    case .downlinkTDoAV2(var list):
      let isKnown = try coder.attempt { c throws(PayloadError) in
        try c.measurements(&list, count, isExtended: isExtended)
      }
      measurements = isKnown ? .downlinkTDoAV2(list) : try other(&coder, count)
    case .uplinkTDoA(var list):
      // Sources disagree about the length of the message control.
      var length = list.first?.controlLength ?? 1
      let lengths = coder.dialect.traits.uplinkControlLengths
      let isKnown = try coder.attempt { c throws(PayloadError) in
        try c.form(&length, oneOf: lengths) { c, length throws(PayloadError) in
          var blank = UplinkTDoAMeasurement()
          blank.controlLength = length
          try c.measurements(&list, count, isExtended: isExtended, blank: blank)
        }
      }
      measurements = isKnown ? .uplinkTDoA(list) : try other(&coder, count)
    case .other: measurements = try other(&coder, count)
    }
  }

  private func other<C: FieldCoder & ~Escapable>(
    _ coder: inout C, _ count: UInt8
  ) throws(PayloadError) -> Measurements {
    var bytes: [UInt8] = []
    if case .other(_, let known) = measurements { bytes = known }
    try coder.bytes("payload", &bytes, .rest)
    return .other(count: count, bytes: bytes)
  }
}

extension SessionInfo.Measurements {
  /// Creates an empty list of measurements of a type.
  fileprivate init(of type: MeasurementType) {
    self =
      switch type {
      case .twoWay: .twoWay([])
      case .oneWayAoA: .oneWayAoA([])
      case .downlinkTDoA: .downlinkTDoA([])
      case .downlinkTDoAV2: .downlinkTDoAV2([])
      case .uplinkTDoA: .uplinkTDoA([])
      default: .other(count: 0, bytes: [])
      }
  }

  fileprivate var count: UInt8 {
    switch self {
    case .twoWay(let list): UInt8(list.count)
    case .oneWayAoA(let list): UInt8(list.count)
    case .downlinkTDoA(let list): UInt8(list.count)
    case .downlinkTDoAV2(let list): UInt8(list.count)
    case .uplinkTDoA(let list): UInt8(list.count)
    case .other(let count, _): count
    }
  }
}

/// A measurement of a SESSION_INFO_NTF. The size of its address precedes all measurements.
package protocol MeasurementFields: Sendable {
  init()
  mutating func visit<C: FieldCoder & ~Escapable>(
    _ coder: inout C, isExtended: Bool
  ) throws(PayloadError)
}

extension FieldCoder where Self: ~Escapable {
  /// Codes an angle with its figure of merit.
  @_lifetime(self: copy self)
  mutating func angle(_ name: StaticString, _ angle: inout Angle) throws(PayloadError) {
    try field(name, &angle.raw)
    try field(name, &angle.figureOfMerit)
  }

  @_lifetime(self: copy self)
  mutating func measurements<M: MeasurementFields>(
    _ list: inout [M], _ count: UInt8, isExtended: Bool, blank: M = M()
  ) throws(PayloadError) {
    try self.list(
      "measurements", &list, .exactly(Int(count)), blank: blank
    ) { c, measurement throws(PayloadError) in
      try measurement.visit(&c, isExtended: isExtended)
    }
  }
}
