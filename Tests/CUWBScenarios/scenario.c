// SPDX-License-Identifier: Apache-2.0
#include "scenario.h"

#include <stdarg.h>
#include <stdio.h>

#include "cuwb_scenarios.h"

static char failure[512];

void scenario_fail(const char *file, int line, const char *format, ...) {
  if (failure[0]) return;
  const char *name = strrchr(file, '/');
  int used = snprintf(failure, sizeof(failure), "%s:%d: ", name ? name + 1 : file, line);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(failure + used, sizeof(failure) - (size_t)used, format, arguments);
  va_end(arguments);
}

bool scenario_has_failed(void) { return failure[0] != 0; }

static const struct scenario *const tables[] = {
    sr1xx_scenarios, sr1xx_fault_scenarios, sr2xx_scenarios,
    hsspi_scenarios, hsspi_fault_scenarios, nxp_driver_scenarios, packet_scenarios,
    loader_scenarios, thread_scenarios,
};

static const struct scenario *find(unsigned number) {
  for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
    for (const struct scenario *at = tables[i]; at->name; at++) {
      if (number-- == 0) return at;
    }
  }
  return NULL;
}

unsigned cuwb_scenario_count(void) {
  unsigned count = 0;
  while (find(count)) count++;
  return count;
}

const char *cuwb_scenario_name(unsigned number) { return find(number)->name; }

const char *cuwb_scenario_run(unsigned number) {
  failure[0] = 0;
  find(number)->run();
  return failure[0] ? failure : NULL;
}
