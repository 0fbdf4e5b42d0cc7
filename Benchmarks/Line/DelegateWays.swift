// SPDX-License-Identifier: Apache-2.0
import CUWBTestSupport
import Dispatch
import Foundation
import NearbyInteraction
import UCI
import UWB
import UWBLink

/// The pipeline of a session in the handler, followed by a call on a queue. This is the least cost
/// of a delegate on a queue.
final class QueueWay: ReaderWay {
  init(capacity: Int) {
    super.init(capacity: capacity) { destination in
      let queue = DispatchQueue(label: "floor")
      let estimator = InlineEstimator()
      return { bytes, info in
        guard let view = DecodeSink.view(bytes) else { return }
        estimator.add(RoundNotification(.measurements(view), info)) { estimate in
          let number = Int(estimate.measurement.sequenceNumber)
          queue.async { destination.note(number) }
        }
      }
    }
  }
}

/// The path to the delegate of an `NISession`, on a queue.
final class DelegateWay: ReaderWay {
  private final class Delegate: NSObject, NISessionDelegate {
    let destination: Destination
    init(_ destination: Destination) { self.destination = destination }
    func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
      guard let sample = nearbyObjects.first?.sample else { return }
      destination.note(Int(sample.sequenceNumber))
    }
  }

  private let session: NISession
  private let delegate: Delegate

  init(capacity: Int) {
    session = NISession()
    session.delegateQueue = DispatchQueue(label: "delegate")
    let (estimator, handle) = (InlineEstimator(), session.rangeWithoutChip())
    let destination = Destination(capacity: capacity)
    delegate = Delegate(destination)
    super.init(capacity: capacity, destination: destination) { _ in
      { bytes, info in
        guard let view = DecodeSink.view(bytes) else { return }
        estimator.add(RoundNotification(.measurements(view), info), handle)
      }
    }
    session.delegate = delegate
  }

  override func stop() {
    super.stop()
    session.invalidate()
  }
}
