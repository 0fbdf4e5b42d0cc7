// SPDX-License-Identifier: Apache-2.0
internal import AccessoryProtocol
internal import UCI
internal import UWB

/// Messages of the accessory protocol and the configuration data in them, both directions.
enum AccessoryTarget: Target {
  static let name = "accessory"

  static func run(_ input: [UInt8]) {
    attempt { () throws(AccessoryError) in
      let message = try AppMessage(input)
      if message.bytes != messageBytes(input, hasData: 0x0B) {
        fail("\(message) is not as it came")
      }
      if case .configureAndStart(let data) = message {
        shareable(try ShareableConfigurationData(data))
      }
    }
    attempt { () throws(AccessoryError) in
      let message = try AccessoryMessage(input)
      if case .regionChanged = message {
        if message.bytes != input { fail("\(message) is not as it came") }
        return
      }
      if message.bytes != messageBytes(input, hasData: 0x01) {
        fail("\(message) is not as it came")
      }
      if case .accessoryConfigurationData(let data) = message {
        accessory(try AccessoryConfigurationData(data))
      }
    }
    attempt { () throws(AccessoryError) in
      let uwb = try UWBConfigurationData(input)
      if try UWBConfigurationData(uwb.bytes) != uwb {
        fail("\(uwb) is not read as it was written")
      }
    }
    attempt { () throws(AccessoryError) in try android(AndroidPhoneMessage(input)) }
    attempt { () throws(AccessoryError) in
      let message = try AndroidAccessoryMessage(input)
      if try AndroidAccessoryMessage(message.bytes) != message {
        fail("\(message) is not read as it was written")
      }
    }
    dialogue(input)
  }

  /// Handles the input as a message from each end of each protocol. Each message goes through a
  /// step of the accessory, the description, and a capture, in which the bytes of keys are zeros.
  private static func dialogue(_ input: [UInt8]) {
    var dialogue = AndroidDialogue()
    let step = dialogue.step(after: input, offering: AndroidCapability())
    if case .answer(let answer) = step, answer.version > AndroidProtocol.newest {
      fail("an answer has the version \(answer.version)")
    }
    for kind in DialogueMessage.Kind.allCases {
      for isFromPhone in [true, false] {
        let message = DialogueMessage(input, kind, isFromPhone: isFromPhone)
        Properties.printable(message.description)
        let hidden = message.withoutKeys
        if hidden.count != input.count { fail("\(input.count) bytes become \(hidden.count)") }
        let again = DialogueMessage(hidden, kind, isFromPhone: isFromPhone)
        if again.withoutKeys != hidden { fail("bytes without keys change again") }
        if kind == .android, isFromPhone { keys(of: input, hidden) }
      }
    }
  }

  /// Compares a configuration with its copy for a capture.
  private static func keys(of input: [UInt8], _ hidden: [UInt8]) {
    guard
      case .configuration(let choice?, _)? = (try? AndroidPhoneMessage(input))?.content
    else { return }
    guard case .configuration(var copy?, _)? = (try? AndroidPhoneMessage(hidden))?.content
    else { fail("a configuration cannot be read without its key") }
    if copy.key.bytes.contains(where: { $0 != 0 }) { fail("a key is left") }
    copy.key = choice.key
    if copy != choice { fail("more than the key has changed") }
  }

  /// The choice does not keep blocks of other technologies, so the bytes may differ.
  private static func android(_ message: AndroidPhoneMessage) throws(AccessoryError) {
    var known = message
    known.version = min(message.version, AndroidProtocol.newest)
    if try AndroidPhoneMessage(known.bytes) != known {
      fail("\(message) is not read as it was written")
    }
    guard case .configuration(let uwb?, _) = message.content else { return }
    var accessory = AndroidCapability()
    accessory.address = 0x1234
    (accessory.preambles, accessory.configurations) = (.max, .max)
    let near = try uwb.session(of: .accessory, with: accessory)
    let far = try uwb.session(of: .app, with: accessory)
    if near.role == far.role || [near.address] != far.peers || [far.address] != near.peers
      || near.sessionID != far.sessionID || near.sts != far.sts
    {
      fail("the two ends do not fit together")
    }
    _ = near.problems()
  }

  private static func attempt(_ body: () throws(AccessoryError) -> Void) {
    do { try body() } catch { Properties.printable(error.description) }
  }

  /// Returns the bytes that a message keeps. Only one message of each direction has data.
  private static func messageBytes(_ input: [UInt8], hasData id: UInt8) -> [UInt8] {
    input[0] == id ? input : [input[0]]
  }

  private static func shareable(_ data: ShareableConfigurationData) {
    do {
      if try ShareableConfigurationData(data.bytes) != data { fail("not read as it was written") }
    } catch { fail("our own data is refused: \(error)") }
    for role in [SessionConfiguration.Role.controller, .controlee] {
      let accessory = UWBConfigurationData(role: role, address: 0x1234)
      do {
        let near = try data.session(of: .accessory, with: accessory)
        let far = try data.session(of: .app, with: accessory)
        if near.role == far.role || [near.address] != far.peers || [far.address] != near.peers
          || near.sessionID != far.sessionID || near.sts != far.sts
        {
          fail("the two ends do not fit together")
        }
        _ = near.problems()
      } catch { Properties.printable(error.description) }
    }
  }

  private static func accessory(_ data: AccessoryConfigurationData) {
    do {
      if try AccessoryConfigurationData(data.bytes) != data { fail("not read as it was written") }
      let answer = ShareableConfigurationData.answering(data)
      let errors = try answer.session(of: .app, with: data.uwb).problems().errors
      if !errors.isEmpty { fail("an answer to \(data) is impossible: \(errors)") }
    } catch { fail("our own data is refused: \(error)") }
  }

  static func seeds(_ frames: [[UInt8]]) -> [[UInt8]] {
    var seeds: [[UInt8]] = [
      [0x0A], [0x0C], [0x02], [0x03],
      [0x40, 1, 0xE8, 0x03, 0, 0, 60, 0] + Array("near".utf8),
    ]
    for version in 1...AndroidProtocol.newest {
      for length in [8, 16, 32] {
        var uwb = AndroidChoice()
        uwb.key.bytes = [UInt8](repeating: 7, count: length)
        uwb.number = length == 8 ? 1 : 6
        let content = AndroidPhoneMessage.Content.configuration(uwb, wantsMotion: version > 2)
        seeds.append(AndroidPhoneMessage(content, version: version).bytes)
      }
      seeds.append(AndroidPhoneMessage(.capabilityRequest(.uwb), version: version).bytes)
      seeds.append(AndroidPhoneMessage(.stop(.uwb), version: version).bytes)
      seeds.append(AndroidAccessoryMessage(.configurationResponse(.uwb), version: version).bytes)
      seeds.append(
        AndroidAccessoryMessage(.capabilityResponse(AndroidCapability(), .tag), version: version)
          .bytes)
    }
    for version in ConfigurationVersion.allCases {
      let uwb = UWBConfigurationData(version: version, role: .controller, address: 0xD711)
      let configuration = AccessoryConfigurationData(
        preferredUpdateRate: .userInteractive, uwb: uwb)
      let shareable = ShareableConfigurationData(
        version: version, sessionID: 24_488, address: 0xB487)
      seeds.append(uwb.bytes)
      seeds.append(AccessoryMessage.accessoryConfigurationData(configuration.bytes).bytes)
      seeds.append(AppMessage.configureAndStart(shareable.bytes).bytes)
    }
    return seeds
  }
}
