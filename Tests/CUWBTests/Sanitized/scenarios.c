// SPDX-License-Identifier: Apache-2.0
//
// Runs every scenario of Tests/CUWBScenarios. With an argument: the scenarios whose name contains
// it.
#include <stdio.h>
#include <string.h>

#include "cuwb_scenarios.h"

int main(int count, char **arguments) {
  unsigned run = 0, failed = 0;
  for (unsigned i = 0; i < cuwb_scenario_count(); i++) {
    const char *name = cuwb_scenario_name(i);
    if (count > 1 && !strstr(name, arguments[1])) continue;
    const char *failure = cuwb_scenario_run(i);
    run++;
    if (!failure) continue;
    failed++;
    printf("FAILED %s: %s\n", name, failure);
  }
  printf("%u scenarios, %u failed\n", run, failed);
  return failed > 0 || run == 0;
}
