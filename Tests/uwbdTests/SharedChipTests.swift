// SPDX-License-Identifier: Apache-2.0
import Logging
import Testing
import UWBLink
import UWBSimulator
import Varlink

@testable import UWBService

@Suite(.timeLimit(.minutes(10))) struct SharedChipTests {
  /// The file that next has this number belongs to another program.
  @Test @ServiceActor func aPseudoTerminalIsNotOpenedAgainByItsNumber() async throws {
    let bench = SimulatedBench(scene: Scene(seed: 3))
    let chip = try bench.add(profile: .qm33, at: SIMD3(0, 0, 1))
    bench.start()
    let shared = SharedChip(
      try LinkEndpoint(chip.path), name: chip.path, port: nil, nil,
      logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    shared.start()
    await shared.waitWhileOpening()
    #expect(shared.problemText == nil)
    chip.unplug()
    // The test would wait without end if the service tried again.
    await shared.waitUntilClosed()
    bench.stop()
    #expect(shared.problemText?.contains("is being opened") == false)
  }
}
