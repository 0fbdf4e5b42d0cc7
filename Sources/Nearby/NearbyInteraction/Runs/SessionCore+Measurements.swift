// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import System
internal import Ranging
internal import SIMDMath
internal import UCI
package import UCIReference
package import UWB

extension NISession {
  /// Ranges without a chip, for tests and benchmarks.
  ///
  /// - Returns: the handler of estimates that a chip with these capabilities would have.
  package func rangeWithoutChip(
    _ capabilities: Capabilities = Capabilities([])
  ) -> @Sendable (EstimatedMeasurement) -> Void {
    core.run(nil, token: .accessory(), finder: nil, problem: nil)
    let run = core.state.withLock { $0.machine.run }
    core.handle(.report(run: run, .started(needsData: false)))
    return core.estimates(of: run, AngleUse(capabilities))
  }
}

// The path of measurements from the reader's thread to the delegate's queue.
extension SessionCore {
  /// Returns the handler of a run's estimates, which the reader's thread calls.
  func estimates(of run: Int, _ angles: AngleUse) -> @Sendable (EstimatedMeasurement) -> Void {
    { [self] estimate in handle(estimate, run, angles) }
  }

  /// Returns the handler of a run's anchor messages, which the reader's thread calls.
  func anchors(of run: Int) -> RoundCallback {
    { [self] round in
      guard case .measurements(let view) = round.kind,
        let measurements = try? SessionInfo.measurements(of: view, dialect: .assumed)
      else { return }
      handleAnchors(measurements, run)
    }
  }

  /// Handles a measurement of the object. Returns whether the run still ranges.
  private func noteMeasurement(_ run: Int, _ state: inout State) -> Bool {
    apply(.report(run: run, .measured), &state)
    return state.machine.isRanging(run)
  }

  private func handle(_ estimate: EstimatedMeasurement, _ run: Int, _ angles: AngleUse) {
    let measurement = estimate.measurement.result
    guard let centimetres = measurement.distanceCentimetres else { return }
    let raw = Double(centimetres) / 100
    let time = estimate.measurement.receivedAt
    let sample = NISample(estimate, rawDistance: raw, angles)
    change { state in
      guard state.machine.isRanging(run), let token = state.token else { return }
      guard noteMeasurement(run, &state) else { return }
      let distance = Float(max(0, estimate.track?.distance ?? raw))
      let direction = sample.direction
      guard let finder = state.finder else {
        let object = NINearbyObject(
          token: token, distance: distance, direction: direction, sample: sample)
        send(.didUpdate([object]), run: run, &state)
        return
      }
      let azimuth = angles.isAllRound ? sample.azimuth.map { Double($0) } : nil
      finder.queue.async { [self] in
        let finding = finder.update(time: time, range: raw, azimuth: azimuth)
        let object = NINearbyObject(
          token: token, distance: distance, direction: finding.agreed(with: direction),
          horizontalAngle: finding.horizontalAngle, vertical: finding.vertical, sample: sample)
        send(object, finding, run)
      }
    }
  }

  private func send(_ object: NINearbyObject, _ finding: MotionFinder.Finding, _ run: Int) {
    change { state in
      guard state.machine.isRanging(run), !state.isSilenced else { return }
      if finding.isStatusChange {
        send(
          .didUpdateAlgorithmConvergence(NIAlgorithmConvergence(finding.status), object), &state)
      }
      send(.didUpdate([object]), run: run, &state)
    }
  }

  private func handleAnchors(_ measurements: SessionInfo.Measurements, _ run: Int) {
    change { state in
      guard state.machine.isRanging(run) else { return }
      let list = state.anchors.convert(measurements)
      guard !list.isEmpty else { return }
      guard noteMeasurement(run, &state) else { return }
      send(.didUpdateDLTDOA(list), run: run, &state)
    }
  }
}

extension NISample {
  init(_ estimate: EstimatedMeasurement, rawDistance: Double, _ angles: AngleUse) {
    let measurement = estimate.measurement.result
    self.init(
      rawDistance: Float(rawDistance),
      standardDeviation: Float(
        estimate.track?.standardDeviation ?? ChipFamily.unknown.uncalibratedDeviation),
      shortTermDeviation: Float(estimate.track?.shortTermDeviation ?? 0.1),
      isOutlier: estimate.track?.isOutlier ?? false, azimuth: angles.azimuth(measurement.azimuth),
      azimuthFigureOfMerit: angles.hasMerit ? measurement.azimuth.figureOfMerit : nil,
      elevation: angles.elevation(measurement.elevation),
      elevationFigureOfMerit: angles.hasMerit ? measurement.elevation.figureOfMerit : nil,
      rssi: measurement.rssiDBm.map { Float($0) },
      nonLineOfSightProbability: estimate.nonLineOfSight.map { Float($0) },
      sequenceNumber: estimate.measurement.sequenceNumber,
      receivedAt: estimate.measurement.receivedAt)
  }

  /// The direction from the antennas, in the frame of `NINearbyObject.direction`; nil if an angle
  /// is not reported.
  var direction: simd_float3? {
    guard let azimuth, let elevation else { return nil }
    return simd_float3(
      sin(azimuth) * cos(elevation), sin(elevation), -cos(azimuth) * cos(elevation))
  }
}
