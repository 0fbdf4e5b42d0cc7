// SPDX-License-Identifier: Apache-2.0

import Ranging
import UCI

/// The items of one report of RANGE_DIAGNOSTICS, collected until the report ends.
struct FrameItems {
  private(set) var peer = PeerDiagnostics()
  private var angles: (x: Double?, other: Double?) = (nil, nil)
  /// The first paths at the first and the second receiver.
  private var windows: (first: FirstPath?, second: FirstPath?) = (nil, nil)
  /// The times of the first paths of the Ipatov and STS segments at the primary receiver, in
  /// nanoseconds.
  private var ipatov: Double?
  private var sts: Double?
  private var wasReceived = true

  /// Adds an item. Ignores unknown items, and bytes with another layout than their type has.
  mutating func take(_ type: UInt8, _ item: RawSpan) {
    var reader = PayloadReader(item)
    switch type {
    case 1: takeAngles(&reader)
    case 3: if let status = try? reader.u16("status") { wasReceived = status & 1 != 0 }
    case 4:
      if let raw = try? reader.u32("CFO") {
        peer.carrier.add(Double(Int32(bitPattern: raw)) / 67.108864)
      }
    case 5: peer.emitter = try? reader.u16("emitter")
    case 6: takeSegments(&reader)
    case 7: takeWindows(item)
    default: break
    }
  }

  /// Returns the contents of the report; nil if the frame was not received correctly.
  func finished() -> PeerDiagnostics? {
    guard wasReceived else { return nil }
    var result = peer
    result.frames = 1
    if let phase = angles.x ?? windowPhase { result.azimuth.add(phase) }
    if let phase = angles.other { result.elevation.add(phase) }
    if let ipatov, let sts { result.segmentDisagreement.add(abs(ipatov - sts)) }
    return result
  }

  // The ends of lists are checked before reading, because a thrown error allocates.

  private mutating func takeAngles(_ reader: inout PayloadReader) {
    while reader.remaining >= 8, let angle = try? DiagnosticsReading.AoA(from: &reader) {
      if angle.axis == 0 {
        angles.x = angle.phaseDifference
      } else {
        angles.other = angle.phaseDifference
      }
    }
  }

  private mutating func takeSegments(_ reader: inout PayloadReader) {
    while reader.remaining >= 17,
      let segment = try? DiagnosticsReading.Segment(from: &reader)
    {
      let first = Self.level(segment.firstPath.rawLevel)
      let peak = Self.level(segment.peakPath.rawLevel)
      let noise = Self.level(UInt16(bitPattern: segment.rawNoise))
      let delay = Self.delay(from: segment.firstPath, to: segment.peakPath)
      if segment.id & 8 != 0 {
        let time = Double(segment.firstPath.rawTime) * Self.sample / 64
        if segment.id & 7 == 0 { ipatov = time } else { sts = sts ?? time }
      }
      if let level = Self.level(segment.rawLevel) { peer.level.add(level) }
      guard let first else { continue }
      peer.firstPathLevel.add(first)
      if let peak { peer.peakOverFirstPath.add(peak - first) }
      if let noise { peer.firstPathSNR.add(first - noise) }
      if let delay { peer.peakDelay.add(delay) }
    }
  }

  /// The nanoseconds between two samples of the impulse response.
  private static let sample = 1.0016

  /// Returns the level in dBm. Qorvo's chips report the magnitude of the negative level, AOSP's
  /// layout has a signed level, and both have 8 bits of fraction. Levels are below -20 dBm, so the
  /// sign distinguishes the two.
  private static func level(_ raw: UInt16) -> Double? {
    let signed = Double(Int16(bitPattern: raw)) / 256
    let dBm = signed < 0 ? signed : -signed
    return dBm <= -20 ? dBm : nil
  }

  /// Returns the nanoseconds from one path to another. Uses their times if these agree with their
  /// indices, as on Qorvo's chips, and otherwise the indices.
  private static func delay(
    from first: DiagnosticsReading.Path, to peak: DiagnosticsReading.Path
  ) -> Double? {
    func goesTogether(_ path: DiagnosticsReading.Path) -> Bool {
      UInt16(truncatingIfNeeded: UInt32(path.index) &* 64) &+ 64 &- path.rawTime <= 128
    }
    guard peak.index >= first.index, peak.index - first.index < 1016 else { return nil }
    let samples =
      goesTogether(first) && goesTogether(peak)
      ? Double(Int16(truncatingIfNeeded: Int(peak.rawTime) - Int(first.rawTime))) / 64
      : Double(peak.index - first.index)
    return samples * sample
  }

  // MARK: impulse responses

  /// The phase of the first path at the second receiver minus the phase at the first receiver.
  private var windowPhase: Double? {
    guard let a = windows.first, let b = windows.second else { return nil }
    return b.difference(from: a).phase
  }

  private mutating func takeWindows(_ item: RawSpan) {
    // The size may be of a sample or of one of its two parts. The assumption under which the
    // samples end with the item is used.
    for parts in [1, 2] where Self.ends(item, parts) {
      var reader = PayloadReader(item)
      while reader.remaining > 0, let head = Self.head(&reader) {
        let path = Self.firstPath(&reader, head, width: head.size * parts / 2)
        switch head.id >> 4 {
        case 0: windows.first = windows.first ?? path
        case 1: windows.second = windows.second ?? path
        default: break
        }
      }
      return
    }
  }

  private struct WindowHead {
    var id: UInt8
    var firstPath, count, size: Int
  }

  private static func head(_ reader: inout PayloadReader) -> WindowHead? {
    guard let id = try? reader.u8("segment"), let first = try? reader.u8("first path"),
      let count = try? reader.u8("samples"), let size = try? reader.u8("sample size")
    else { return nil }
    return WindowHead(id: id, firstPath: Int(first), count: Int(count), size: Int(size))
  }

  private static func ends(_ item: RawSpan, _ parts: Int) -> Bool {
    var reader = PayloadReader(item)
    while reader.remaining > 0 {
      // With a wrong assumption, sample bytes are read as a header, and usually contain zeros.
      guard let head = head(&reader), head.count > 0, head.size > 0,
        (try? reader.skip(head.count * head.size * parts, "samples")) != nil
      else { return false }
    }
    return true
  }

  /// The greatest number of samples that are read: the first path is among them.
  private static var mostSamples: Int { 64 }

  /// Reads the samples of a window.
  private static func firstPath(
    _ reader: inout PayloadReader, _ head: WindowHead, width: Int
  ) -> FirstPath? {
    var taps = InlineArray<64, ChannelTap>(repeating: ChannelTap(0, 0))
    let count = min(head.count, mostSamples)
    for index in 0..<head.count {
      let tap = ChannelTap(number(&reader, width), number(&reader, width))
      if index < count { taps[index] = tap }
    }
    guard 1...4 ~= width, head.firstPath < count else { return nil }
    return FirstPath(taps.span.extracting(0..<count), at: Double(head.firstPath))
  }

  /// Returns a number in two's complement with any number of bytes.
  private static func number(_ reader: inout PayloadReader, _ width: Int) -> Double {
    guard 1...4 ~= width else {
      try? reader.skip(width, "sample")
      return 0
    }
    var value: UInt32 = 0
    for index in 0..<width {
      value |= UInt32((try? reader.u8("sample")) ?? 0) << UInt32(8 * index)
    }
    let shift = UInt32(32 - 8 * width)
    return Double(Int32(bitPattern: value << shift) >> shift)
  }
}
