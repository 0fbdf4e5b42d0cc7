// SPDX-License-Identifier: Apache-2.0

import UCI

extension EstimationPipeline.Reports {
  /// What is said of one of the peers of a round; nil when nothing tells whom it is about.
  func seen(
    of result: TwoWayMeasurement, _ index: Int, among all: [RangingMeasurement]
  ) -> PeerDiagnostics? {
    guard result.status.isSuccess else { return nil }
    // By index: without optimisation iterators allocate.
    var sum = PeerDiagnostics()
    if all.count == 1 {
      for index in 0..<frames.count { sum.join(frames[index].seen) }
      return sum.frames > 0 ? sum : nil
    }
    let address = UInt16(truncatingIfNeeded: result.peer.value)
    var responses = 0
    for index in 0..<frames.count {
      if frames[index].seen.emitter == address { sum.join(frames[index].seen) }
      if frames[index].isResponse { responses += 1 }
    }
    if sum.frames > 0 { return sum }
    // Answers come in the order of the peers, where none is missing.
    var place = 0
    var successes = 0
    for other in 0..<all.count where all[other].result.status.isSuccess {
      if other < index { place += 1 }
      successes += 1
    }
    guard responses == successes else { return nil }
    for index in 0..<frames.count where frames[index].isResponse {
      if frames[index].seen.emitter != nil { return nil }
      if place == 0 { return frames[index].seen }
      place -= 1
    }
    return nil
  }
}
