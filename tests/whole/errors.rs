//! What errors know beside their words, and the order of the checks.

use common::{empty, kind, refused};
use ndarray::{Array, Array1, Array2, ArrayD, IxDyn, array};
use ndarray_broadcast::partial::PartialShape;
use ndarray_broadcast::prelude::*;
use ndarray_broadcast::{
    AxisSet, BroadcastError, broadcast_apply, broadcast_shapes, explain, reduction_axes, resolve_target,
};
use ndarray_broadcast::{
    ErrorKind::{
        AxisOutOfBounds, DuplicateAxis, Incompatible, InvalidSize, InvalidText, PlaceholderOnNewAxis,
    },
    keepdims,
};

const HUGE: isize = 1 << 40;

/// What errors know, beside their words.
#[test]
fn data() {
    let error = refused(broadcast_shapes(&[&[7][..], &[5, 1], &[4, 1], &[3, 7]]));
    assert_eq!((error.kind(), error.axis(), error.operands()), (Incompatible, Some(0), Some([1, 2])));
    assert_eq!(error.operation(), "broadcast shapes [7], [5, 1], [4, 1] and [3, 7] together");
    assert_eq!(
        (error.shapes().join(" "), error.sizes().join(" ")),
        ("[7] [5, 1] [4, 1] [3, 7]".into(), "5 4".into())
    );
    let error = refused(empty(&[2]).broadcast_to((1, -7_i8, u64::MAX)));
    assert_eq!((error.kind(), error.axis(), error.operands()), (InvalidSize, Some(1), None));
    assert_eq!(error.shapes(), ["[2]", "[1, -7, 18446744073709551615]"]);
    assert_eq!(error.sizes(), ["-7"]);
    let error = refused(empty(&[2]).broadcast_in_dim((3, 3), [5]));
    assert_eq!((error.kind(), error.axis(), error.sizes()), (AxisOutOfBounds, Some(5), &[][..]));
    assert_eq!(error, refused(empty(&[2]).broadcast_in_dim((3, 3), [5])));
    assert_ne!(error, refused(empty(&[2]).broadcast_in_dim((3, 3), [4])));
    let error = refused(empty(&[2, 3]).broadcast_to([4, -1, 2, 3]));
    assert_eq!(error.operation(), "resolve -1 at axis 1 of target [4, -1, 2, 3]");
    assert_eq!((error.kind(), error.axis(), error.position()), (PlaceholderOnNewAxis, Some(1), None));
    let error = refused("2xx3".parse::<PartialShape>());
    assert_eq!((error.kind(), error.axis(), error.position()), (InvalidText, None, Some(2)));
    assert_eq!((error.operation(), error.shapes()), ("read \"2xx3\"".into(), vec![]));
}

/// The same of sums and maps.
#[test]
fn data_of_sums_and_maps() {
    let delta = Array::<i64, _>::zeros((2, 3, 4));
    // the first that was there before
    let error = refused(delta.sum_axes([1, 0, 0, 1].to_vec()));
    assert_eq!((error.kind(), error.axis()), (DuplicateAxis, Some(0)));
    // more axes than the array has, in a list of which the type does not say so
    assert_eq!(kind(delta.sum_axes(&[0, 1, 2, 0][..])), "DuplicateAxis");
    let error = refused(Array::<u8, _>::zeros((2, 3, 4)).sum_to((2, 1, 5)));
    assert_eq!((error.axis(), error.operands()), (Some(2), Some([0, 1])));
    assert_eq!((error.sizes().concat(), error.shapes().concat()), ("45".into(), "[2, 3, 4][2, 1, 5]".into()));
    let (a, b, mut out) = (empty(&[3, 1]), empty(&[5]), empty(&[3, 4]));
    let error = refused(broadcast_apply(&mut out, (&a, &b), |(), (), ()| ()));
    assert_eq!((error.axis(), error.operands()), (Some(1), Some([1, 2])));
    assert_eq!(
        (error.sizes(), error.shapes()),
        (&["5".into(), "4".into()][..], vec!["[3, 1]".into(), "[5]".into(), "[3, 4]".to_string()])
    );
}

#[test]
fn an_error_is_small_and_can_be_passed_on() {
    fn passes<E: std::error::Error + Clone + Eq + Send + Sync + Unpin + 'static>() -> usize {
        size_of::<E>()
    }
    assert_eq!(passes::<BroadcastError>(), size_of::<usize>());
    assert_eq!(size_of::<Option<BroadcastError>>(), size_of::<usize>());
    assert_eq!(size_of::<Result<(), BroadcastError>>(), size_of::<usize>());
}

