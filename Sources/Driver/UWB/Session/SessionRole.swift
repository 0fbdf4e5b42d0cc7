// SPDX-License-Identifier: Apache-2.0
public import UCI

extension SessionConfiguration {
  /// The role of an end, with the values that only this role has.
  public enum Role: Sendable, Hashable {
    /// Two-way ranging: follows the controller's schedule and answers.
    case controlee
    /// Two-way ranging: sets the schedule and begins each ranging round.
    case controller
    /// Downlink TDoA: sends messages from a known place, for any number of tags.
    case downlinkAnchor(DownlinkAnchor)
    /// Downlink TDoA: only receives the messages of anchors.
    case downlinkTag(DownlinkTag)
    /// Uplink TDoA: sends blinks and receives nothing.
    case uplinkTag(UplinkTag)
    /// Uplink TDoA: measures the arrival times of blinks and of frames of synchronisation anchors.
    case uplinkAnchor
    /// Uplink TDoA: sends a frame with its transmission time in each ranging interval.
    case uplinkSyncAnchor(StampWidth)
    /// One-way angle of arrival: sends frames.
    case advertiser(FrameTrain)
    /// One-way angle of arrival: measures the angles of the frames.
    case observer(FrameTrain)
  }

  /// The width of a transmission time in a message.
  public enum StampWidth: UInt8, Sendable, Hashable, CaseIterable {
    /// 40 bits: the count restarts from 0 after 17.2 seconds.
    case bits40 = 0
    /// 64 bits.
    case bits64 = 1
  }

  /// The values of an anchor of downlink TDoA.
  public struct DownlinkAnchor: Sendable, Hashable {
    /// A ranging round in which the anchor takes part.
    public struct Round: Sendable, Hashable {
      /// The task of the anchor in a round.
      public enum Part: Sendable, Hashable {
        /// Begins the round of a cluster: sends the poll and the final.
        ///
        /// - Parameter slots: the slot of each responder; nil: the responders answer in their
        ///   order.
        case initiator(responders: [MACAddress], slots: [UInt8]? = nil)
        /// Answers the poll of an initiator.
        case responder
      }

      /// The index of the round in its block, from 0.
      public var index: UInt8
      /// The task of the anchor.
      public var part: Part

      /// Creates a round.
      public init(_ index: UInt8, _ part: Part) { (self.index, self.part) = (index, part) }
    }

    /// The time base of transmission times.
    public enum TimeBase: UInt8, Sendable, Hashable {
      /// The anchor's own clock.
      case local = 0
      /// A time that all anchors share.
      case common = 1
    }

    /// The values that the messages contain beside their transmission time.
    public struct Content: OptionSet, Sendable, Hashable {
      /// The bits of this set, which are not the bits of the wire.
      public let rawValue: UInt8
      /// Creates a set from any bits.
      public init(rawValue: UInt8) { self.rawValue = rawValue }
      /// The number of anchors between this one and the time reference.
      public static let hopCount = Content(rawValue: 1)
      /// The offset of the responder's clock from the initiator's.
      public static let clockOffset = Content(rawValue: 2)
      /// The time of flight between initiator and responder.
      public static let flightTime = Content(rawValue: 4)
      /// The rounds in which the anchor is active.
      public static let activeRounds = Content(rawValue: 8)
    }

    /// The ranging rounds in which the anchor takes part: one for each of its clusters.
    public var rounds: [Round]
    /// Whether the initiator ends a round with a final. A tag then needs no carrier offset.
    public var isDoubleSided = true
    /// The anchor's own place for its messages; nil: none.
    public var location: AnchorLocation?
    /// The time base of the transmission times.
    public var timeBase = TimeBase.local
    /// The width of the transmission times.
    public var stampWidth = StampWidth.bits40
    /// The other values in the messages.
    public var content: Content = [.clockOffset, .flightTime]
    /// Whether the time of this anchor is the common time base.
    public var isTimeReference = false

    /// Creates an anchor that takes part in rounds.
    public init(rounds: [Round], location: AnchorLocation? = nil) {
      (self.rounds, self.location) = (rounds, location)
    }

    /// Whether the anchor begins a round.
    package var isInitiator: Bool {
      rounds.contains { if case .initiator = $0.part { true } else { false } }
    }
  }

  /// The values of a tag of downlink TDoA.
  public struct DownlinkTag: Sendable, Hashable {
    /// The indexes of the ranging rounds to receive; empty: the chip decides.
    public var rounds: [UInt8]
    /// The number of blocks without reception after each block with reception.
    public var skippedBlocks: UInt8

    /// Creates a tag.
    public init(rounds: [UInt8] = [], skippedBlocks: UInt8 = 0) {
      (self.rounds, self.skippedBlocks) = (rounds, skippedBlocks)
    }
  }

