// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocol
import Testing
import UCI
import UWB
import UWBSimulator

/// An accessory and apps on simulated chips, with real sockets and pseudo-terminals in between.
@Suite struct AccessoryTests {
  @Test(arguments: [SessionConfiguration.Role.controller, .controlee])
  func theWholeHandshakeEndsWithDistances(role: SessionConfiguration.Role) async throws {
    var options = Accessory.Options()
    options.role = role
    var meeting = try await Meeting(phones: [.qm33PDoA], options: options)
    _ = try await meeting.range()
    #expect(meeting.phone.accessory?.uwb.role == role)
    let own = await meeting.events.first { event -> Double? in
      guard case .measured(_, let measurement) = event else { return nil }
      return measurement.result.distanceCentimetres.map { Double($0) / 100 }
    }
    #expect(abs(try #require(own) - 3) < 0.2)
    #expect(meeting.accessory.rangingApps.map(\.name) == ["app 1"])
    #expect(try await meeting.phone.stop() == .accessoryUwbDidStop)
    #expect(try await meeting.stage.sessions() == 0)
    #expect(meeting.accessory.rangingApps.isEmpty)
    await meeting.end()
  }

  @Test(arguments: ["qm33", "sr250", "fira1"])
  func chipsSayWhoTheyAre(name: String) async throws {
    let profile = try #require(ChipProfile.named(name))
    let stage = try await Stage(profile, phones: [])
    let uwb = try Accessory(stage.device).configurationData().uwb
    switch profile.name {
    case "qm33":
      #expect(uwb.manufacturer == 0x0003_F53F && uwb.model == 3_000 && uwb.clockDrift == 25)
      // As in the capture of a board with this firmware.
      #expect(uwb.middleware == 0x0101_0000)
    case "sr250":
      #expect(uwb.manufacturer == 0x0010_1132 && uwb.clockDrift == 100)
      #expect(uwb.model == 0x0000_0301)
    default: #expect(uwb.manufacturer == 0)
    }
    #expect(uwb.version == .v11)
    await stage.end()
  }

  @Test func aChipThatDecodesTheDataItself() async throws {
    var options = Accessory.Options()
    options.leavesDataToChip = true
    var meeting = try await Meeting(.sr250, phones: [.qm33PDoA], options: options)
    var (data, _) = try await meeting.range()
    #expect(try await meeting.phone.stop() == .accessoryUwbDidStop)
    #expect(try await meeting.stage.sessions() == 0)
    // What the chip cannot read it refuses, here with a version of which it knows nothing.
    data.version = .v20
    #expect(try await meeting.phone.configure(data) == .accessoryUwbDidStop)
    let refusal = await meeting.refusal()
    guard case .device(.refused) = refusal else {
      Issue.record("\(String(describing: refusal))")
      return
    }
    for (version, isTaken) in [(ConfigurationVersion.v10, true), (.v11, true), (.v20, false)] {
      options.version = version
      let accessory = try? Accessory(meeting.stage.device, options: options)
      #expect((accessory != nil) == isTaken)
    }
    options.version = .v11
    await meeting.end()
    let other = try await Stage(.qm33, phones: [])
    #expect(throws: AccessoryError.self) { try Accessory(other.device, options: options) }
    await other.end()
  }

  @Test func severalPhonesAtOnceUpToTheLimit() async throws {
    let stage = try await Stage(phones: [.qm33, .qm33, .qm33])
    var options = Accessory.Options()
    options.maximumSessions = 2
    let accessory = try Accessory(stage.device, options: options)
    let events = accessory.events
    var streams: [RangingStream<RangingMeasurement>] = []
    var phones: [Phone] = []
    for index in 0..<3 {
      var phone = try Phone(of: accessory, as: "phone \(index)")
      try await phone.initialize()
      let data = try phone.shareable()
      let answer = try await phone.configure(data)
      #expect(answer == (index < 2 ? .accessoryUwbDidStart : .accessoryUwbDidStop))
      if index < 2 {
        let session = try await phone.session(data, on: stage.phones[index])
        streams.append(session.measurements())
        try await session.start()
      }
      phones.append(phone)
    }
    for (index, stream) in streams.enumerated() {
      #expect(abs(try await meanDistance(stream) - Double(3 + index)) < 0.1)
    }
    let refusal = await events.first { event -> (Accessory.App, AccessoryError)? in
      guard case .refused(let app, let error) = event else { return nil }
      return (app, error)
    }
    #expect(refusal?.0.name == "phone 2")
    #expect(refusal?.1 == .tooManySessions(limit: 2))
    #expect(Set(phones.map { $0.accessory?.uwb.address }).count == 3)
    // Room again.
    #expect(try await phones[0].stop() == .accessoryUwbDidStop)
    #expect(try await phones[2].configure(phones[2].shareable()) == .accessoryUwbDidStart)
    await accessory.close()
    #expect(try await stage.sessions() == 0)
    await stage.end()
  }

