#include "cuwb.h"
