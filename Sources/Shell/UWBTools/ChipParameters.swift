// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
package import UCI
package import UCIReference
package import UWB

/// Reads and writes parameters of a chip, or of one of its sessions.
package struct ChipParameters {
  package let chip: UWBDevice
  /// The handle or ID of the session; nil for parameters of the chip.
  package let session: UInt32?

  package init(chip: UWBDevice, session: UInt32?) { (self.chip, self.session) = (chip, session) }

  private var dialect: Dialect { chip.dialect }

  // MARK: names

  /// Returns the parameter with this name.
  ///
  /// - Throws: `ParameterTextError`.
  package func id(_ name: String) throws -> TLV {
    guard session == nil else { return TLV(try AppConfigID(named: name).rawValue, []) }
    return TLV(try DeviceConfigID(named: name, in: dialect), [])
  }

  /// Parses a parameter and its value.
  ///
  /// - Throws: `ParameterTextError`.
  package func parameter(_ text: String) throws -> TLV {
    session == nil
      ? try TLV(deviceConfig: text, in: dialect)
      : try TLV(appConfig: text, for: dialect.generation)
  }

  /// Returns the message for an error; a specific message if a parameter of the chip has the name
  /// of a session's parameter.
  package static func message(for error: ParameterTextError, session: UInt32?) -> String {
    if case .unknownName(let name, _) = error, session == nil,
      let id = try? AppConfigID(named: name)
    {
      return "\(id.name) is a session parameter, and sessions end with the program that created "
        + "them. Use it in a profile for range, or name a session on the chip with --session."
    }
    return printable("\(error)")
  }

  package var all: [TLV] {
    session == nil
      ? DeviceConfigParameter.all.filter { $0.applies(to: dialect) }.map { TLV($0.id, []) }
      : Set(AppConfigParameter.all.filter { $0.applies(to: dialect) }.map(\.id)).map {
        TLV($0.rawValue, [])
      }.sorted { $0.id < $1.id }
  }

  // MARK: the chip

  /// Reads parameters one by one, because chips reject a whole command with an unknown parameter.
  ///
  /// - Returns: The values, and the statuses of the parameters that the chip did not return.
  package func read(_ wanted: [TLV]) async throws -> (found: [TLV], refused: [(TLV, Status)]) {
    var found: [TLV] = []
    var refused: [(TLV, Status)] = []
    for parameter in wanted {
      let status: Status
      let answer: [TLV]?
      if let session {
        let response = try await chip.send(
          GetAppConfig(sessionToken: session, ids: [parameter.id]))
        (status, answer) = (response.status, response.parameters)
        // All other parameters would fail as well.
        if status == .sessionNotExist {
          throw DriverError.refused(command: "SESSION_GET_APP_CONFIG_CMD", status)
        }
      } else {
        let response = try await chip.send(GetConfig([DeviceConfigID(parameter)]))
        (status, answer) = (response.status, response.parameters)
      }
      let value = answer?.first { $0.id == parameter.id && $0.subID == parameter.subID }
      if status == .ok, let value {
        found.append(value)
      } else {
        refused.append((parameter, status))
      }
    }
    return (found, refused)
  }

  /// Sets parameters; the chip applies all parameters that it does not reject.
  package func write(_ parameters: [TLV]) async throws -> ConfigurationResponse {
    if let session {
      return try await chip.send(SetAppConfig(sessionToken: session, parameters: parameters))
    }
    return try await chip.send(SetConfig(parameters))
  }

  // MARK: text

  private func known(
    _ parameter: TLV
  ) -> (name: String, form: ParameterForm, isSecret: Bool) {
    guard session == nil else {
      let id = AppConfigID(rawValue: parameter.id)
      return (id.name(in: dialect), id.form(), id.isSecret)
    }
    let id = DeviceConfigID(parameter)
    let isSecret = id.parameter(in: dialect)?.isSecret ?? false
    return (id.name(in: dialect), id.form(in: dialect), isSecret)
  }

  package func name(of parameter: TLV) -> String { known(parameter).name }

  package func isSecret(_ parameter: TLV) -> Bool { known(parameter).isSecret }

  /// Returns the value in the form that `set` accepts.
  package func text(of parameter: TLV) -> String { known(parameter).form.text(parameter.value) }
}
