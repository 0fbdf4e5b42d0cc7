// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import UWBService

/// The service as a program of its own.
@main enum Main {
  static func main() async { await Uwbd.main() }
}
