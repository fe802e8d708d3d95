// Forks of the process.
#pragma once

#include <cstdint>

namespace openaclnn {

// How many forks lie between this process and the one that loaded the library: what belongs to
// another generation has no threads here. Asking for the process's id would be a system call.
std::uint64_t process_generation();

}  // namespace openaclnn
