// The extension module openaclnn._native: what the package's Python layers stand on.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <vector>

#include "core/product.hpp"
#include "core/status.hpp"
#include "executor/thread_pool.hpp"
#include "python/array.hpp"
#include "python/engine.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace openaclnn::python {
namespace {

const Engine& engine() {
    static const Engine& instance = *openaclnn_engine();
    return instance;
}

// A fault on its way to Python, where it becomes an AclnnError.
struct FaultError {
    Fault fault;
};

void throw_if(std::optional<Fault> fault) {
    if (fault.has_value()) {
        throw FaultError{std::move(*fault)};
    }
}

void translate(const std::exception_ptr& pointer, void*) {
    try {
        std::rethrow_exception(pointer);
    } catch (const FaultError& error) {
        const Fault& fault = error.fault;
        nb::object exception =
            nb::module_::import_("openaclnn.errors")
                .attr("from_fault")(static_cast<int>(fault.status), fault.operator_name,
                                    fault.argument, fault.message, fault.kind == Fault::Kind::type);
        PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
    }
}

const Operator& operator_at(std::size_t index) {
    return engine().operators()[index];
}

// An argument of a call: a NumPy array, an OwnedView, or None for null.
class Argument {
  public:
    bool take(nb::handle object) {
        if (numpy_.take(object)) {
            view_ = &numpy_.view();
            return true;
        }
        const OwnedView* owned = nullptr;
        if (!object.is_none() && !nb::try_cast(object, owned)) {
            return false;
        }
        view_ = owned == nullptr ? nullptr : &owned->view();
        return true;
    }

    bool take_writable(nb::handle object) {
        return take(object) && (view_ != &numpy_.view() || numpy_.writable());
    }

    const TensorView* view() const { return view_; }

