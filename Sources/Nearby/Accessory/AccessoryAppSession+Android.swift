// SPDX-License-Identifier: Apache-2.0
internal import AccessoryProtocol
internal import UCI

// The dialogue with an Android phone.
extension AccessoryAppSession {
  mutating func handleAndroid(_ bytes: [UInt8]) async {
    // The address stays the same on a channel, whose first request draws a new address.
    let isNew = dialogue.version == nil
    let next =
      capability.flatMap { isNew && bytes.dropFirst().first == 0x00 ? nil : $0 }
      ?? accessory.capability(except: capability?.address)
    let step = dialogue.step(after: bytes, offering: next)
    switch step {
    case .answer(let message):
      capability = next
      if case .capabilityResponse(let offered?, _) = message.content {
        let (version, address) = (Int(message.version), MACAddress(offered.address))
        accessory.report(.offeredCapabilities(client.app, version: version, address: address))
      }
      await send(message.bytes)
    case .start(let configuration):
      // A phone may have kept capabilities of an earlier channel.
      capability = next
      await start(.android(configuration))
    case .clear, .refuse:
      stopWaiting()
      await end(.replaced, notifies: false)
      if case .refuse(let error) = step { accessory.report(.refused(client.app, error)) }
      await send(dialogue.configured(false).bytes)
    case .stop:
      stopWaiting()
      let wasRanging = isRanging
      await end(.byApp)
      await send(dialogue.stopped(wasRanging).bytes)
    case .keep: await send(dialogue.stopped(false).bytes)
    case .ignore(let error): accessory.report(.ignored(client.app, error))
    }
  }
}
