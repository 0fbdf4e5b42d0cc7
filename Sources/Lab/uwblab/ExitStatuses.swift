// SPDX-License-Identifier: Apache-2.0

package import CommandSupport
package import UWBLab

extension LabError: StatusError {
  package var exitStatus: ExitStatus {
    switch code {
    case .unreadable: .noInput
    case .notCreated: .cannotCreate
    case .notWritten: .system
    case .noAnswer, .usage: .usage
    default: .data
    }
  }
}
