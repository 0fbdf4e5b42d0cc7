import UWB

let device = try await UWBDevice.open("./chip-a")
print(device.info)
await device.close()
