// Serves a chip as a Nearby Interaction accessory that apps reach over TCP, and prints what happens.

import Accessory
import Channels
import UWB

let name = CommandLine.arguments.dropFirst().first ?? "/dev/ttyACM0"
let device = try await UWBDevice.open(name)
let accessory = try Accessory(device)
let events = accessory.events
let printer = Task {
  for await event in events { print(event) }
}
await accessory.serve(try await SocketListener(ChannelEndpoint("tcp:7700")))
await device.close()
await printer.value
