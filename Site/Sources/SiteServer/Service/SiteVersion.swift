// SPDX-License-Identifier: Apache-2.0

/// The version of the programs. A test compares it with the version of the driver's programs.
package let siteVersion = "0.1.0"
