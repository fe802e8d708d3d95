#include "core/data_type.hpp"

#include <algorithm>
#include <array>

namespace openaclnn {
namespace {

struct Description {
    DataType type;
    const char* name;
    std::int64_t size;
};

constexpr Description kDescriptions[] = {
    {DataType::undefined, "UNDEFINED", 0},
    {DataType::float32, "FLOAT", 4},
    {DataType::float16, "FLOAT16", 2},
    {DataType::int8, "INT8", 1},
    {DataType::int32, "INT32", 4},
    {DataType::uint8, "UINT8", 1},
    {DataType::int16, "INT16", 2},
    {DataType::uint16, "UINT16", 2},
    {DataType::uint32, "UINT32", 4},
    {DataType::int64, "INT64", 8},
    {DataType::uint64, "UINT64", 8},
    {DataType::float64, "DOUBLE", 8},
    {DataType::boolean, "BOOL", 1},
    {DataType::string, "STRING", 0},
    {DataType::complex64, "COMPLEX64", 8},
    {DataType::complex128, "COMPLEX128", 16},
    {DataType::bfloat16, "BFLOAT16", 2},
    {DataType::int4, "INT4", 0},
    {DataType::uint1, "UINT1", 0},
    {DataType::complex32, "COMPLEX32", 4},
    {DataType::hifloat8, "HIFLOAT8", 1},
    {DataType::float8_e5m2, "FLOAT8_E5M2", 1},
    {DataType::float8_e4m3fn, "FLOAT8_E4M3FN", 1},
    {DataType::float8_e8m0, "FLOAT8_E8M0", 1},
    {DataType::float6_e3m2, "FLOAT6_E3M2", 0},
    {DataType::float6_e2m3, "FLOAT6_E2M3", 0},
    {DataType::float4_e2m1, "FLOAT4_E2M1", 0},
    {DataType::float4_e1m2, "FLOAT4_E1M2", 0},
};

const Description* describe(DataType type) {
    const auto* found = std::find_if(std::begin(kDescriptions), std::end(kDescriptions),
                                     [type](const Description& d) { return d.type == type; });
    return found == std::end(kDescriptions) ? nullptr : found;
}

// Sizes by enumerator, from -1 on: asked for in every call.
constexpr int kSizes = 43;
constexpr std::array<std::int8_t, kSizes> size_table() {
    std::array<std::int8_t, kSizes> sizes{};
    for (const Description& description : kDescriptions) {
        sizes[static_cast<int>(description.type) + 1] = static_cast<std::int8_t>(description.size);
    }
    return sizes;
}

}  // namespace

std::int64_t size_of(DataType type) {
    static constexpr std::array<std::int8_t, kSizes> kTable = size_table();
    const int index = static_cast<int>(type) + 1;
    return index >= 0 && index < kSizes ? kTable[index] : 0;
}

std::string name_of(DataType type) {
    const Description* description = describe(type);
    if (description == nullptr) {
        return "UNKNOWN(" + std::to_string(static_cast<std::int32_t>(type)) + ")";
    }
    return description->name;
}

DataType data_type_named(const std::string& name) {
    for (const Description& description : kDescriptions) {
        if (name == description.name) {
            return description.type;
        }
    }
    return DataType::undefined;
}

bool is_complex(DataType type) {
    return type == DataType::complex64 || type == DataType::complex128;
}

DataType promote(DataType first, DataType second) {
    if (first == second) {
        return first;
    }
    const auto is_double = [](DataType type) {
        return type == DataType::float64 || type == DataType::complex128;
    };
    const bool wide = is_double(first) || is_double(second);
    if (is_complex(first) || is_complex(second)) {
        return wide ? DataType::complex128 : DataType::complex64;
    }
    return wide ? DataType::float64 : DataType::float32;
}

}  // namespace openaclnn
