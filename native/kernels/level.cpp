// Compiled once per instruction set level, with OPENACLNN_LEVEL naming it. Nothing here may share
// an inline function with other files: the linker could keep the copy of the wrong level.
#include "kernels/level.hpp"

#include "kernels/loop.hpp"

namespace openaclnn::OPENACLNN_LEVEL {
namespace {

constexpr KernelRow kRows[] = {
    {Formula::silu_backward, DataType::float32, kernel<SiluBackward, Float32>},
    {Formula::silu_backward, DataType::float16, kernel<SiluBackward, Float16>},
    {Formula::silu_backward, DataType::bfloat16, kernel<SiluBackward, BFloat16>},
    {Formula::sigmoid_backward, DataType::float32, kernel<SigmoidBackward, Float32>},
    {Formula::sigmoid_backward, DataType::float16, kernel<SigmoidBackward, Float16>},
    {Formula::sigmoid_backward, DataType::bfloat16, kernel<SigmoidBackward, BFloat16>},
    {Formula::sigmoid_backward, DataType::float64, kernel<SigmoidBackward, Float64>},
    {Formula::sigmoid_backward, DataType::complex64, kernel<SigmoidBackward, Complex64>},
    {Formula::sigmoid_backward, DataType::complex128, kernel<SigmoidBackward, Complex128>},
};

}  // namespace

const KernelTable kKernels = {kRows, kRows + sizeof(kRows) / sizeof(kRows[0])};

}  // namespace openaclnn::OPENACLNN_LEVEL
