import UWB

let device = try await UWBDevice.open("./chip-a")
let session = SessionConfiguration(role: .controller, sessionID: 42, address: 0, peers: [1])
try await device.range(with: session) { stream in
  for try await estimate in stream.prefix(100) {
    print(estimate)
  }
}
await device.close()