  private:
    NumpyView numpy_;
    const TensorView* view_ = nullptr;
};

void execute_without_gil(const Plan& plan) {
    // For less, giving the lock away costs more than the work.
    constexpr std::int64_t kShort = 4096;
    if (plan.element_count <= kShort) {
        engine().execute(plan);
        return;
    }
    const nb::gil_scoped_release released;
    engine().execute(plan);
}

// Phase one.
Plan plan_of(const Operator& op, const Arguments& arguments) {
    const Product& product = engine().product();
    throw_if(engine().check(op, product, arguments));
    return engine().make_plan(op, product, arguments);
}

// Phases one and two in one. False, with nothing done, if an argument needs adapting first.
bool call(std::size_t index, nb::handle first, nb::handle second, nb::handle result) {
    Argument a;
    Argument b;
    Argument c;
    if (!a.take(first) || !b.take(second) || !c.take_writable(result)) {
        return false;
    }
    execute_without_gil(plan_of(operator_at(index), {a.view(), b.view(), c.view()}));
    return true;
}

Executor* begin(std::size_t index, const OwnedView* first, const OwnedView* second,
                const OwnedView* result) {
    const auto view = [](const OwnedView* owned) {
        return owned == nullptr ? nullptr : &owned->view();
    };
    const Operator& op = operator_at(index);
    return new Executor(op, plan_of(op, {view(first), view(second), view(result)}));
}

// The type and the shape that a call's result will have. Raises for inputs with a fault.
std::tuple<std::string, std::vector<std::int64_t>> result_of(std::size_t index,
                                                             const OwnedView* first,
                                                             const OwnedView* second) {
    const Operator& op = operator_at(index);
    const Product& product = engine().product();
    std::vector<std::int64_t> shape;
    TensorView result;
    const bool given = first != nullptr && second != nullptr;
    if (given) {
        const auto& a = first->view().shape;
        // Without one, the inputs are at fault, and any shape will do for the checks to say so.
        shape = broadcast_shape(a, second->view().shape).value_or(std::vector(a.begin(), a.end()));
        result.type = engine().result_type(op, product, first->view().type, second->view().type);
    }
    const std::vector<std::int64_t> strides = contiguous_strides(shape);
    result.shape = shape;
    result.strides = strides;
    throw_if(engine().check(op, product,
                            {first == nullptr ? nullptr : &first->view(),
                             second == nullptr ? nullptr : &second->view(), &result}));
    return {name_of(result.type), shape};
}

nb::list series_of(const Operator& op) {
    nb::list rows;
    for (const SeriesDescription& series : all_series()) {
        const ProductRules& rules = op.rules_of(series.series);
        nb::list types;
        for (DataType type : rules.types) {
            types.append(name_of(type));
        }
        rows.append(nb::make_tuple(series.name, nb::tuple(types), rules.broadcast,
                                   rules.type_rule != TypeRule::equal));
    }
    return rows;
}

nb::list describe_operators() {
    nb::list operators;
    for (const Operator& op : engine().operators()) {
        operators.append(nb::make_tuple(
            op.python_name, op.name,
            nb::make_tuple(op.arguments[0], op.arguments[1], op.arguments[2]), series_of(op)));
    }
    return operators;
}

nb::list describe_products() {
    nb::list products;
    for (const SeriesDescription& series : all_series()) {
        nb::list names;
        for (const char* name : series.soc_names) {
            names.append(name);
        }
        products.append(nb::make_tuple(series.name, nb::tuple(names)));
    }
    return products;
}

void define_views(nb::module_& m) {
    nb::class_<OwnedView>(m, "TensorView", "A view of elements in memory, for phase one.")
        .def(
            "__init__",
            [](OwnedView* self, std::uintptr_t address, std::string type,
               std::vector<std::int64_t> shape, std::vector<std::int64_t> strides,
               std::int64_t offset) {
                new (self) OwnedView(address, std::move(type), std::move(shape), std::move(strides),
                                     offset);
            },
            "address"_a, "type"_a, "shape"_a, "strides"_a, "offset"_a = 0,
            "Strides and offset count elements; the memory must outlive the view.")
        .def_prop_ro("type", [](const OwnedView& self) { return name_of(self.view().type); })
        .def_prop_ro("type_number",
                     [](const OwnedView& self) { return static_cast<int>(self.view().type); })
        .def_prop_ro("element_size",
                     [](const OwnedView& self) { return size_of(self.view().type); })
        .def_prop_ro("address",
                     [](const OwnedView& self) {
                         return reinterpret_cast<std::uintptr_t>(first_element(self.view()));
                     })
        .def_prop_ro("shape",
                     [](const OwnedView& self) {
                         const auto shape = self.view().shape;
                         return std::vector<std::int64_t>(shape.begin(), shape.end());
                     })
        .def_prop_ro("strides", [](const OwnedView& self) {
            const auto strides = self.view().strides;
            return std::vector<std::int64_t>(strides.begin(), strides.end());
        });
    m.def("view_of_dlpack", &view_of_dlpack, "capsule"_a.none(), "writable"_a,
          nb::sig("def view_of_dlpack(capsule: object, writable: bool) -> TensorView | None"),
          "The view of a live DLPack capsule of CPU memory, which it keeps; else None.");
}

void define_execution(nb::module_& m) {
    nb::class_<EngineStream>(m, "Stream",
                             "A queue of executors that run in order on their own thread.")
        .def(nb::new_([] { return engine().make_stream(); }))
        .def("completed", &EngineStream::completed,
             "The number of the last piece of work that is done.")
        .def("synchronize", &EngineStream::synchronize, nb::call_guard<nb::gil_scoped_release>(),
             "Wait until all that was queued before is done.");

    nb::class_<Executor>(m, "Executor", "A call that passed phase one.")
        .def_prop_ro("workspace_size", &Executor::workspace_size)
        .def_prop_rw("repeatable", &Executor::repeatable,
                     [](Executor& self, bool repeatable) {
                         throw_if(engine().set_repeatable(self, repeatable));
                     })
        .def(
            "run",
            [](Executor& self) {
                throw_if(engine().begin_run(self));
                execute_without_gil(self.plan());
            },
            "Run and wait.")
        .def(
            "run_on",
            [](Executor& self, EngineStream& stream) {
                throw_if(engine().begin_run(self));
                return stream.enqueue([plan = self.plan()] { engine().execute(plan); });
            },
            "stream"_a, "Queue on the stream; gives the number of the piece of work.");

    m.def("call", &call, "operator"_a, "first"_a.none(), "second"_a.none(), "result"_a.none(),
          "Both phases in one. False, with nothing done, if an argument needs adapting first.");
    m.def("begin", &begin, "operator"_a, "first"_a.none(), "second"_a.none(), "result"_a.none(),
          "Phase one: the executor of a call that is allowed.");
    m.def("result_of", &result_of, "operator"_a, "first"_a.none(), "second"_a.none(),
          "The type and the shape of the result for such inputs.");
}

void define_settings(nb::module_& m) {
    m.def("operators", &describe_operators,
          nb::sig("def operators() -> list[tuple[str, str, tuple[str, str, str], "
                  "list[tuple[str, tuple[str, ...], bool, bool]]]]"),
          "The operator table: name, C name, arguments; by series: types, broadcast, mixed types.");
    m.def("products", &describe_products,
          nb::sig("def products() -> list[tuple[str, tuple[str, ...]]]"),
          "The products: series, SoC names.");
    m.def("get_product", [] { return engine().product().soc_name; });
    m.def("set_product", [](const std::string& name) { engine().set_product(name); }, "name"_a);
    m.def("get_num_threads", [] { return engine().num_threads(); });
    m.attr("MOST_THREADS") = kMostThreads;
    m.def("set_num_threads", [](int count) { engine().set_num_threads(count); }, "count"_a);
    m.def("instruction_set", [] { return std::string(engine().instruction_set()); });
    m.def(
        "status_name", [](int status) { return std::string(name_of(Status{status})); }, "status"_a);
}

}  // namespace
}  // namespace openaclnn::python

NB_MODULE(_native, m) {
    using namespace openaclnn::python;
    const int bfloat16 =
        nb::cast<int>(nb::module_::import_("numpy")
                          .attr("dtype")(nb::module_::import_("ml_dtypes").attr("bfloat16"))
                          .attr("num"));
    import_numpy(bfloat16);
    nb::register_exception_translator(translate);
    define_views(m);
    define_execution(m);
    define_settings(m);
}
