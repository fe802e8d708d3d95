// The product whose rules hold in this process.
#pragma once

#include <string_view>

#include "core/product.hpp"

namespace openaclnn {

// The one that was set, or else the one that OPENACLNN_SOC names, or else kDefaultSocName.
// Throws std::invalid_argument if OPENACLNN_SOC names none.
const Product& current_product();

// Throws std::invalid_argument, with the names that exist, if there is no such product.
void set_current_product(std::string_view soc_name);

}  // namespace openaclnn
