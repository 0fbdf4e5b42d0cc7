// SPDX-License-Identifier: Apache-2.0
internal import UWB

extension AndroidChoice {
  /// Creates the session that a phone chooses for an accessory.
  ///
  /// Prefers a session key to a static STS, channel 9 to 5, HPRF to BPRF and short intervals, and
  /// lets the accessory be the initiator. The session id, the key and the preamble code are random.
  /// Source: AOSP's UwbConfigSelector in packages/modules/Uwb.
  ///
  /// - Parameters:
  ///   - accessory: the capabilities of the accessory.
  ///   - own: the capabilities of this end, with its address.
  /// - Throws: `AccessoryError` with the code `.invalidConfiguration` if the two have nothing in
  ///   common.
  package init(
    choosingFor accessory: AndroidCapability, by own: AndroidCapability
  ) throws(AccessoryError) {
    func missing(_ field: String) -> AccessoryError {
      AccessoryError(.invalidConfiguration(field: field, reason: "has no common value"))
    }
    let common = AndroidConfiguration.ofPhones.first {
      let id = $0.outOfBandID ?? 0
      return accessory.hasConfiguration(id) && own.hasConfiguration(id)
    }
    guard let common, let number = common.outOfBandID else { throw missing("configuration") }
    guard
      let channel = ([9, 5] as [UInt8]).first(where: {
        accessory.hasChannel($0) && own.hasChannel($0)
      })
    else { throw missing("channel") }
    let codes = ([25...32, 9...12] as [ClosedRange<UInt8>]).lazy
      .map { $0.filter { accessory.hasPreamble($0) && own.hasPreamble($0) } }
    guard let code = codes.first(where: { !$0.isEmpty })?.randomElement() else {
      throw missing("preamble code index")
    }
    let shortest = max(accessory.interval, own.interval)
    let rates: [AndroidConfiguration.UpdateRate] = [.frequent, .automatic, .infrequent]
    guard let interval = rates.map(common.interval).first(where: { $0 >= shortest }) else {
      throw missing("ranging interval")
    }
    let fits = accessory.roles.contains(.initiator) && own.roles.contains(.responder)
    guard fits || accessory.roles.contains(.responder) && own.roles.contains(.initiator) else {
      throw missing("role")
    }
    self.init()
    (address, sessionID, self.number) = (own.address, .random(in: 0...UInt32.max), number)
    (self.channel, preambleCode, self.interval) = (channel, code, interval)
    slot = max(accessory.slot, own.slot)
    var generator = SystemRandomNumberGenerator()
    key.bytes = (0..<common.keyLengths[0]).map { _ in generator.next() }
    // No country: this end is not a phone.
    country = Array("00".utf8)
    role = fits ? .controller : .controlee
    mode = fits ? 1 : 2
  }
}
