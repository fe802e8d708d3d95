#include "core/product.hpp"

namespace openaclnn {
namespace {

constexpr const char* kAtlasInference[] = {"Ascend310P1", "Ascend310P3"};
constexpr const char* kAtlasTraining[] = {"Ascend910A", "Ascend910ProA", "Ascend910ProB",
                                          "Ascend910PremiumA"};
constexpr const char* kAtlasA2[] = {"Ascend910B1", "Ascend910B2", "Ascend910B3", "Ascend910B4"};
constexpr const char* kAtlasA3[] = {"Ascend910_9391", "Ascend910_9392", "Ascend910_9381",
                                    "Ascend910_9382", "Ascend910_9372", "Ascend910_9362"};
constexpr const char* kAscend950[] = {"Ascend950PR_*", "Ascend950DT_*"};

// In the order of the enumerators.
constexpr SeriesDescription kSeries[kSeriesCount] = {
    {Series::atlas_inference, "Atlas inference", kAtlasInference},
    {Series::atlas_training, "Atlas training", kAtlasTraining},
    {Series::atlas_a2, "Atlas A2", kAtlasA2},
    {Series::atlas_a3, "Atlas A3", kAtlasA3},
    {Series::ascend_950, "Ascend 950", kAscend950},
};

bool matches(std::string_view soc_name, std::string_view pattern) {
    if (!pattern.ends_with('*')) {
        return soc_name == pattern;
    }
    pattern.remove_suffix(1);
    return soc_name.size() > pattern.size() && soc_name.starts_with(pattern);
}

}  // namespace

std::span<const SeriesDescription> all_series() {
    return kSeries;
}

const SeriesDescription& describe(Series series) {
    return kSeries[static_cast<int>(series)];
}

std::optional<Product> find_product(std::string_view soc_name) {
    for (const SeriesDescription& description : kSeries) {
        for (const char* pattern : description.soc_names) {
            if (matches(soc_name, pattern)) {
                return Product{std::string(soc_name), description.series};
            }
        }
    }
    return std::nullopt;
}

std::string known_soc_names() {
    std::string names;
    for (const SeriesDescription& description : kSeries) {
        for (const char* pattern : description.soc_names) {
            names += names.empty() ? "" : ", ";
            names += pattern;
        }
    }
    return names;
}

}  // namespace openaclnn
