// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import System
import Testing
import UWB
import UWBSimulator

/// The options that commands share.
@Suite struct OptionTests {
  @Test func secondsAreNumbers() {
    #expect(Seconds(argument: "1.5")?.duration == .milliseconds(1_500))
    #expect(Seconds(argument: "0")?.duration == .zero)
    for wrong in ["-1", "1e10", "nan", "1s", ""] { #expect(Seconds(argument: wrong) == nil) }
    #expect(Seconds(2).defaultValueDescription == "2")
    #expect(Seconds(0.3).defaultValueDescription == "0.3")
  }

  @Test func speedsAreFactors() {
    #expect(Speed(argument: "max")?.factor == .infinity)
    #expect(Speed(argument: "2.5")?.factor == 2.5)
    for wrong in ["0", "-1", "nan", "inf", "fast"] { #expect(Speed(argument: wrong) == nil) }
    #expect(Speed().defaultValueDescription == "1")
  }

  @Test func aTimeLimitIsPositive() throws {
    #expect(try TimeLimit.parse([]).limit == nil)
    #expect(try TimeLimit.parse(["-t", "3"]).limit == .seconds(3))
    #expect(throws: (any Error).self) { try TimeLimit.parse(["-t", "0"]) }
  }

  @Test func aLostDeviceIsAwaitedForAMinute() throws {
    #expect(try RunOptions.parse([]).recovery != nil)
    #expect(try RunOptions.parse(["--recover", "0"]).recovery == nil)
    #expect(try RunOptions.parse(["-n", "3"]).count == 3)
    #expect(throws: (any Error).self) { try RunOptions.parse(["-n", "0"]) }
  }

  // MARK: devices

  @Test func aSimulatedChipIsTheDefault() throws {
    #expect(try DeviceOption.parse([]).device == DeviceOptions.simulated)
    #expect(try DeviceOption.parse(["-d", "/dev/ttyACM0"]).device == "/dev/ttyACM0")
  }

  @Test(arguments: ["/dev/ttyACM0?rtscts=1", "/dev/ttyACM0?baud"])
  func invalidNamesAreErrors(_ device: String) {
    #expect(throws: ValidationError.self) { try DeviceOptions.check(device) }
    #expect(throws: (any Error).self) { try DeviceOption.parse(["--device", device]) }
  }

  @Test func anotherOptionMayNameTheDevice() throws {
    let chip = try ChipOptions.parse(["--chip", "nxp", "--direct"])
    let options = try DeviceOptions.naming("tcp:host:1", chip)
    #expect(options.device == "tcp:host:1")
    #expect(options.driverOptions.profile == .nxp && !options.driverOptions.usesService)
  }

  @Test func familiesAreProfiles() throws {
    #expect(try ChipOptions.parse([]).driverOptions.profile == nil)
    #expect(try ChipOptions.parse([]).driverOptions.usesService)
    #expect(try !ChipOptions.parse(["--exclusive"]).driverOptions.usesService)
    #expect(try ChipOptions.parse(["--chip", "qorvo"]).driverOptions.profile == .qorvo)
    for chip in ChipOptions.SimulatedChip.allCases where chip != .qm33 {
      #expect(chip.profile.name != ChipOptions.SimulatedChip.qm33.profile.name, "\(chip)")
    }
  }

  @Test func secretsNeedACapture() throws {
    #expect(throws: (any Error).self) { try CaptureOptions.parse(["--include-secrets"]) }
    #expect(try CaptureOptions.parse([]).start("sim", simulated: nil) == nil)
  }

  @Test func aMissingSceneIsAnError() throws {
    let options = try ChipOptions.parse(["--scene", "/does/not/exist"])
    #expect(throws: (any Error).self) { try options.simulatedChip() }
  }

  @Test(arguments: [
    ("locate --height -0.5", "locate --height=-0.5"), ("range -n -1 -v", "range -n=-1 -v"),
    ("--offset=1 -2 x", "--offset=1 -2 x"), ("explain -1", "explain -1"),
    ("send -- -1 --a -.5", "send -- -1 --a -.5"), ("a --b -.5", "a --b=-.5"),
  ])
  func aNegativeNumberIsAValue(_ typed: String, _ joined: String) {
    let words = typed.split(separator: " ").map(String.init)
    #expect(Program.joiningNegativeValues(words).joined(separator: " ") == joined)
  }
}
