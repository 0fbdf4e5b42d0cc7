// SPDX-License-Identifier: Apache-2.0

/// RADAR_RX_NTF of NXP's group 9: channel impulse responses, or who is there.
///
/// Source: published logs of an SR250 (nxp-uwb/sr250-uwbiot-zephyr, demo_ocpd); names of the fields
/// (facts only) nxp-appcodehub/an-sr250-uwb-plug-and-play-demo.
package struct NXPRadarNotification: UCINotification, Hashable {
  package static let opcode = Opcode(GroupID(rawValue: 0x9), 0x0A)

  /// Somebody.
  package struct Detection: FieldGroup, Hashable, Sendable {
    /// Centimetres.
    package var distance: UInt16 = 0
    /// Degrees.
    package var angle: Int8 = 0
    /// A number that names it.
    package var id: UInt8 = 0
    /// A measure of the signal to noise, as it comes: its unit is not known.
    package var rawValue: UInt32 = 0

    package init() {}

    package mutating func visit<C: FieldCoder & ~Escapable>(
      _ coder: inout C
    ) throws(PayloadError) {
      try coder.field("distance_cm", &distance)
      try coder.field("angle_deg", &angle)
      try coder.field("id", &id)
      try coder.field("value_raw", &rawValue)
    }
  }

  /// Channel impulse responses.
  package struct ImpulseResponses: FieldGroup, Hashable, Sendable {
    package var count: UInt16 = 0
    /// Units of 4 bytes in each.
    package var size: UInt8 = 0
    package var reserved: UInt8 = 0
    package var bytes: [UInt8] = []

    package init() {}

    package mutating func visit<C: FieldCoder & ~Escapable>(
      _ coder: inout C
    ) throws(PayloadError) {
      try coder.field("count", &count)
      try coder.field("size_words", &size)
      try coder.field("reserved", &reserved, .hidden)
      try coder.bytes("responses", &bytes, .rest)
    }
  }

  /// Whether somebody is there.
  package struct Presence: FieldGroup, Hashable, Sendable {
    package var detected: UInt8 = 0
    package var mode: UInt8 = 0
    package var count: UInt8 = 0
    package var reserved: UInt8 = 0
    /// Those that are there, whatever `count` says: published logs have one where it is 0.
    package var detections: [Detection] = []

    package init() {}

    package mutating func visit<C: FieldCoder & ~Escapable>(
      _ coder: inout C
    ) throws(PayloadError) {
      try coder.field("presence", &detected, .flag)
      try coder.field("mode", &mode)
      try coder.field("count", &count)
      try coder.field("reserved", &reserved, .hidden)
      try coder.list("detections", &detections, .fitting(8))
    }
  }

  /// What was measured.
  package enum Content: Hashable, Sendable {
    case impulseResponses(ImpulseResponses)
    case presence(Presence)
    case other([UInt8])
  }

  package var sessionToken: UInt32 = 0
  /// Whether the data is good.
  package var status = Status.ok
  package var type: UInt8 = 0
  package var content = Content.impulseResponses(ImpulseResponses())

  package init() {}

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
    try coder.code("status", &status)
    try coder.field("radar_type", &type, .names(["CIR", "PRESENCE"]))
    if coder.isReading {
      switch type {
      case 0: content = .impulseResponses(ImpulseResponses())
      case 1: content = .presence(Presence())
      default: content = .other([])
      }
    }
    switch content {
    case .impulseResponses(var responses):
      try responses.visit(&coder)
      content = .impulseResponses(responses)
    case .presence(var presence):
      try presence.visit(&coder)
      content = .presence(presence)
    case .other(var bytes):
      try coder.bytes("payload", &bytes, .rest)
      content = .other(bytes)
    }
  }
}
