// SPDX-License-Identifier: Apache-2.0

import UCI
import UCIReference
import UWB

/// Reads and writes parameters of a chip, or of one of its sessions.
struct ChipParameters {
  let chip: UWBDevice
  /// The handle or id of the session; nil: parameters of the chip.
  let session: UInt32?

  private var dialect: Dialect { chip.dialect }

  // MARK: names

  /// The parameter of this name.
  ///
  /// - Throws: `ParameterTextError`.
  func id(_ name: String) throws -> TLV {
    guard session == nil else { return TLV(try AppConfigID(named: name).rawValue, []) }
    return TLV(try DeviceConfigID(named: name, in: dialect), [])
  }

  /// A parameter and its value.
  ///
  /// - Throws: `ParameterTextError`.
  func parameter(_ text: String) throws -> TLV {
    session == nil
      ? try TLV(deviceConfig: text, in: dialect)
      : try TLV(appConfig: text, for: dialect.generation)
  }

  /// All parameters that are known for this chip.
  var all: [TLV] {
    session == nil
      ? DeviceConfigParameter.all.filter { $0.applies(to: dialect) }.map { TLV($0.id, []) }
      : Set(AppConfigParameter.all.filter { $0.applies(to: dialect) }.map(\.id)).map {
        TLV($0.rawValue, [])
      }.sorted { $0.id < $1.id }
  }

  // MARK: the chip

  /// Reads parameters, one by one: chips reject a command as a whole when they do not know one of its
  /// parameters.
  ///
  /// - Returns: the values, and the statuses of parameters that the chip did not give.
  func read(_ wanted: [TLV]) async throws -> (found: [TLV], refused: [(TLV, Status)]) {
    var found: [TLV] = []
    var refused: [(TLV, Status)] = []
    for parameter in wanted {
      let status: Status
      let answer: [TLV]?
      if let session {
        let response = try await chip.send(
          GetAppConfig(sessionToken: session, ids: [parameter.id]))
        (status, answer) = (response.status, response.parameters)
        // The other parameters would fail as well.
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

  /// Sets parameters; the chip keeps those that it does not reject.
  func write(_ parameters: [TLV]) async throws -> ConfigurationResponse {
    if let session {
      return try await chip.send(SetAppConfig(sessionToken: session, parameters: parameters))
    }
    return try await chip.send(SetConfig(parameters))
  }

  // MARK: text

  func name(of parameter: TLV) -> String {
    session == nil
      ? DeviceConfigID(parameter).name(in: dialect)
      : AppConfigID(rawValue: parameter.id).name(in: dialect)
  }

  func isSecret(_ parameter: TLV) -> Bool {
    session == nil
      ? DeviceConfigID(parameter).parameter(in: dialect)?.isSecret ?? false
      : AppConfigID(rawValue: parameter.id).isSecret
  }

  /// The value in the form that `set` accepts.
  func text(of parameter: TLV) -> String {
    let form =
      session == nil
      ? DeviceConfigID(parameter).form(in: dialect) : AppConfigID(rawValue: parameter.id).form()
    return form.text(parameter.value)
  }
}
