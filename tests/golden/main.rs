//! What other systems answered, case by case. `README.md` says where each table is from.

mod calls;
mod gufunc;
mod neml2;
mod partial;
mod rows;

use common::run;
use ndarray::ArrayD;
use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

fn array(shape: &[usize], elements: Vec<f64>) -> ArrayD<f64> {
    ArrayD::from_shape_vec(shape, elements).expect("as many elements as the shape has")
}

/// A test for each list of each table. The cases of each kind are counted, so that none is lost.
macro_rules! tables {
    ($($test:ident: $table:literal / $list:literal by $check:expr, $($count:literal $kind:literal),+;)+) => {
        $(
            #[test]
            fn $test() {
                run($table, $list, &[$(($kind, $count)),+], $check);
            }
        )+

        const READ: &[(&str, &str)] = &[$(($table, $list)),+];
    };
}

tables! {
    poplar: "poplibs" / "cases" by rows::poplibs,
        3 "match1: refused: Incompatible",
        1 "match1: refused: TooFewAxes",
        19 "match1: shape",
        8 "match2: refused: Incompatible",
        44 "match2: shape",
        14 "match3: refused: Incompatible",
        33 "match3: shape",
        28 "ranks";
    mindspore: "mindspore_broadcast_to" / "cases" by rows::mindspore,
        77 "refused: Incompatible",
        31 "refused: InvalidSize",
        35 "refused: PlaceholderOnNewAxis",
        35 "refused: TooFewAxes",
        2 "shape",
        221 "shape, elements, gradient",
        31 "shape, gradient";
    mindspore_element_types: "mindspore_broadcast_to" / "dtypes" by rows::element_types,
        4 "bool",
        4 "complex128",
        4 "complex64",
        4 "float16",
        4 "float32",
        4 "float64",
        4 "int16",
        4 "int32",
        4 "int64",
        4 "int8",
        4 "uint16",
        4 "uint32",
        4 "uint64",
        4 "uint8";
    numpy: "numpy_broadcast" / "cases" by rows::numpy,
        19 "arrays: refused: Incompatible",
        3 "arrays: shape, strides, offset",
        43 "arrays: shape, strides, offset, elements",
        1 "shapes: more axes than NumPy has",
        92 "shapes: refused: Incompatible",
        20 "shapes: shape",
        137 "shapes: shape, strides, elements, sum",
        26 "to: refused: Incompatible",
        8 "to: refused: InvalidSize",
        5 "to: refused: TooFewAxes",
        4 "to: shape, strides, offset",
        92 "to: shape, strides, offset, elements";
    torch_expand: "torch_expand" / "cases" by rows::torch_expand,
        9 "another order: refused: Incompatible",
        3 "another order: refused: InvalidSize",
        1 "another order: refused: PlaceholderOnNewAxis",
        9 "another order: refused: TooFewAxes",
        43 "another order: shape, strides, elements, gradient",
        3 "another order: shape, strides, gradient",
        12 "refused: Incompatible",
        10 "refused: InvalidSize",
        10 "refused: PlaceholderOnNewAxis",
        15 "refused: TooFewAxes",
        117 "shape, strides, elements, gradient",
        8 "shape, strides, gradient";
    torch_sum_to_size: "torch_sum_to_size" / "cases" by rows::torch_sum_to_size,
        40 "another order: elements, axes",
        15 "another order: refused: Incompatible",
        6 "another order: refused: TooManyAxes",
        99 "elements, axes",
        43 "refused: Incompatible",
        2 "refused: InvalidSize",
        17 "refused: TooManyAxes";
    jax_in_dim: "jax_broadcast_in_dim" / "cases" by rows::jax_in_dim,
        1 "JAX lets an equal shape pass without looking at the axes: refused: AxisCount",
        8 "refused: AxisCount",
        13 "refused: AxisOutOfBounds",
        5 "refused: DuplicateAxis",
        23 "refused: Incompatible",
        1 "refused: InvalidSize",
        119 "shape, elements, gradient",
        10 "shape, gradient";
    jax_along: "jax_broadcast_in_dim" / "cases" by rows::jax_along,
        26 "no set: out of order, or no axes",
        9 "refused: AxisCount",
        30 "refused: Incompatible",
        1 "refused: InvalidSize",
        105 "shape, elements, gradient",
        9 "shape, gradient";
    xla_in_dim: "successor" / "xla_broadcast_in_dim" by rows::xla_in_dim,
        4 "refused: AxisCount",
        7 "refused: AxisOutOfBounds",
        2 "refused: DuplicateAxis",
        11 "refused: Incompatible",
        116 "shape, elements";
    ngraph: "ngraph_broadcast" / "broadcast" by rows::ngraph,
        13 "an axis twice: shape, elements",
        68 "refused: AxisCount",
        30 "refused: AxisOutOfBounds",
        27 "refused: Incompatible",
        167 "shape, elements",
        19 "unknown sizes, which no array has";
    ngraph_sums: "ngraph_broadcast" / "backprop_sum" by rows::ngraph_sums,
        23 "elements, 0 axes",
        42 "elements, 1 axes",
        70 "elements, several axes",
        2 "empty: elements, 0 axes",
        4 "empty: elements, 1 axes",
        9 "empty: elements, several axes";
    onnx_expand: "successor" / "onnx_expand_ort" by rows::onnx_expand,
        3 "refused: Incompatible",
        4 "refused: InvalidSize",
        83 "shape, elements";
    openvino: "successor" / "ov_broadcast" by rows::openvino,
        13 "bidirectional: refused: Incompatible",
        6 "bidirectional: shape",
        79 "bidirectional: shape, elements",
        14 "bidirectional: unknown sizes, which no array has",
        13 "numpy: refused: Incompatible",
        7 "numpy: refused: TooFewAxes",
        12 "numpy: shape",
        67 "numpy: shape, elements",
        15 "numpy: unknown sizes, which no array has";
    gufunc: "gufunc" / "cases" by gufunc::of_last_axes,
        2 "another fixed size",
        11 "refused batches",
        2 "refused by the function",
        6 "shapes only",
        17 "too few axes",
        23 "two sizes for a name",
        179 "values";
    gufunc_of_other_axes: "gufunc" / "kwargs_cases" by gufunc::of_other_axes,
        3 "not a question here",
        1 "refused",
        8 "values";
    neml2: "neml2_batch" / "cases" by neml2::operation,
        102 "element-wise",
        37 "element-wise, not as whole shapes",
        57 "products",
        1 "refused bases",
        43 "refused batches";
    mlir_broadcastable: "mlir_broadcastable" / "cases" by partial::mlir_broadcastable,
        701 "inferred",
        16 "no ranked operand",
        44 "refused";
    mlir_shape_dialect: "mlir_shape_dialect" / "cases" by partial::mlir_shape_dialect,
        234 "joined, certain",
        76 "not folded",
        43 "not folded, certain",
        7 "refused";
    ngraph_partial_shape: "ngraph_broadcast" / "partial_shape" by partial::ngraph_partial_shape,
        149 "equal",
        31 "with a 0 that nGraph loses";
    openvino_intervals: "successor" / "ov_intervals" by partial::openvino_intervals,
        186 "joined",
        54 "refused";
    openvino_partial: "successor" / "ov_broadcast" by partial::openvino_broadcast,
        112 "bidirectional",
        110 "numpy",
        4 "numpy: refused, which OpenVINO does not see";
    stablehlo_bounds: "successor" / "stablehlo_bounds" by partial::stablehlo_bounds,
        84 "equal",
        41 "looser",
        5 "not sound";
    onnx_names: "successor" / "onnx_symbolic" by partial::onnx_names,
        116 "joined",
        12 "refused";
    jax_symbolic: "successor" / "jax_symbolic" by partial::jax_symbolic,
        55 "certain",
        37 "left out: an equation between names",
        28 "refused";
}

/// Every list of cases that a table has is read.
#[test]
fn no_list_is_left_out() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("a file").path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let table: Value =
                serde_json::from_str(&fs::read_to_string(&path).expect("a text")).expect("JSON");
            let name = path.file_stem().and_then(OsStr::to_str).expect("a name");
            let lists = table.as_object().expect("an object").iter();
            let lists = lists.filter(|(_, list)| list.get(0).is_some_and(Value::is_object));
            found.extend(lists.map(|(list, _)| (name.to_owned(), list.clone())));
        }
    }
    let read: BTreeSet<_> = READ.iter().map(|&(table, list)| (table.to_owned(), list.to_owned())).collect();
    assert_eq!(found, read);
}
