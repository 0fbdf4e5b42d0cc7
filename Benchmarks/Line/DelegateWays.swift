// SPDX-License-Identifier: Apache-2.0
import CUWBTestSupport
import Dispatch
import Foundation
import NearbyInteraction
import Ranging
import UCI
import UWBDriver
import UWBLink

/// Everything in the handler, and from there to a queue: what a delegate on a queue costs at least.
final class QueueWay: ReaderWay {
  init(capacity: Int) {
    super.init(capacity: capacity) { destination in
      let queue = DispatchQueue(label: "floor")
      let estimator = Cell(RangeEstimator())
      return { octets, info in
        guard let view = DecodeSink.view(octets) else { return }
        let time = Double(info.receivedAt) * 1e-9
        view.forEachTwoWayMeasurement { measurement in
          guard let distance = measurement.distanceCentimetres else { return }
          estimator.pointer.pointee.update(
            RangeSample(time: time, distance: Double(distance) / 100))
        }
        let number = Int(view.sequenceNumber)
        queue.async { destination.note(number) }
      }
    }
  }
}

/// To the delegate of an `NISession`, on a queue.
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
    let (session, take) = NISession.fed()
    self.session = session
    let destination = Destination(capacity: capacity)
    delegate = Delegate(destination)
    super.init(capacity: capacity, destination: destination) { _ in
      { octets, info in
        guard let view = DecodeSink.view(octets) else { return }
        take(view, info)
      }
    }
    session.delegateQueue = DispatchQueue(label: "delegate")
    session.delegate = delegate
  }

  override func stop() {
    super.stop()
    session.invalidate()
  }
}