  /// The chip's word of one session is not about the others.
  @Test func theEndOfOnePhoneIsNotThatOfAnother() async throws {
    let stage = try await Stage(phones: [.qm33PDoA, .qm33PDoA])
    var options = Accessory.Options()
    options.role = .controlee
    let accessory = try Accessory(stage.device, options: options)
    let events = accessory.events
    var phones: [Phone] = []
    var sessions: [UWBSession] = []
    for index in 0..<2 {
      var phone = try Phone(of: accessory, as: "phone \(index)")
      try await phone.initialize()
      let data = try phone.shareable()
      let session = try await phone.session(data, on: stage.phones[index])
      let stream = session.measurements()
      try await session.start()
      #expect(try await phone.configure(data) == .accessoryUwbDidStart)
      #expect(abs(try await meanDistance(stream, of: 2) - Double(3 + index)) < 0.2)
      phones.append(phone)
      sessions.append(session)
    }
    // A controller that stops tells its controlees over the air.
    try await sessions[0].close()
    #expect(try await phones[0].next() == .accessoryUwbDidStop)
    #expect(try await phones[1].stop() == .accessoryUwbDidStop)
    var ends: [String: Accessory.StopReason] = [:]
    for await case .stopped(let app, let reason) in events {
      ends[app.name] = reason
      if ends.count == 2 { break }
    }
    guard case .byChip(.sessionEnded(_, .stoppedInBand)) = ends["phone 0"] else {
      Issue.record("\(ends)")
      return
    }
    #expect(ends["phone 1"] == .byApp)
    await accessory.close()
    await stage.end()
  }

  @Test func theChipsOwnLimitIsToldAsWell() async throws {
    let meeting = try await Meeting(isAsked: false)
    var last: AccessoryMessage?
    for _ in 0..<6 {
      var phone = try Phone(of: meeting.accessory)
      try await phone.initialize()
      last = try await phone.configure(phone.shareable())
    }
    #expect(last == .accessoryUwbDidStop)
    #expect(
      await meeting.refusal()
        == .device(.refused(command: "SESSION_INIT_CMD", .maxSessionsExceeded)))
    #expect(meeting.accessory.rangingApps.count == 5)
    await meeting.end()
  }

  @Test func aLostChannelDoesNotEndRanging() async throws {
    var meeting = try await Meeting(phones: [.qm33PDoA], as: "phone")
    let (data, session) = try await meeting.range()
    meeting.phone.channel.close()
    let isGone = await meeting.events.first { event -> Bool? in
      if case .disconnected = event { return true }
      return nil
    }
    #expect(isGone == true)
    #expect(abs(try await meanDistance(session.measurements(), of: 5) - 3) < 0.1)
    // The app comes back and finds its session.
    var again = try Phone(of: meeting.accessory, as: "phone")
    #expect(try await again.configure(data) == .accessoryUwbDidStart)
    #expect(try await meeting.stage.sessions() == 1)
    #expect(try await again.stop() == .accessoryUwbDidStop)
    #expect(try await meeting.stage.sessions() == 0)
    await meeting.end()
  }

  /// Threads and descriptors: `hundredCyclesLeakNeitherThreadsNorDescriptorsNorSessions`, in a process
  /// of its own.
  @Test func hundredCyclesLeaveNothingBehind() async throws {
    let meeting = try await Meeting(isAsked: false)
    for _ in 0..<100 {
      var phone = try Phone(of: meeting.accessory)
      try await phone.initialize()
      #expect(try await phone.configure(phone.shareable()) == .accessoryUwbDidStart)
      #expect(try await phone.stop() == .accessoryUwbDidStop)
      phone.channel.close()
    }
    #expect(try await meeting.stage.sessions() == 0)
    #expect(meeting.accessory.rangingApps.isEmpty)
    await meeting.end()
  }
}
