// The calling thread's most recent fault, as text.
#pragma once

#include <string>

namespace openaclnn {

// The families of faults, with the codes under which the field's texts are known.
enum class FaultFamily { parameter, runtime, inner };

// Remembers a fault in one line: process, time, family, text. Never throws.
void set_recent_error(FaultFamily family, const std::string& text) noexcept;

// The text of the last fault, which is then forgotten; null if there is none. It stays valid until
// the thread's next call.
const char* take_recent_error() noexcept;

}  // namespace openaclnn
