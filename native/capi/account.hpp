// What the checker mode says at the end of a program.
#pragma once

namespace openaclnn::capi {

// Names everything that is still alive and should not be. Does nothing if the checker is off.
void report_leaks();

}  // namespace openaclnn::capi
