// SPDX-License-Identifier: Apache-2.0

import System
import UWBLink

@testable import UWB

/// A chip's loader at the other end: an SR1xx with the dialogue of AOSP's HAL, or an SR2xx. Written
/// from the published bytes, without the encoder under test.
final class ScriptedLoader: LoaderPort {
  struct State {
    /// The bytes for the host, one element for each selection.
    var answers: [[UInt8]] = []
    var image: [UInt8] = []
    var pendingHeader: [UInt8]?
    var inImageMode = false
    var resets = 0
    var ended = false
    /// The errors in the host's frames.
    var faults: [String] = []

    var lifeCycle: UInt8 = 0x0F
    var revision: UInt8 = 0xB1
    /// The answer to the question whether the loader accepts the image.
    var verdict: UInt8 = 0x01
    /// The number of acknowledgements of data that the loader replaces by the instruction
    /// `dataError`.
    var dataErrors = 0
    var dataError: UInt8 = 0x81
    /// The number of answers that are never sent.
    var silences = 0
    /// Flips a bit of the next payload that the loader sends.
    var damagesPayload = false
  }

  let state = Locked(State())

  func beginLoading() throws(LinkError) {
    state.withLock {
      $0.resets += 1
      $0.answers = []
      $0.image = []
      $0.pendingHeader = nil
      $0.inImageMode = false
    }
  }

  func endLoading() throws(LinkError) { state.withLock { $0.ended = true } }

  func receiveFromLoader(
    _ count: Int, timeout: Int32
  ) throws(LinkError) -> [UInt8] {
    let answer = state.withLock { state -> [UInt8]? in
      guard let first = state.answers.first else { return nil }
      if state.silences > 0 {
        state.silences -= 1
        return nil
      }
      if first.count != count { state.faults.append("read \(count), not \(first.count)") }
      state.answers.removeFirst()
      return first
    }
    guard let answer else { throw LinkError(.timeout, endpoint: "scripted") }
    return answer
  }

  func sendToLoader(_ bytes: [UInt8]) throws(LinkError) {
    state.withLock { state in
      if let header = state.pendingHeader {
        state.pendingHeader = nil
        state.take(header, bytes)
      } else {
        state.react(bytes)
      }
    }
  }
}

extension ScriptedLoader.State {
  /// The dialogue in hexadecimal, as in the reference.
  mutating func react(_ bytes: [UInt8]) {
    switch bytes {
    case [0x01, 0x36, 0x00, 0x00]: announce(0x36, information(44, at: 39, lifeCycle))
    case [0x01, 0x31, 0x00, 0x00]: announce(0x31, information(16, at: 8, revision))
    case [0x04, 0x01, 0x00, 0x00]: break
    case [0x01, 0x21, 0x00, 0x00]:
      answers.append(inImageMode ? [0x02, 0x24, 0x00, 0x00] : [0x02, 0x21, 0x00, 0x00])
    case [0x03, 0x24, 0x00, 0x00]:
      inImageMode = true
      answers.append([0x04, 0x01, 0x00, 0x00])
    case [0x51, 0x01, 0x00, 0x00]: answers.append([0x52, verdict, 0x00, 0x00])
    default:
      guard bytes.count == 4, bytes[0] == 0x53, bytes[1] == 0x01, inImageMode else {
        faults.append("not understood: \(bytes.prefix(8))")
        return
      }
      pendingHeader = bytes
      answers.append([0x04, 0x01, 0x00, 0x00])
    }
  }

  private mutating func announce(_ instruction: UInt8, _ data: [UInt8]) {
    let header: [UInt8] = [0x02, instruction, UInt8(data.count + 1), 0x00]
    var sum = (header + data).reduce(0) { ($0 + Int($1)) & 0xFF }
    if damagesPayload {
      sum += 1
      damagesPayload = false
    }
    answers += [header, data + [UInt8((256 - sum) & 0xFF)]]
  }

  private func information(_ count: Int, at place: Int, _ value: UInt8) -> [UInt8] {
    var bytes = (0..<count).map { UInt8($0 * 3 & 0xFF) }
    bytes[place] = value
    return bytes
  }

  fileprivate mutating func take(_ header: [UInt8], _ bytes: [UInt8]) {
    let length = Int(header[2]) + Int(header[3]) * 256
    let isLast = length < 0x8000
    if bytes.count != (isLast ? length : 2_049) { faults.append("segment of \(bytes.count)") }
    if !isLast, length != 0x8000 { faults.append("length \(length)") }
    let sum = (header + bytes).reduce(0) { ($0 + Int($1)) & 0xFF }
    if sum != 0 { faults.append("check byte") }
    if dataErrors > 0 {
      dataErrors -= 1
      answers.append([0x04, dataError, 0x00, 0x00])
      return
    }
    image += bytes.dropLast()
    answers.append([0x04, 0x01, 0x00, 0x00])
  }
}

/// An SR2xx answers each frame with one frame.
final class ScriptedFlash: LoaderPort {
  struct State {
    var answers: [[UInt8]] = []
    var written: [[UInt8]] = []
    var resets = 0
    /// The status in the answer to the frame with this number.
    var statuses: [Int: UInt8] = [:]
    var silentFrom: Int?
    var isReady = true
  }

  let state = Locked(State())

  static func frame(_ payload: [UInt8], moreFollow: Bool = false) -> [UInt8] {
    let length = UInt16(payload.count) | (moreFollow ? 0x2000 : 0)
    let begin = [UInt8(length >> 8), UInt8(length & 0xFF)] + payload
    var crc: UInt32 = 0xFFFF
    for byte in begin {
      for bit in (0..<8).reversed() {
        let top = crc >> 15 & 1
        crc = crc << 1 & 0xFFFF
        if top != UInt32(byte >> UInt8(bit) & 1) { crc ^= 0x1021 }
      }
    }
    return begin + [UInt8(crc >> 8), UInt8(crc & 0xFF)]
  }

  func beginLoading() throws(LinkError) {
    state.withLock {
      $0.resets += 1
      $0.answers = $0.isReady ? [[0x00, 0x04, 0x81, 0x01, 0x02, 0x00, 0x7D, 0xC8]] : []
    }
  }

  func endLoading() throws(LinkError) {}

  func receiveFromLoader(
    _ count: Int, timeout: Int32
  ) throws(LinkError) -> [UInt8] {
    let bytes = state.withLock { state -> [UInt8]? in
      guard let first = state.answers.first, first.count >= count else { return nil }
      state.answers[0] = Array(first.dropFirst(count))
      if state.answers[0].isEmpty { state.answers.removeFirst() }
      return Array(first.prefix(count))
    }
    guard let bytes else { throw LinkError(.timeout, endpoint: "scripted") }
    return bytes
  }

  func sendToLoader(_ bytes: [UInt8]) throws(LinkError) {
    state.withLock { state in
      let number = state.written.count
      state.written.append(bytes)
      if let from = state.silentFrom, number >= from { return }
      // The editor of the loader reports once that it is ready.
      if number == 1 { state.answers.append([0x00, 0x04, 0x81, 0x03, 0x02, 0x00, 0x13, 0xA8]) }
      state.answers.append(Self.frame([0x43, bytes[3], state.statuses[number] ?? 0x00, 0x00]))
    }
  }
}
