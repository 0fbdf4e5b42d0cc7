// SPDX-License-Identifier: Apache-2.0
internal import UCI
package import UCIReference

extension SessionConfiguration.Role {
  /// Reads a role of one-way ranging from the parameters of a session. Returns nil for two-way
  /// ranging, and for roles that do not belong to the kind of ranging. The rounds of downlink TDoA
  /// are not parameters.
  package init?(oneWay parameters: SessionParameters) {
    func number(_ id: AppConfigID) -> UInt64 { parameters.number(id) ?? 0 }
    func flag(_ id: AppConfigID) -> Bool { number(id) == 1 }
    guard let role = parameters.number(.deviceRole) else { return nil }
    switch (parameters.number(.rangingRoundUsage), role) {
    case (0, 2):
      self = .uplinkSyncAnchor(number(.ulTDoATXTimestamp) == 2 ? .bits64 : .bits40)
    case (0, 3): self = .uplinkAnchor
    case (0, 4):
      var tag = SessionConfiguration.UplinkTag()
      tag.interval = UInt32(truncatingIfNeeded: number(.ulTDoATXInterval))
      tag.randomWindow = UInt32(truncatingIfNeeded: number(.ulTDoARandomWindow))
      tag.deviceID = Array((parameters[.ulTDoADeviceID] ?? []).dropFirst())
      let width = number(.ulTDoATXTimestamp)
      tag.stampWidth = width == 0 ? nil : width == 2 ? .bits64 : .bits40
      self = .uplinkTag(tag)
    case (6, 5), (6, 6):
      let train = SessionConfiguration.FrameTrain(
        count: UInt8(clamping: number(.minFramesPerRR)),
        interval: UInt8(clamping: number(.interFrameInterval)))
      self = role == 5 ? .advertiser(train) : .observer(train)
    case (5, 7):
      var anchor = SessionConfiguration.DownlinkAnchor(rounds: [])
      anchor.isDoubleSided = flag(.dlTDoARangingMethod)
      let stamps = UInt8(clamping: number(.dlTDoATXTimestampConf))
      anchor.timeBase = stamps & 1 == 1 ? .common : .local
      anchor.stampWidth = stamps >> 1 & 1 == 1 ? .bits64 : .bits40
      anchor.location = parameters[.dlTDoAAnchorLocation].flatMap { AnchorLocation(parameter: $0) }
      let content: [(AppConfigID, SessionConfiguration.DownlinkAnchor.Content)] = [
        (.dlTDoAHopCount, .hopCount), (.dlTDoAAnchorCFO, .clockOffset),
        (.dlTDoAResponderToF, .flightTime), (.dlTDoATXActiveRangingRounds, .activeRounds),
      ]
      anchor.content = content.reduce(into: []) { if flag($1.0) { $0.insert($1.1) } }
      anchor.isTimeReference = flag(.dlTDoATimeReferenceAnchor)
      self = .downlinkAnchor(anchor)
    case (5, 8):
      self = .downlinkTag(
        .init(skippedBlocks: UInt8(clamping: number(.dlTDoABlockSkipping))))
    default: return nil
    }
  }
}
