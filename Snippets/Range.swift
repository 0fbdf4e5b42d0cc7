// Ranges with one peer and prints its distance in metres, with one standard deviation.

import UWB

let name = CommandLine.arguments.dropFirst().first ?? "/dev/ttyACM0"
let device = try await UWBDevice.open(name)
try await device.range(
  with: .init(role: .controller, sessionID: 42, address: 0, peers: [1])
) { stream in
  for try await estimate in stream.prefix(100) {
    if let distance = estimate.distance, let deviation = estimate.distanceDeviation {
      print(estimate.peer, distance, "±", deviation)
    } else {
      print(estimate)
    }
  }
}
await device.close()
