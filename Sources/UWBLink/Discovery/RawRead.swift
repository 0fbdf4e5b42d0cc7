// SPDX-License-Identifier: Apache-2.0
internal import CUWB
internal import Glibc

extension Link {
  /// Everything that arrives within a time, packets or not, as it is. For diagnosis of a line on
  /// which no packets can be found. Only while no `FrameReader` runs; blocks the thread.
  ///
  /// - Parameters:
  ///   - milliseconds: how long to listen.
  ///   - limit: enough bytes to stop earlier.
  package func readRaw(milliseconds: Int32, limit: Int = 4_096) -> [UInt8] {
    let descriptor = unsafe cuwb_link_descriptor(raw)
    let end = cuwb_monotonic_ns() + UInt64(max(0, milliseconds)) * 1_000_000
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 512)
    while bytes.count < limit {
      let now = cuwb_monotonic_ns()
      guard descriptor >= 0, now < end else { break }
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard unsafe poll(&waiting, 1, Int32((end - now) / 1_000_000) + 1) >= 0 else { break }
      guard waiting.revents != 0 else { continue }
      let count = unsafe read(descriptor, &buffer, buffer.count)
      guard count > 0 else { break }
      bytes += buffer[..<count]
    }
    return bytes
  }
}
