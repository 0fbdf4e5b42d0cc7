// SPDX-License-Identifier: Apache-2.0

// An accessory is served over channels and described by its configuration data, so one import
// suffices.
@_exported public import AccessoryProtocol
@_exported public import Channels
