// Products (SoCs) and the series that share rules.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace openaclnn {

enum class Series {
    atlas_inference,
    atlas_training,
    atlas_a2,
    atlas_a3,
    ascend_950,
};

inline constexpr int kSeriesCount = 5;

struct SeriesDescription {
    Series series;
    const char* name;
    // SoC names; one that ends in '*' stands for every name with that beginning.
    std::span<const char* const> soc_names;
};

std::span<const SeriesDescription> all_series();
const SeriesDescription& describe(Series series);

// A SoC by its name, with the series whose rules it follows.
struct Product {
    std::string soc_name;
    Series series;
};

inline constexpr const char* kDefaultSocName = "Ascend910B1";

std::optional<Product> find_product(std::string_view soc_name);

// "Ascend310P1, Ascend310P3, ...": what find_product takes.
std::string known_soc_names();

}  // namespace openaclnn
