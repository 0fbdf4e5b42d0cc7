// SPDX-License-Identifier: Apache-2.0

import UCI
package import UWBSimulator

/// Starts a simulated chip that is alone in its scene.
package func simulatedChip(
  _ profile: ChipProfile = .qm33
) throws -> (bench: SimulatedBench, chip: SimulatedBench.Chip) {
  let bench = SimulatedBench(scene: Scene(seed: 3))
  let chip = try bench.add(profile: profile, at: SIMD3(0, 0, 1))
  bench.start()
  return (bench, chip)
}

/// Returns the bytes of hexadecimal text with spaces.
package func hexBytes(_ text: String) -> [UInt8] {
  let digits = text.filter { $0 != " " }.compactMap(\.hexDigitValue)
  return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}
