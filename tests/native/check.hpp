// CHECK(condition): ends the test program, with the place, if it does not hold.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "acl/acl.h"

#define CHECK(condition)                                                                  \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            const char* message = aclGetRecentErrMsg();                                   \
            std::fprintf(stderr, "%s:%d: %s does not hold; recent error: %s\n", __FILE__, \
                         __LINE__, #condition, message == nullptr ? "none" : message);    \
            std::abort();                                                                 \
        }                                                                                 \
    } while (false)