  /// The values of a tag of uplink TDoA.
  public struct UplinkTag: Sendable, Hashable {
    /// Milliseconds between two blinks.
    public var interval: UInt32
    /// The greatest random change of the interval in milliseconds, so that two tags do not collide
    /// repeatedly.
    public var randomWindow: UInt32
    /// An id of the tag in addition to its address: 0, 2, 4 or 8 bytes.
    public var deviceID: [UInt8]
    /// The width of the transmission time in a blink; nil: none.
    public var stampWidth: StampWidth?

    /// Creates a tag.
    public init(
      interval: UInt32 = 200, randomWindow: UInt32 = 0, deviceID: [UInt8] = [],
      stampWidth: StampWidth? = nil
    ) {
      (self.interval, self.randomWindow) = (interval, randomWindow)
      (self.deviceID, self.stampWidth) = (deviceID, stampWidth)
    }
  }

  /// The frames of an advertiser in each ranging round.
  public struct FrameTrain: Sendable, Hashable {
    /// The least number of frames in a round.
    public var count: UInt8
    /// Milliseconds between two frames.
    public var interval: UInt8

    /// Creates a train.
    public init(count: UInt8 = 4, interval: UInt8 = 1) {
      (self.count, self.interval) = (count, interval)
    }
  }
}

extension SessionConfiguration.Role {
  /// The value of DEVICE_ROLE.
  package var deviceRole: UInt8 {
    switch self {
    case .controlee: 0
    case .controller: 1
    case .uplinkSyncAnchor: 2
    case .uplinkAnchor: 3
    case .uplinkTag: 4
    case .advertiser: 5
    case .observer: 6
    case .downlinkAnchor: 7
    case .downlinkTag: 8
    }
  }

  /// The value of RANGING_ROUND_USAGE in one-way ranging; nil for two-way ranging, which has
  /// several.
  package var oneWayUsage: UInt8? {
    switch self {
    case .controlee, .controller: nil
    case .uplinkTag, .uplinkAnchor, .uplinkSyncAnchor: 0
    case .downlinkAnchor, .downlinkTag: 5
    case .advertiser, .observer: 6
    }
  }

  /// Whether frames go in one direction only.
  package var isOneWay: Bool { oneWayUsage != nil }

  /// Whether the end reports measurements. Other ends only send.
  public var measures: Bool {
    switch self {
    case .downlinkAnchor, .uplinkTag, .uplinkSyncAnchor, .advertiser: false
    case .controlee, .controller, .downlinkTag, .uplinkAnchor, .observer: true
    }
  }

  /// The value of DEVICE_TYPE; nil if AOSP's stack sends none.
  var deviceType: UInt8? {
    switch self {
    case .downlinkTag: nil
    case .downlinkAnchor(let anchor): anchor.isInitiator ? 1 : 0
    case .controller, .uplinkTag, .uplinkSyncAnchor, .advertiser: 1
    case .controlee, .uplinkAnchor, .observer: 0
    }
  }

  /// The parameters that only this role has.
  var parameters: [TLV] {
    func flag(_ isOn: Bool) -> [UInt8] { [isOn ? 1 : 0] }
    switch self {
    case .controlee, .controller, .uplinkAnchor: return []
    case .downlinkAnchor(let anchor):
      return [
        TLV(.dlTDoARangingMethod, flag(anchor.isDoubleSided)),
        TLV(
          .dlTDoATXTimestampConf, [anchor.timeBase.rawValue | anchor.stampWidth.rawValue << 1]),
        TLV(.dlTDoAHopCount, flag(anchor.content.contains(.hopCount))),
        TLV(.dlTDoAAnchorCFO, flag(anchor.content.contains(.clockOffset))),
        TLV(.dlTDoAAnchorLocation, anchor.location?.parameter ?? [0]),
        TLV(.dlTDoATXActiveRangingRounds, flag(anchor.content.contains(.activeRounds))),
        TLV(.dlTDoATimeReferenceAnchor, flag(anchor.isTimeReference)),
        TLV(.dlTDoAResponderToF, flag(anchor.content.contains(.flightTime))),
      ]
    case .downlinkTag(let tag): return [TLV(.dlTDoABlockSkipping, [tag.skippedBlocks])]
    case .uplinkTag(let tag):
      let code = [0: 0, 2: 1, 4: 2, 8: 3][tag.deviceID.count] ?? 0xFF
      return [
        TLV(.ulTDoATXInterval, tag.interval.littleEndianBytes),
        TLV(.ulTDoARandomWindow, tag.randomWindow.littleEndianBytes),
        TLV(.ulTDoADeviceID, [UInt8(code)] + tag.deviceID),
        TLV(.ulTDoATXTimestamp, [tag.stampWidth.map { $0.rawValue + 1 } ?? 0]),
      ]
    case .uplinkSyncAnchor(let width):
      return [TLV(.ulTDoATXTimestamp, [width.rawValue + 1])]
    case .advertiser(let train), .observer(let train):
      return [
        TLV(.minFramesPerRR, [train.count]), TLV(.interFrameInterval, [train.interval]),
      ]
    }
  }
}
