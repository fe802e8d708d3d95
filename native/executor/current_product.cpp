#include "executor/current_product.hpp"

#include <atomic>
#include <cstdlib>
#include <list>
#include <mutex>
#include <stdexcept>
#include <string>

namespace openaclnn {
namespace {

std::atomic<const Product*> current{nullptr};

// Products stay where they are for ever: readers hold references without a lock.
const Product* interned(std::string_view soc_name, const char* origin) {
    static std::mutex mutex;
    static std::list<Product> products;
    const std::lock_guard lock(mutex);
    for (const Product& product : products) {
        if (product.soc_name == soc_name) {
            return &product;
        }
    }
    const std::optional<Product> found = find_product(soc_name);
    if (!found.has_value()) {
        throw std::invalid_argument(std::string(origin) + " '" + std::string(soc_name) +
                                    "' is not a product that is known; known are " +
                                    known_soc_names());
    }
    return &products.emplace_back(*found);
}

}  // namespace

const Product& current_product() {
    const Product* product = current.load(std::memory_order_acquire);
    if (product == nullptr) {
        const char* name = std::getenv("OPENACLNN_SOC");
        const bool given = name != nullptr && *name != '\0';
        const Product* first = given ? interned(name, "OPENACLNN_SOC")
                                     : interned(kDefaultSocName, "the default product");
        if (current.compare_exchange_strong(product, first)) {
            product = first;
        }
    }
    return *product;
}

void set_current_product(std::string_view soc_name) {
    current.store(interned(soc_name, "product"), std::memory_order_release);
}

}  // namespace openaclnn
