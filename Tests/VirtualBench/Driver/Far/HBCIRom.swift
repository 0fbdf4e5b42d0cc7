// SPDX-License-Identifier: Apache-2.0

/// The loader in an SR1xx that has just been switched on, by the bytes of nxp.md 3.1 and 3.2 (after
/// AOSP's hardware/nxp/uwb); not made with the loader of this package.
struct HBCIRom {
  /// What it has to say, one selection each.
  var answers: [[UInt8]] = []
  /// The image was accepted: the firmware runs when that has been read.
  private(set) var isDone = false
  private var behindAcknowledgement: [UInt8]?
  private var segment: [UInt8]?
  private var isInImageMode = false

  private static let acknowledged: [UInt8] = [0x04, 0x01, 0x00, 0x00]
  private static let wrongCheck: [UInt8] = [0x04, 0x81, 0x00, 0x00]

  mutating func take(_ bytes: [UInt8], _ state: inout SideState) {
    state.ledger.writes += 1
    if let header = segment {
      segment = nil
      return take(header, bytes, &state)
    }
    switch bytes {
    case [0x01, 0x36, 0x00, 0x00]: announce(0x36, count: 44, place: 39, 0x0F, &state)
    case [0x01, 0x31, 0x00, 0x00]: announce(0x31, count: 16, place: 8, 0xB1, &state)
    case Self.acknowledged:
      if let data = behindAcknowledgement { answers.append(data) }
      behindAcknowledgement = nil
    case [0x01, 0x21, 0x00, 0x00]:
      answers.append([0x02, isInImageMode ? 0x24 : 0x21, 0x00, 0x00])
    case [0x03, 0x24, 0x00, 0x00]:
      isInImageMode = true
      answers.append(Self.acknowledged)
    case [0x51, 0x01, 0x00, 0x00]:
      isDone = true
      answers.append([0x52, 0x01, 0x00, 0x00])
    default:
      guard bytes.count == 4, bytes.starts(with: [0x53, 0x01]), isInImageMode else {
        return state.ledger.violated("the loader does not understand \(bytes.prefix(8))")
      }
      segment = bytes
      answers.append(Self.acknowledged)
    }
  }

  private mutating func take(_ header: [UInt8], _ bytes: [UInt8], _ state: inout SideState) {
    let length = Int(header[2]) | Int(header[3]) << 8
    if bytes.count != (length == 0x8000 ? 2_049 : length) {
      state.ledger.violated("a segment of \(bytes.count) bytes announced as \(length)")
    }
    var arrived = bytes
    if state.faults.strikes(.flippedBit) {
      arrived[arrived.count / 2] ^= 0x10
      state.ledger.count("segments damaged")
    }
    let sum = (header + arrived).reduce(0) { ($0 + Int($1)) & 0xFF }
    if sum == 0 { state.ledger.count("segments") }
    answers.append(sum == 0 ? Self.acknowledged : Self.wrongCheck)
  }

  private mutating func announce(
    _ instruction: UInt8, count: Int, place: Int, _ value: UInt8, _ state: inout SideState
  ) {
    var data = (0..<count).map { UInt8($0 * 3 & 0xFF) }
    data[place] = value
    let header: [UInt8] = [0x02, instruction, UInt8(count + 1), 0x00]
    let sum = (header + data).reduce(0) { ($0 + Int($1)) & 0xFF }
    var answer = data + [UInt8((256 - sum) & 0xFF)]
    if state.faults.strikes(.flippedAnswer) { answer[1] ^= 0x10 }
    answers.append(header)
    behindAcknowledgement = answer
  }
}
