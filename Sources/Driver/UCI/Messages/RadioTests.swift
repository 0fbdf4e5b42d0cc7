// SPDX-License-Identifier: Apache-2.0

/// TEST_CONFIG_SET: parameters of the radio tests, in a session of type 0xD0.
package struct TestConfigSet: SetParametersCommand, Hashable {
  package static let opcode = Opcode(.test, 0x00)
  package static let space = ParameterSpace.test
  package var sessionToken: UInt32 = 0
  package var parameters: [TLV] = []
  package init() {}
}

package struct TestConfigGet: GetParametersCommand, Hashable {
  package static let opcode = Opcode(.test, 0x01)
  package static let space = ParameterSpace.test
  package var sessionToken: UInt32 = 0
  package var ids: [UInt8] = []
  package init() {}
}

/// A radio test whose payload is the payload to send or to expect.
package protocol TestPSDUCommand: UCICommand {
  /// The payload of the frames; empty for tests without one.
  var psdu: [UInt8] { get set }
}

extension TestPSDUCommand {
  package init(psdu: [UInt8]) {
    self.init()
    self.psdu = psdu
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.bytes("psdu", &psdu, .rest)
  }
}

/// TEST_PERIODIC_TX: sends frames repeatedly.
package struct TestPeriodicTX: TestPSDUCommand, Hashable {
  package static let opcode = Opcode(.test, 0x02)
  package var psdu: [UInt8] = []
  package init() {}
}

/// TEST_PER_RX: receives frames and counts errors.
package struct TestPERRX: TestPSDUCommand, Hashable {
  package static let opcode = Opcode(.test, 0x03)
  package var psdu: [UInt8] = []
  package init() {}
}

/// TEST_RX: receives one frame.
package struct TestRX: TestPSDUCommand, Hashable {
  package static let opcode = Opcode(.test, 0x05)
  /// Empty on some chips, the payload of the frame on others.
  package var psdu: [UInt8] = []
  package init() {}
}

/// TEST_LOOPBACK: sends a frame and receives it.
package struct TestLoopback: TestPSDUCommand, Hashable {
  package static let opcode = Opcode(.test, 0x06)
  package var psdu: [UInt8] = []
  package init() {}
}

/// TEST_STOP_SESSION: ends a test that is running.
package struct TestStopSession: EmptyCommand, Hashable {
  package static let opcode = Opcode(.test, 0x07)
  package init() {}
}

/// TEST_SS_TWR: one single-sided two-way ranging.
package struct TestSSTWR: EmptyCommand, Hashable {
  package static let opcode = Opcode(.test, 0x08)
  // Each command starts another measurement.
  package static let isIdempotent = false
  package init() {}
}

/// TEST_SR_RX: receives frames and reports which of them had the right scrambled timestamps. FiRa
/// 2.0.
package struct TestSRRX: EmptyCommand, Hashable {
  package static let opcode = Opcode(.test, 0x09)
  // Each command starts another measurement.
  package static let isIdempotent = false
  package init() {}
}
