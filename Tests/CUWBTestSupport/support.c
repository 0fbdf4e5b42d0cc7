#include "cuwb_test_support.h"
