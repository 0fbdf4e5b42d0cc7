// SPDX-License-Identifier: Apache-2.0

/// RADAR_RX_NTF of NXP's group 9: channel impulse responses, or detected persons.
///
/// Source: published logs of an SR250 (nxp-uwb/sr250-uwbiot-zephyr, demo_ocpd); names of the fields
/// (facts only) nxp-appcodehub/an-sr250-uwb-plug-and-play-demo.
struct NXPRadarNotification: UCINotification, Hashable {
  static let opcode = Opcode(GroupID(rawValue: 0x9), 0x0A)

  struct Detection: FieldGroup, Hashable, Sendable {
    /// Centimetres.
    var distance: UInt16 = 0
    /// Degrees.
    var angle: Int8 = 0
    var id: UInt8 = 0
    /// A raw measure of signal to noise: its unit is unknown.
    var rawValue: UInt32 = 0

    mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
      try coder.field("distance_cm", &distance)
      try coder.field("angle_deg", &angle)
      try coder.field("id", &id)
      try coder.field("value_raw", &rawValue)
    }
  }

  struct ImpulseResponses: FieldGroup, Hashable, Sendable {
    var count: UInt16 = 0
    /// The size of a channel impulse response, in units of 4 bytes.
    var size: UInt8 = 0
    var reserved: UInt8 = 0
    var bytes: [UInt8] = []

    mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
      try coder.field("count", &count)
      try coder.field("size_words", &size)
      try coder.field("reserved", &reserved, .hidden)
      try coder.bytes("responses", &bytes, .rest)
    }
  }

  struct Presence: FieldGroup, Hashable, Sendable {
    var detected: UInt8 = 0
    var mode: UInt8 = 0
    var count: UInt8 = 0
    var reserved: UInt8 = 0
    /// The detections present, for any `count`: published logs have a detection where `count` is 0.
    var detections: [Detection] = []

    mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
      try coder.field("presence", &detected, .flag)
      try coder.field("mode", &mode)
      try coder.field("count", &count)
      try coder.field("reserved", &reserved, .hidden)
      try coder.list("detections", &detections, .fitting(8))
    }
  }

  enum Content: Hashable, Sendable {
    case impulseResponses(ImpulseResponses)
    case presence(Presence)
    case other([UInt8])
  }

  var sessionToken: UInt32 = 0
  var status = Status.ok
  var type: UInt8 = 0
  var content = Content.impulseResponses(ImpulseResponses())

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
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
