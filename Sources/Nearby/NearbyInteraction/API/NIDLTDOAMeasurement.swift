// SPDX-License-Identifier: Apache-2.0
public import Foundation
public import SIMDMath
internal import UCI

/// The coordinate system of anchors.
public enum NIDLTDOACoordinatesType: Int, Sendable, BitwiseCopyable {
  /// Latitude and longitude in degrees, altitude in metres.
  case geodetic = 0
  /// Metres along x, y and z of a local system.
  case relative = 1
}

/// The kind of an anchor's message.
public enum NIDLTDOAMeasurementType: Int, Sendable, BitwiseCopyable {
  /// The first message, from the initiator.
  case poll = 0
  /// The answer of a responder.
  case response = 1
  /// The last message, from the initiator.
  case final = 2
}

/// A message of an anchor, received in a downlink-TDoA session.
open class NIDLTDOAMeasurement: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable: immutable.

  /// The vertical position of an anchor in a building with several floors.
  public final class FloorElevation: NSObject, NSCopying, Sendable {
    /// The floor of the anchor, negative below ground level.
    public let floorNumber: Int
    /// The height of the anchor above this floor in metres.
    public let height: Double

    private init(floorNumber: Int, height: Double) {
      self.floorNumber = floorNumber
      self.height = height
      super.init()
    }

    /// Returns the instance itself, which is immutable.
    public func copy(with zone: NSZone? = nil) -> Any { self }
  }

  struct Values: Codable, Hashable, Sendable {
    var address: Int
    var clusterInitiatorAddress = 0
    var type: Int
    /// The bits of the raw times: JSON's whole numbers are signed.
    var rawTransmitTime: Int64
    var rawReceiveTime: Int64
    var signalStrength: Double
    var carrierFrequencyOffset: Double
    var responderClockFrequencyOffset: Double?
    var coordinatesType = NIDLTDOACoordinatesType.relative.rawValue
    /// The position of the anchor; nil if it did not send one.
    var coordinates: SIMD3<Double>?
    var block: Int
    var round: Int
    /// Whether the transmission time belongs to the time base that all anchors share. This member
    /// and the following ones are nil in archives of earlier versions.
    var isCommonTimeBase: Bool?
    /// The ticks of the responder from the poll to its response, and of the initiator from the
    /// response to the final message; 0 if the message has none.
    var responderReply: UInt32?
    var initiatorReply: UInt32?
    /// The ticks of a signal's flight between the two anchors; 0 if the message has none.
    var anchorFlight: UInt16?
  }
  let values: Values

  init(_ values: Values) {
    self.values = values
    super.init()
  }

  /// The anchor's address.
  public var address: Int { values.address }
  /// The address of the anchor that initiated the round; 0 if its message was not received.
  public var clusterInitiatorAddress: Int { values.clusterInitiatorAddress }
  /// The kind of message.
  public var measurementType: NIDLTDOAMeasurementType { .init(rawValue: values.type) ?? .poll }
  /// The time of transmission in seconds of the anchors' clock.
  public var transmitTime: Double { Double(rawTransmitTime) / DownlinkTDoAMessage.ticksPerSecond }
  /// The time of reception in seconds of the chip's clock.
  public var receiveTime: Double { Double(rawReceiveTime) / DownlinkTDoAMessage.ticksPerSecond }
  /// The time of transmission in ticks of 15.65 ps.
  public var rawTransmitTime: UInt64 { UInt64(bitPattern: values.rawTransmitTime) }
  /// The time of reception in ticks of 15.65 ps.
  public var rawReceiveTime: UInt64 { UInt64(bitPattern: values.rawReceiveTime) }
  /// The received power in dBm; 0 if the chip does not report it.
  public var signalStrength: Double { values.signalStrength }
  /// The offset of the anchor's clock rate from the chip's, positive if the anchor's is faster;
  /// 1e-6 is one part per million.
  public var carrierFrequencyOffset: Double { values.carrierFrequencyOffset }
  /// The offset between the clock rates of responder and initiator, positive if the responder's is
  /// slower, as in Apple's header; nil unless the message is a response.
  public var responderClockFrequencyOffset: Double? { values.responderClockFrequencyOffset }
  /// The coordinate system of `coordinates`.
  public var coordinatesType: NIDLTDOACoordinatesType {
    .init(rawValue: values.coordinatesType) ?? .relative
  }
  /// The position of the anchor: latitude, longitude and altitude, or x, y and z. Zeros if the
  /// anchor did not send it; see `hasCoordinates`.
  public var coordinates: simd_double3 { values.coordinates ?? .zero }
  /// nil, because FiRa's messages have no floors.
  public var floorElevation: FloorElevation? { nil }

  /// Always true.
  open class var supportsSecureCoding: Bool { true }

  /// Decodes an archived instance.
  public required init?(coder: NSCoder) {
    guard let values = coder.decode(json: Values.self, forKey: "values") else { return nil }
    self.values = values
    super.init()
  }

  /// Encodes the instance.
  open func encode(with coder: NSCoder) {
    coder.encode(json: values, forKey: "values")
  }

  /// Returns the instance itself, which is immutable.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Compares all values.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? NIDLTDOAMeasurement)?.values == values
  }

  /// A hash of all values.
  open override var hash: Int { values.hashValue }
}
