import UWB

let options = UWBDevice.Options(recovery: RecoveryPolicy(limit: .seconds(60)))
let device = try await UWBDevice.open("./chip-a", options: options)
let events = Task {
  for await event in device.events { print(event) }
}
let session = SessionConfiguration(role: .controller, sessionID: 42, address: 0, peers: [1])
try await device.range(with: session) { stream in
  for try await estimate in stream {
    print(estimate)
  }
}
await device.close()
await events.value
