// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import NearbyInteraction

/// Errors of apps lead to errors, not to crashes.
@Suite struct BadInputTests {
  private func outcome(_ configuration: NIConfiguration) throws -> [Recorder.Call] {
    let fixture = try SessionTests.CoreFixture()
    fixture.session.run(configuration)
    fixture.recorder.drain()
    return fixture.recorder.calls
  }

  @Test func parametersTooLongForACommandAreErrors() throws {
    let invalid = [Recorder.Call.invalidated(.invalidConfiguration)]
    for count in [0, 7, 9, 300] {
      let anchors = NIDLTDOAConfiguration(networkIdentifier: 1)
      anchors.radio.staticSTS = [UInt8](repeating: 1, count: count)
      #expect(try outcome(anchors) == invalid)
    }
    let anchors = NIDLTDOAConfiguration(networkIdentifier: 1)
    anchors.radio.rounds = [UInt8](repeating: 1, count: 251)
    #expect(try outcome(anchors) == invalid)
    anchors.radio.rounds.removeLast()
    #expect(try outcome(anchors) == [])
  }

  @Test func dataThatNoRunHasGeneratedIsAnError() throws {
    let configuration = try SessionTests.CoreFixture().configuration
    for data in [Data(), Data([1]), Data(count: 25), Data(repeating: 0xFF, count: 300)] {
      configuration.shareableConfigurationData = data
      #expect(try outcome(configuration) == [.invalidated(.invalidConfiguration)])
    }
  }

  @Test func theStaticSTSIsNotPrinted() {
    var radio = NIDLTDOAConfiguration.Radio()
    radio.staticSTS = [201, 202, 203, 204, 205, 206, 207, 208]
    var dumped = ""
    dump(radio, to: &dumped)
    for text in ["\(radio)", String(reflecting: radio), dumped] {
      #expect(text.contains("channel 9") && !text.contains("202"), "\(text)")
    }
  }

  /// An app's own class, which cannot be run.
  @Test func configurationsOfOtherClasses() throws {
    final class Other: NIConfiguration {}
    let archive = try NSKeyedArchiver.archivedData(
      withRootObject: NIDLTDOAConfiguration(networkIdentifier: 1), requiringSecureCoding: true)
    let decoder = try NSKeyedUnarchiver(forReadingFrom: archive)
    let other = try #require(Other(coder: decoder))
    #expect(try outcome(other) == [.invalidated(.invalidConfiguration)])
  }

  @Test func extremeTimeouts() throws {
    for time in [
      Duration.seconds(-5), .zero, .seconds(Int64.max), .seconds(Int64.min),
      .seconds(9_223_372_036) + .milliseconds(900),
    ] {
      let recorder = Recorder()
      let core = SessionCore(executor: RecordingExecutor())
      let session = recorder.session(on: "tcp:127.0.0.1:9", core: core)
      session.timeouts.activity = time
      session.timeouts.firstMeasurement = time
      session.timeouts.inactivity = time
      session.run(NIDLTDOAConfiguration(networkIdentifier: 1))
      core.handle(.report(run: 1, .started(needsData: false)))
      session.timeouts.activity = time
      session.invalidate()
      #expect(session.timeouts.activity == time)
    }
  }

  @Test func tracksOfAllCapacities() {
    for capacity in [Int.min, -1, 0, 1, .max] {
      let track = PoseTrack(capacity: capacity)
      for time in 1...10 { track.append(MotionTests.pose(UInt64(time), x: 0, z: 0)) }
      #expect(track.pose(at: 10) != nil)
    }
  }

  @Test func regionsOfAnyRadius() {
    var regions = NIProximityRegions([-1, .nan, .infinity, 0, 2], confirmations: .min)
    let object = NINearbyObject(token: .accessory(), distance: 1)
    for _ in 0..<3 { _ = regions.update(object) }
    #expect(regions.smallest(around: object.token) == 2)
  }
}
