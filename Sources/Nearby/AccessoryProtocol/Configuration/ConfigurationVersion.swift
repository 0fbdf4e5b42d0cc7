// SPDX-License-Identifier: Apache-2.0

/// A version of the UWB part of the configuration data.
///
/// Sources: published captures of accessories (1.0, 1.1) and AOSP's ranging test application (all
/// three).
public enum ConfigurationVersion: Sendable, Hashable, Comparable, CaseIterable,
  CustomStringConvertible
{
  /// 1.0: no clock drift.
  case v10
  /// 1.1: with the clock drift. iPhones and their accessories have been observed to use it.
  case v11
  /// 2.0: the accessory can request slots, interval and hopping.
  case v20

  var major: UInt16 { self == .v20 ? 2 : 1 }
  var minor: UInt16 { self == .v11 ? 1 : 0 }

  /// The number, such as `1.1`.
  public var description: String { "\(major).\(minor)" }
}
