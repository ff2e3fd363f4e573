// Everything a kernel file sees; included before its first line.
#pragma once

#include "interface.h"
#include "types.h"
#include "bits.h"
#include "rounding.h"
#include "collectives.h"
#include "atomics.h"
#include "memory.h"
#include "registry.h"
