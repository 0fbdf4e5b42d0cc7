// SPDX-License-Identifier: Apache-2.0
internal import UCI
internal import UCIReference
internal import UWB

/// No byte of a key gets into a capture, whatever message carries it.
///
/// Byte 0 selects the message and its segmentation. For a list of parameters or controlees, an
/// identifier and a length follow for each entry. Bytes of secrets are 0xB6 and 0xB7, and all other
/// values are 0x0D, so that the two differ.
enum SecretTarget: Target {
  static let name = "secrets"
  private static let key: [UInt8] = [0xB6, 0xB7]

  /// Two bytes of input become a parameter of up to 255 bytes.
  static func memoryLimit(for size: Int) -> Int { 65_536 + 32_768 * size }

  static func run(_ input: [UInt8]) {
    guard input.count >= 3 else { return }
    let isMulticast = input[0] & 1 != 0
    let isResponse = input[0] & 2 != 0
    let opcode: Opcode =
      isMulticast
      ? .sessionUpdateMulticastList
      : isResponse ? .sessionGetAppConfig : .sessionSetAppConfig
    let type: MessageType = isResponse && !isMulticast ? .response : .command
    let payload = isMulticast ? controlees(input.dropFirst(2)) : parameters(input, isResponse)
    let packets = Segmentation.packets(
      type: type, opcode: opcode, payload: payload, limit: max(8, Int(input[1])))
    written(packets, interrupted: input[0] & 8 != 0)
    anything(input)
  }

  private static func secret(_ count: Int) -> [UInt8] { (0..<count).map { key[$0 & 1] } }

  private static func parameters(_ input: [UInt8], _ isResponse: Bool) -> [UInt8] {
    var list: [TLV] = []
    var rest = input.dropFirst(2)
    // Less than 0xB6, because bytes of keys must not occur elsewhere.
    while let id = rest.popFirst(), let length = rest.popFirst().map({ $0 % 0xB0 }),
      list.count < 0xB0, !key.contains(id)
    {
      let isSecret = AppConfigID(rawValue: id).isSecret
      let value =
        isSecret ? secret(Int(length)) : [UInt8](repeating: 0x0D, count: Int(length))
      list.append(
        TLV(id, value, subID: (0xE4...0xE5).contains(id) && input[0] & 4 != 0 ? 3 : nil))
    }
    return isResponse
      ? TLVListResponse(status: .ok, parameters: list).encoded()
      : SetAppConfig(sessionToken: 1, parameters: list).encoded()
  }

  private static func controlees(_ input: ArraySlice<UInt8>) -> [UInt8] {
    var writer = PayloadWriter()
    writer.u32(7)
    let action = input.first! % 6
    writer.u8(action)
    let length = UpdateMulticastList.Action(rawValue: action).keyLength ?? 20
    let count = min(input.count - 1, 0xB0)
    writer.u8(UInt8(count))
    for address in 0..<count {
      writer.u16(UInt16(address))
      writer.u32(0)
      writer.bytes(secret(length))
    }
    return writer.bytes
  }

  private static func written(_ packets: [[UInt8]], interrupted: Bool) {
    var encoder = PcapngEncoder()
    var file = PcapngEncoder.preamble()
    let ready: [UInt8] = [0x60, 0x01, 0x00, 0x01, 0x01]
    for packet in packets {
      file += encoder.packet(.outbound, packet, time: 0)
      if interrupted { file += encoder.packet(.inbound, ready, time: 0) }
    }
    guard let capture = try? CaptureReader.read(file), capture.problems.isEmpty else {
      fail("a capture with redacted packets cannot be read")
    }
    let read = capture.packets.map(\.bytes).filter { !interrupted || $0 != ready }
    if read.map(\.count) != packets.map(\.count) { fail("redaction changes lengths") }
    for (redacted, packet) in zip(read, packets) {
      if redacted.prefix(4) != packet.prefix(4) { fail("redaction changes a header") }
      if redacted.dropFirst(4).contains(where: key.contains) {
        fail("bytes of a key are in the capture")
      }
    }
  }

  /// Arbitrary bytes: fields that any dialect shows as secrets are zero after the redaction.
  private static func anything(_ input: [UInt8]) {
    var packet = input
    packet[0] = input[0] & 1 == 0 ? 0x21 : 0x41
    packet[1] = [3, 4, 7, 3][Int(input[0] >> 1) & 3]
    var encoder = PcapngEncoder()
    let file = PcapngEncoder.preamble() + encoder.packet(.outbound, packet, time: 0)
    guard packet.count >= 4, let redacted = try? CaptureReader.read(file).packets.first?.bytes
    else { return }
    if redacted.count != packet.count { fail("redaction changes a length") }
    guard let header = try? PacketHeader(parsing: packet.span.bytes) else { return }
    guard Message.canCarryKeys(type: header.type, opcode: header.opcode) else { return }
    for number in 0..<12 as Range<UInt8> {
      let dialect = Dialect(number: number)
      let original = Message(
        type: header.type, opcode: header.opcode,
        payload: packet.span.bytes.extracting(4..<packet.count), dialect: dialect)
      // Bytes without a description count as one secret, including harmless ones.
      if case .opaque = original.content { continue }
      if !original.trailing.isEmpty { continue }
      var secrets: [[UInt8]] = []
      let shown = Message(
        type: header.type, opcode: header.opcode,
        payload: redacted.span.bytes.extracting(4..<redacted.count), dialect: dialect)
      collect(.object(shown.fields(dialect: dialect)), &secrets)
      if secrets.contains(where: { $0.contains { $0 != 0 } }) {
        fail("dialect \(number) reads a secret in what was redacted")
      }
    }
  }

  private static func collect(_ value: FieldValue, _ secrets: inout [[UInt8]]) {
    switch value {
    case .secret(let bytes): secrets.append(bytes)
    case .list(let values): for value in values { collect(value, &secrets) }
    case .object(let fields): for field in fields { collect(field.value, &secrets) }
    default: break
    }
  }

  static func seeds(_ frames: [[UInt8]]) -> [[UInt8]] {
    [
      [0, 255, 0x04, 1, 0x45, 16, 0x09, 4], [2, 255, 0x45, 16, 0x46, 16, 0x28, 8],
      [1, 255, 2, 1, 2], [1, 100, 3, 1, 2], [8, 20, 0x04, 1, 0x45, 32, 0x09, 4],
      [4, 255, 0xE4, 1, 0x45, 16, 0xA0, 16, 0xAA, 4],
    ] + frames.filter { $0.count > 4 && [3, 4, 7].contains($0[1]) }
  }
}