/// The first axis with clashing sizes is the one reported, and of it the first two operands.
#[test]
fn the_first_clash_is_reported() {
    let clash = |shapes: &[&[usize]]| {
        let error = refused(broadcast_shapes(shapes));
        let sizes: Vec<usize> =
            error.sizes().iter().map(|size| size.parse().expect("a known size")).collect();
        (error.axis().expect("an axis"), [sizes[0], sizes[1]], error.operands().expect("two operands"))
    };
    assert_eq!(clash(&[&[2, 3], &[4, 5]]), (0, [2, 4], [0, 1]));
    assert_eq!(clash(&[&[3], &[1, 5], &[2, 1], &[4, 3]]), (0, [2, 4], [2, 3]));
    assert_eq!(clash(&[&[1, 1], &[0, 1], &[2, 1], &[0, 1]]), (0, [0, 2], [1, 2]));
    assert_eq!(clash(&[&[2], &[2], &[2], &[3]]), (0, [2, 3], [0, 3]));
    assert_eq!(clash(&[&[2], &[3], &[4]]), (0, [2, 3], [0, 1]));
}

/// Where several things are wrong with one call, each is seen once those before it are put right.
#[test]
fn the_order_of_the_checks() {
    let array = empty(&[2, 3]);
    let to = |target: &[isize]| {
        let error = kind(array.broadcast_to(target));
        assert_eq!(kind(array.view().into_broadcast_to(target)), error);
        assert_eq!(kind(array.view().broadcast_in_place(target)), error);
        assert_eq!(kind(resolve_target(&[2, 3], target)), error);
        error
    };
    assert_eq!(to(&[-2]), "InvalidSize");
    assert_eq!(to(&[-1, -1, HUGE, HUGE, -2]), "InvalidSize");
    assert_eq!(to(&[9]), "TooFewAxes");
    assert_eq!(to(&[-1, HUGE, HUGE, 9]), "PlaceholderOnNewAxis");
    assert_eq!(to(&[HUGE, HUGE, 9, 3]), "Incompatible");
    assert_eq!(to(&[HUGE, HUGE, -1, 3]), "Overflow");

    let shape = |target: &[isize]| kind(array.broadcast_to_match_shape(target));
    assert_eq!(shape(&[-1]), "InvalidSize");
    assert_eq!(shape(&[-1, HUGE, HUGE, 9]), "InvalidSize");
    assert_eq!(shape(&[9]), "TooFewAxes");
    assert_eq!(shape(&[HUGE, HUGE, 9, 3]), "Incompatible");
    assert_eq!(shape(&[HUGE, HUGE, 2, 3]), "Overflow");

    let axes = |shape: &[isize], axes: &[usize]| kind(array.broadcast_axes(shape, axes));
    assert_eq!(axes(&[HUGE, HUGE, 9, -1], &[7, 0, 0]), "InvalidSize");
    assert_eq!(axes(&[HUGE, HUGE, 9, 3], &[0, 0, 7]), "AxisOutOfBounds");
    assert_eq!(axes(&[HUGE, HUGE, 9, 3], &[0, 0]), "DuplicateAxis");
    assert_eq!(axes(&[HUGE, HUGE, 9, 3], &[0]), "AxisCount");
    assert_eq!(axes(&[HUGE, HUGE, 9, 3], &[0, 1]), "Incompatible");
    assert_eq!(axes(&[HUGE, HUGE, 2, 3], &[0, 1]), "Overflow");

    let in_dim = |shape: &[isize], axes: &[usize]| kind(array.broadcast_in_dim(shape, axes));
    assert_eq!(in_dim(&[-1, HUGE, HUGE, 9], &[7, 7, 0]), "InvalidSize");
    assert_eq!(in_dim(&[HUGE, HUGE, 2, 9], &[7, 7, 0]), "AxisCount");
    assert_eq!(in_dim(&[HUGE, HUGE, 2, 9], &[7, 7]), "AxisOutOfBounds");
    assert_eq!(in_dim(&[HUGE, HUGE, 2, 9], &[3, 3]), "DuplicateAxis");
    assert_eq!(in_dim(&[HUGE, HUGE, 2, 9], &[2, 3]), "Incompatible");
    assert_eq!(in_dim(&[HUGE, HUGE, 2, 3], &[2, 3]), "Overflow");

    assert_eq!(kind(broadcast_shapes(&[&[1 << 40, 1 << 40, 2][..], &[3]])), "Incompatible");
}

#[test]
fn the_order_of_the_checks_of_sums() {
    let delta = Array::<u8, _>::zeros((2, 3)).into_dyn();
    // a size that is none, before too many axes, before a mismatch
    assert_eq!(kind(delta.sum_to([7, -1, 7, 7])), "InvalidSize");
    assert_eq!(kind(delta.sum_to([7, 7, 7])), "TooManyAxes");
    assert_eq!(kind(delta.sum_to([7, 3])), "Incompatible");
    // an axis that does not exist, before one that is repeated
    assert_eq!(kind(delta.sum_axes(&[0, 0, 2][..])), "AxisOutOfBounds");
    assert_eq!(kind(delta.sum_axes(&[0, 0, 1][..])), "DuplicateAxis");
    // both before a result that is too large
    let one = array![1_u64];
    let large = one.broadcast_to((1_usize << 30, 1_usize << 30)).expect("2^60 elements in 8 bytes");
    assert_eq!(kind(large.sum_axes(&[0, 2][..])), "AxisOutOfBounds");
    assert_eq!(kind(large.sum_axes(&[0, 0][..])), "DuplicateAxis");
    assert_eq!(kind(large.sum_to((1_usize << 30, 2))), "Incompatible");
}

