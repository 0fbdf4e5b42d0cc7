// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Formats
import Testing
import UWBSimulator
import UWBTestSupport

@Suite struct SceneFileTests {
  private static func read(_ text: String) throws -> SceneFile {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    return try SceneFile(file: folder.write(text, to: "scene.json"))
  }

  @Test func anEmptySceneChangesNothing() throws {
    var scene = Scene(seed: 1)
    try Self.read("{}").apply(to: &scene)
    #expect(scene == Scene(seed: 1))
  }

  @Test func conditionsAreApplied() throws {
    var scene = Scene(seed: 1)
    try Self.read(
      """
      {"loss": 0.5, "distance_noise_m": 0.2, "angle_noise_deg": 3, "range_m": 12,
       "clock_ppm": 5, "clock_wander_ppm": 0.5, "carrier_noise_ppm": 0.1, "level_noise_db": 2,
       "noise_dbm": -90, "reflection_delay_ns": 7, "reflection_loss_db": 9,
       "walls": [{"from": [0, 0], "to": [1, 1], "loss_db": 6}], "collisions": true}
      """
    ).apply(to: &scene)
    #expect(scene.radio.collisions)
    #expect(scene.loss == 0.5 && scene.distanceNoise == 0.2 && scene.angleNoise == 3)
    #expect(scene.range == 12 && scene.radio.clockSpread == 5 && scene.radio.clockWander == 0.5)
    #expect(scene.radio.carrierNoise == 0.1 && scene.radio.levelNoise == 2)
    #expect(scene.radio.noiseLevel == -90 && scene.radio.reflectionDelay == 7)
    #expect(scene.radio.reflectionLoss == 9 && scene.radio.walls.map(\.loss) == [6])
  }

  @Test func aChipsOwnConditionsFollowThoseOfAll() throws {
    let file = try Self.read(
      """
      {"chips": {"all": {"yaw_deg": 10, "clock_ppm": 1}, "own": {"yaw_deg": 20,
        "position": [1, 2, 3], "antenna_delay_m": 0.2, "delays": {"9": {"rx_m": 0.3}}}}}
      """)
    var (own, other) = (Placement(at: SIMD3(0, 0, 0)), Placement(at: SIMD3(0, 0, 0)))
    file.apply(to: &own, of: "own")
    file.apply(to: &other, of: "peer 1")
    #expect(own.yaw == 20 && own.clockOffset == 1 && own.antennaDelayError == 0.2)
    #expect(own.delayErrors[9]?.receive == 0.3 && own.delayErrors[9]?.transmit == 0)
    #expect(other.yaw == 10 && other.clockOffset == 1 && other.delayErrors.isEmpty)
  }

  @Test(arguments: [
    (#"{"range_m": -1}"#, "range_m is negative"), (#"{"loss": 2}"#, "between 0 and 1"),
    (#"{"noise_dbm": 301}"#, "noise_dbm"), (#"{"clock_ppm": 1001}"#, "1000 ppm"),
    (#"{"chips": {"own": {"clock_ppm": -1001}}}"#, "1000 ppm"),
    (#"{"power_bias": [{"rx_power_dbm": 0, "bias_m": 71}]}"#, "at most 70 m"),
    (
      #"{"power_bias": [{"rx_power_dbm": 0, "bias_m": 1}, {"rx_power_dbm": 0, "bias_m": 2}]}"#,
      "a level twice"
    ),
    (#"{"walls": [{"from": [0], "to": [1, 1]}]}"#, "each x and y"),
    (#"{"walls": [{"from": [0, 0], "to": [1, 1e9]}]}"#, "out of range"),
    (#"{"chips": {"own": {"position": [1, 2]}}}"#, "position of own"),
    (#"{"chips": {"own": {"yaw_deg": 1e6}}}"#, "yaw_deg of own"),
    (#"{"chips": {"own": {"delays": {"nine": {}}}}}"#, "not nine"),
    (#"{"chips": {"own": {"antenna": [{"angle_deg": 0, "phase_rad": 0}]}}}"#, "two points"),
    (#"{"chips": {"own": {"antenna_delay_m": 71}}}"#, "more than 70 m"),
  ])
  func impossibleConditionsAreErrors(_ text: String, _ reason: String) {
    let error = #expect(throws: FormatError.self) { try Self.read(text) }
    #expect(error?.description.contains(reason) == true, "\(error as Any)")
    #expect(error.flatMap { ExitStatus(of: $0) } == .data)
  }

  @Test(arguments: ["", "[", "[]", #"{"loss": "much"}"#])
  func otherFilesAreErrors(_ text: String) {
    #expect(throws: FormatError.self) { try Self.read(text) }
  }
}
