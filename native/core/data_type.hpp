// Data types: the enumerators' values are those of the C interface's aclDataType.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

namespace openaclnn {

enum class DataType : std::int32_t {
    undefined = -1,
    float32 = 0,
    float16 = 1,
    int8 = 2,
    int32 = 3,
    uint8 = 4,
    int16 = 6,
    uint16 = 7,
    uint32 = 8,
    int64 = 9,
    uint64 = 10,
    float64 = 11,
    boolean = 12,
    string = 13,
    complex64 = 16,
    complex128 = 17,
    bfloat16 = 27,
    int4 = 29,
    uint1 = 30,
    complex32 = 33,
    hifloat8 = 34,
    float8_e5m2 = 35,
    float8_e4m3fn = 36,
    float8_e8m0 = 37,
    float6_e3m2 = 38,
    float6_e2m3 = 39,
    float4_e2m1 = 40,
    float4_e1m2 = 41,
};

// Bytes of one element; 0 for types without a whole byte, and for unknown ones.
std::int64_t size_of(DataType type);

// The name in the field's messages without its DT_ prefix, e.g. "FLOAT16"; "UNKNOWN(77)" for
// others.
std::string name_of(DataType type);

// The type of that name; undefined if there is none.
DataType data_type_named(const std::string& name);

bool is_complex(DataType type);

// The type that holds the values of both, as in NumPy and PyTorch: float16 with bfloat16 gives
// float32, complex64 with float64 gives complex128. For floating and complex types only.
DataType promote(DataType first, DataType second);

// A set of data types, in the order in which they are listed.
class TypeSet {
  public:
    constexpr TypeSet() = default;
    constexpr TypeSet(std::initializer_list<DataType> types) {
        for (DataType type : types) {
            members_[count_++] = type;
        }
    }

    constexpr const DataType* begin() const { return members_; }
    constexpr const DataType* end() const { return members_ + count_; }
    constexpr bool empty() const { return count_ == 0; }
    constexpr bool contains(DataType type) const {
        for (DataType member : *this) {
            if (member == type) {
                return true;
            }
        }
        return false;
    }

  private:
    DataType members_[8] = {};
    int count_ = 0;
};

}  // namespace openaclnn
