// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `uwbctl decode`: says what UCI frames given in hexadecimal mean.
struct Decode: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Say what UCI frames given in hexadecimal mean.")

  mutating func run() async throws {}
}
