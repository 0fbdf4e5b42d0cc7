// SPDX-License-Identifier: Apache-2.0
import RingPeers

/// Two rings of one kind in C or C++, there and back.
struct RingPeer {
  let functions: cuwb_ring_peer
  let there: UnsafeMutableRawPointer
  let back: UnsafeMutableRawPointer

  /// Nil when the header was not there when this was compiled.
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
  /// From a library that others use, rather than written for this benchmark.
  var isPackaged: Bool { functions.package != nil }

  /// All, those that are absent included.
  static var known: [cuwb_ring_peer] {
    [
      cuwb_spinning_ring, cuwb_waking_ring, cuwb_boost_ring, cuwb_ck_ring, cuwb_moodycamel_ring,
    ]
  }

  /// What to install for the others, a line each.
  static var absent: [String] {
    known.filter { !$0.is_present }.map {
      "absent: \(String(cString: $0.name)), no header when this was built "
        + "(Debian: \(String(cString: $0.package)))"
    }
  }

  func sameThread(_ frame: UnsafeRawBufferPointer, count: Int) -> UInt64 {
    functions.same_thread(there, frame.baseAddress!, count)
  }

  /// Nanoseconds for all.
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
