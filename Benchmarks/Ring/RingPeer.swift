// SPDX-License-Identifier: Apache-2.0
import RingPeers

/// Two rings of one kind in C or C++, one for each direction.
struct RingPeer {
  let functions: cuwb_ring_peer
  let there: UnsafeMutableRawPointer
  let back: UnsafeMutableRawPointer

  /// Returns nil if the header was not found when this was compiled.
  init?(_ functions: cuwb_ring_peer) {
    guard functions.is_present, let there = functions.create(), let back = functions.create()
    else { return nil }
    self.functions = functions
    (self.there, self.back) = (there, back)
  }

  func destroy() {
    functions.destroy(there)
    functions.destroy(back)
  }

  var name: String { String(cString: functions.name) }
  /// Whether the ring is from a library, rather than written for this benchmark.
  var isPackaged: Bool { functions.package != nil }

  /// All rings, including absent ones.
  static var known: [cuwb_ring_peer] {
    [
      cuwb_spinning_ring, cuwb_waking_ring, cuwb_boost_ring, cuwb_ck_ring, cuwb_moodycamel_ring,
    ]
  }

  /// The packages to install for the absent rings, one per line.
  static var absent: [String] {
    known.filter { !$0.is_present }.map {
      "absent: \(String(cString: $0.name)), no header when this was built "
        + "(Debian: \(String(cString: $0.package)))"
    }
  }

  func sameThread(_ frame: UnsafeRawBufferPointer, count: Int) -> UInt64 {
    functions.same_thread(there, frame.baseAddress!, count)
  }

  /// Returns the nanoseconds for all frames.
  func throughput(_ frame: UnsafeRawBufferPointer, count: Int) -> UInt64 {
    runPair(
      { functions.produce(there, frame.baseAddress!, count) },
      { _ = functions.consume(there, count) })
  }

  func roundTrip(
    _ frame: UnsafeRawBufferPointer, _ nanoseconds: UnsafeMutablePointer<UInt32>, count: Int
  ) {
    _ = runPair(
      { functions.call(there, back, frame.baseAddress!, nanoseconds, count) },
      { functions.answer(there, back, count) })
  }
}
