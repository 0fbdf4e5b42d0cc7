// SPDX-License-Identifier: Apache-2.0
//
// Links against models of chips and drivers, with a clock of their own. In C, so that they also run
// under the sanitizers without a Swift build; see Tests/CUWBTests/Sanitized/run.sh.
#ifndef CUWB_SCENARIOS_H
#define CUWB_SCENARIOS_H

#pragma clang assume_nonnull begin

unsigned cuwb_scenario_count(void);

/// Returns the checked property as a sentence.
const char *cuwb_scenario_name(unsigned number);

/// Returns NULL, or the check that failed. The text is valid until the next call.
const char *_Nullable cuwb_scenario_run(unsigned number);

#pragma clang assume_nonnull end

#endif