/// Views of 2^60 elements and more: what would have to be stored is refused at once, without a try.
#[test]
fn too_large() {
    let float = array![0.5_f64];
    let float = float.broadcast_to((1_usize << 31, 1_usize << 31)).expect("2^62 elements in 8 bytes");
    assert_eq!(kind(float.sum_axes([0_usize; 0])), "TooLarge");
    assert_eq!(kind(float.sum_to(float.shape())), "TooLarge");
    // an empty axis makes the result empty, unless it is summed away
    let none = Array2::<f64>::zeros((0, 1));
    let none =
        none.broadcast_to((1_usize << 60, 0, 4)).map(|view| view.sum_axes([0_usize; 0]).map(|sum| sum.len()));
    assert_eq!(none, Ok(Ok(0)));
    let zeros = Array2::<f64>::zeros((0, 1));
    let zeros = zeros.broadcast_to((0, 1_usize << 61)).expect("no elements");
    assert_eq!(kind(zeros.sum_axes([0])), "TooLarge");
    assert_eq!(kind(zeros.sum_axes(keepdims([0]))), "TooLarge");
    assert_eq!(kind(zeros.sum_to((1, 1_usize << 61))), "TooLarge");
    assert_eq!(zeros.sum_axes([1]).map(|sum| sum.len()), Ok(0));
    assert_eq!(zeros.sum_axes([0, 1]).map(Array::into_scalar), Ok(0.0));
}

#[test]
fn shapes_that_fit_are_explained() {
    let lines = |shapes: &[&[usize]]| explain(shapes).to_string();
    assert_eq!(
        lines(&[&[8, 1, 6], &[7, 1], &[]]),
        "broadcast shapes [8, 1, 6], [7, 1] and [] together\n  \
         [8, 1, 6]\n  \
         [   7, 1]\n  \
         [       ]\n  \
         ---------\n  \
         [8, 7, 6]",
    );
}

/// A picture has at most 800 characters more than eight times those of its sizes, with two for each separator.
#[test]
fn pictures_of_mostly_spaces_are_left_out() {
    let is_pictured = |shapes: usize, axes: usize| {
        let (long, short) = (vec![2; axes], [3]);
        let mut operands = vec![&short[..]; shapes];
        operands[0] = &long;
        format!("{:#}", broadcast_shapes(&operands).expect_err("sizes 2 and 3")).contains('\n')
    };
    // 14 rows of 184 for 74 sizes, and 9 rows of 982 for 335
    assert_eq!([is_pictured(14, 61), is_pictured(14, 62)], [true, false]);
    assert_eq!([is_pictured(9, 327), is_pictured(9, 328)], [true, false]);
}

#[test]
fn many_axes() {
    let shape: Vec<usize> = (0..10_000).map(|axis| 1 + usize::from(axis % 1000 == 7)).collect();
    let delta = ArrayD::<i64>::ones(IxDyn(&shape));
    assert_eq!(delta.len(), 1024);
    let every: Vec<usize> = (0..10_000).collect();
    assert_eq!(delta.sum_axes(&every).map(|sum| sum.sum()), Ok(1024));
    let odd: AxisSet = (0..10_000).filter(|axis| axis % 2 == 1).collect();
    // sizes of 2 are at odd axes only
    assert_eq!(delta.sum_axes(&odd).map(|sum| (sum.ndim(), sum.len(), sum.sum())), Ok((5000, 1, 1024)));
    assert_eq!(delta.sum_axes(keepdims(&every[..5000])).map(|sum| (sum.ndim(), sum.len())), Ok((10_000, 32)));
    assert_eq!(delta.sum_to(&shape[5000..]).map(|sum| sum.sum()), Ok(1024));
    let mut out = ArrayD::zeros(&shape[9000..]);
    assert_eq!(delta.add_sum_to(&mut out), Ok(()));
    assert_eq!(out.into_iter().collect::<Vec<_>>(), [512, 512]);
    assert_eq!(kind(delta.sum_to(&Array1::<i64>::zeros(3))), "Incompatible");
    assert_eq!(kind(delta.sum_axes([every.clone(), every].concat())), "DuplicateAxis");
    assert_eq!(reduction_axes(&[1], &shape).map(|axes| axes.len()), Ok(9_999));
}
