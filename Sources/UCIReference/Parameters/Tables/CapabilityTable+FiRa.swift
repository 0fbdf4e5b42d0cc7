// SPDX-License-Identifier: Apache-2.0

import UCI

// The numbers are those of FiRa UCI 1.x and of 2.0. Sources as in CapabilityTable.swift.
extension CapabilityTable {
  static let fira: [Row] = [
    row(.maxMessageSize, 0x12, 0x00, [2], unit: "bytes", summary: "Longest control message."),
    row(
      .maxDataPacketPayloadSize, 0x13, 0x01, [2], unit: "bytes",
      summary: "Longest payload of a data packet."),
    row(
      .firaPHYVersionRange, 0x00, 0x02, [4], format: .versionRange, summary: "Versions of the PHY."),
    row(
      .firaMACVersionRange, 0x01, 0x03, [4], format: .versionRange, summary: "Versions of the MAC."),
    row(
      .deviceType, nil, 0x04, [1], format: .mask, values: bits("controller", "controlee"),
      summary: "What the device can be in a session; NXP uses further bits."),
    row(
      .deviceRoles, 0x02, 0x05, [1, 2], format: .mask,
      values: bits(
        "responder", "initiator", "UT-sync anchor", "UT-anchor", "UT-tag", "advertiser", "observer",
        "DT-anchor", "DT-tag"), summary: "What the device can be in a round."),
    row(
      .rangingMethod, 0x03, 0x06, [1, 2], format: .mask,
      values: bits(
        "UL-TDoA", "SS-TWR deferred", "DS-TWR deferred", "SS-TWR non-deferred",
        "DS-TWR non-deferred", "DL-TDoA", "OWR AoA", "eSS-TWR", "aDS-TWR"),
      summary: "How rounds measure."),
    row(
      .rangingMethod, 0x03, 0x06, [1, 2], format: .mask,
      values: bits(
        "UL-TDoA", "SS-TWR deferred", "DS-TWR deferred", "SS-TWR non-deferred",
        "DS-TWR non-deferred", "DL-TDoA", "OWR AoA", "eSS-TWR", "aDS-TWR", "data transfer",
        "bit 10", "Aliro"), vendors: [.nxp], summary: "How rounds measure."),
    row(
      .stsConfig, 0x04, 0x07, [1], format: .mask,
      values: bits(
        "static", "dynamic", "dynamic, controlee key", "provisioned", "provisioned, controlee key"),
      summary: "Where the scrambled timestamp sequence can come from."),
    row(
      .multiNodeMode, 0x05, 0x08, [1], format: .mask,
      values: bits("unicast", "one to many", "many to many"),
      summary: "How many peers can take part."),
    row(
      .rangingTimeStruct, 0x06, 0x09, [1], format: .mask,
      values: bits("interval based", "block based"), summary: "How time can be divided."),
    row(
      .scheduleMode, 0x07, 0x0A, [1], format: .mask,
      values: bits("contention based", "time scheduled", "hybrid"), summary: "Who can send when."),
    row(
      .hoppingMode, 0x08, 0x0B, [1], values: yesNo,
      summary: "Whether rounds can hop within a block."),
    row(.blockStriding, 0x09, 0x0C, [1], values: yesNo, summary: "Whether blocks can be skipped."),
    row(
      .uwbInitiationTime, 0x0A, 0x0D, [1], values: yesNo,
      summary: "Whether a session can start at a given time."),
    row(
      .channels, 0x0B, 0x0E, [1], format: .mask,
      values: bits("5", "6", "8", "9", "10", "12", "13", "14"), summary: "UWB channels."),
    row(
      .rframeConfig, 0x0C, 0x0F, [1], format: .mask, values: bits("SP0", "SP1", "SP2", "SP3"),
      summary: "Where frames can have their STS."),
    row(
      .ccConstraintLength, 0x0D, 0x10, [1], format: .mask, values: bits("K=3", "K=7"),
      summary: "Constraint lengths of the convolutional code."),
    row(
      .bprfParameterSets, 0x0E, 0x11, [1], format: .mask, values: counted(from: 1, 8),
      summary: "Sets of parameters with the base pulse repetition frequency."),
    row(
      .hprfParameterSets, 0x0F, 0x12, [5], format: .mask, values: counted(from: 1, 40),
      summary: "Sets of parameters with the higher pulse repetition frequency."),
    row(
      .aoaSupport, 0x10, 0x13, [1], format: .mask,
      values: bits("azimuth ±90°", "azimuth ±180°", "elevation", "figure of merit"),
      summary: "Angles the chip can measure."),
    row(
      .extendedMACAddress, 0x11, 0x14, [1], values: yesNo,
      summary: "Whether addresses can have eight bytes."),
    row(
      .suspendRanging, nil, 0x15, [1], values: yesNo, summary: "Whether ranging can be suspended."),
    row(
      .sessionKeyLength, nil, 0x16, [1], format: .mask,
      values: bits("256 bits, dynamic STS", "256 bits, provisioned STS"),
      summary: "Keys longer than 128 bits."),
    row(
      .dtAnchorMaxActiveRounds, nil, 0x17, [1], unit: "rounds",
      summary: "DL-TDoA: active rounds of an anchor."),
    row(
      .dtTagMaxActiveRounds, nil, 0x18, [1], unit: "rounds",
      summary: "DL-TDoA: active rounds of a tag."),
    row(
      .dtTagBlockSkipping, nil, 0x19, [1], values: yesNo,
      summary: "DL-TDoA: whether tags can skip blocks."),
    row(
      .psduLengthSupport, nil, 0x1A, [1], values: [0: "no", 1: "2047 bytes"],
      summary: "Whether frames can be longer than 127 bytes (meaning not confirmed)."),
    row(
      .linkLayer, nil, 0x1B, [2],
      summary:
        "Bit 0 logical links, 1 aggregated, 2 secure, 3 non-secure; bits 11…8 links at most, 15…12 links of a session."
    ),
    row(
      .bypassMode, nil, 0x1C, [1], values: yesNo,
      summary: "Whether data can go past the link layer."),
    row(.minSlotDuration, nil, 0x1D, [2], unit: "RSTU", summary: "Shortest slot."),
  ]
}
