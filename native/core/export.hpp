// What the Python extension uses of the shared library; everything else stays inside.
#pragma once

#define OPENACLNN_EXPORT __attribute__((visibility("default")))
