// SPDX-License-Identifier: Apache-2.0
#ifndef CVERSION_H
#define CVERSION_H

/// The version of the package, which packaging/tarball reads as well.
const char *_Nonnull cversion_number(void);

/// The commit of the build, from UWB_COMMIT; empty where it was not set. In C, because only C
/// targets can be given values at build time.
const char *_Nonnull cversion_commit(void);

#endif
