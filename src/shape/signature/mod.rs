//! Signatures of operations on bases, as NumPy's generalised ufuncs have them.

mod cores;
mod tokens;

pub(crate) use cores::{CoreAxis, Cores};

use super::{BaseAxis, BatchShape, base_axes, base_size, joint_batch, sizes};
use crate::error::{BroadcastError, ErrorBuilder, NewBuilder, Result, caller, fail};
use alloc::vec::Vec;
use core::fmt;
use cores::Symbol;
use ndarray::IxDyn;
use tokens::check;

/// States which base axes of operands and results have equal sizes: `(m,n),(n)->(m)`.
///
/// The operands are before the arrow, the results after it; each is a list of base axes in parentheses. Axes with the
/// same name have the same size. A number is a size that the axis must have, as in `(3),(3)->(3)`. Base axes are never
/// stretched. An axis with a question mark may be missing, but then everywhere, as in `(m?,n),(n,p?)->(m?,p?)`.
///
/// # Examples
/// ```
/// use ndarray::{Array2, Array3, ArrayView1, ArrayView2, ArrayViewMut1, Ix1, Ix2};
/// use ndarray_broadcast::{prelude::*, Signature};
///
/// // read when the program is compiled
/// const MATVEC: Signature = Signature::literal("(m,n),(n)->(m)");
///
/// let (c, e) = (Array3::<f64>::ones((2, 6, 4)), Array2::<f64>::ones((2, 4)));
/// let times = |c: ArrayView2<f64>, e: ArrayView1<f64>, mut s: ArrayViewMut1<f64>| s.assign(&c.dot(&e));
/// let s: Array2<f64> = c.batch::<Ix2>()?.zip_map(&e.batch::<Ix1>()?, MATVEC, times)?;
/// assert_eq!(s, Array2::from_elem((2, 6), 4.0));
/// let e = Array2::<f64>::ones((2, 6));
/// assert_eq!(
///     c.batch::<Ix2>()?.zip_map(&e.batch::<Ix1>()?, MATVEC, times).unwrap_err().to_string(),
///     "cannot apply (m,n),(n)->(m) to (2; 6, 4) and (2; 6): \
///      n is 4 at base axis 1 of operand 0 and 6 at base axis 0 of operand 1",
/// );
/// # Ok::<(), ndarray_broadcast::BroadcastError>(())
/// ```
///
/// # Equivalents
/// `signature` of `numpy.vectorize` and of NumPy's generalised ufuncs, with fixed and optional sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[doc(alias = "gufunc")]
pub struct Signature<'s> {
    /// The text that it was read from.
    pub(crate) text: &'s str,
    counts: [usize; 2],
}

impl<'s> Signature<'s> {
    /// Reads a signature.
    ///
    /// # Shapes
    /// Any number of operands and results, each of any number of base axes; `()` is the base of a scalar.
    ///
    /// # Errors
    /// [`InvalidText`](crate::ErrorKind::InvalidText) with the position of the first character that does not fit.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::Signature;
    ///
    /// let signature = Signature::new("(m, n), (n) -> (m)")?;
    /// assert_eq!((signature.operands(), signature.results()), (2, 1));
    /// assert_eq!(
    ///     Signature::new("(m,n),(n>->(m)").unwrap_err().to_string(),
    ///     "cannot read \"(m,n),(n>->(m)\": position 8 needs (, ), a name, a size, a comma or ->",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// `numpy.vectorize(f, signature=…)`, without fixed and optional sizes; NumPy's C function
    /// `PyUFunc_FromFuncAndDataAndSignature` has these too.
    pub fn new(text: &'s str) -> Result<Self> {
        match check(text.as_bytes()) {
            Ok(counts) => Ok(Self { text, counts }),
            Err((position, expected)) => Err(BroadcastError::invalid_text(text, position, expected)),
        }
    }

    /// [`new`](Self::new) for a literal in the program, also in a constant.
    ///
    /// # Panics
    /// If `new` has an error, which also says where. In a constant, that is a compile error.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::Signature;
    ///
    /// const CROSS: Signature = Signature::literal("(3),(3)->(3)");
    /// assert_eq!(CROSS.to_string(), "(3),(3)->(3)");
    /// ```
    /// ```compile_fail,E0080
    /// const BAD: ndarray_broadcast::Signature = ndarray_broadcast::Signature::literal("(3),(3)");
    /// # assert_eq!(BAD.operands(), 2);
    /// ```
    ///
    /// # Equivalents
    /// As [`new`](Self::new); other systems read signatures only when the program runs.
    #[must_use]
    #[track_caller]
    pub const fn literal(text: &'s str) -> Self {
        match check(text.as_bytes()) {
            Ok(counts) => Self { text, counts },
            Err(_) => panic!("cannot read the signature: `Signature::new` has the position in its error"),
        }
    }

    /// How many operands there are; see the example of [`new`](Self::new).
    #[must_use]
    pub const fn operands(&self) -> usize {
        self.counts[0]
    }

    /// How many results there are; see the example of [`new`](Self::new).
    #[must_use]
    pub const fn results(&self) -> usize {
        self.counts[1]
    }

    /// The joint batch shape, and the shapes of the results, for operands of these shapes.
    ///
    /// Each operand has as many base axes as the signature states.
    ///
    /// # Shapes
    /// `(m,n),(n)->(m)` of `[2, 6, 4]` and `[1000, 1, 4]` has the batch shape `[1000, 2]`, and its result the
    /// shape `[1000, 2, 6]`.
    ///
    /// # Errors
    /// In this order:
    /// [`OperandCount`](crate::ErrorKind::OperandCount) for another number of shapes;
    /// [`BaseAxes`](crate::ErrorKind::BaseAxes) for a shape with too few axes;
    /// [`BaseSize`](crate::ErrorKind::BaseSize) where a size is not the signature's number;
    /// [`BaseSymbol`](crate::ErrorKind::BaseSymbol) where one name has two sizes;
    /// [`UnknownSymbol`](crate::ErrorKind::UnknownSymbol) where a name occurs in the results only;
    /// [`Incompatible`](crate::ErrorKind::Incompatible) where a batch axis has two sizes that are not 1.
    ///
    /// # Examples
    /// ```
    /// use ndarray_broadcast::Signature;
    ///
    /// let matmul = Signature::new("(m?,n),(n,p?)->(m?,p?)")?;
    /// let shapes = matmul.resolve(&[&[7, 1, 2, 3], &[5, 3, 4]])?;
    /// assert_eq!((shapes.batch, shapes.results), (vec![7, 5], vec![vec![7, 5, 2, 4]]));
    /// assert_eq!(shapes.sizes, [("m", 2), ("n", 3), ("p", 4)]);
    /// assert_eq!(matmul.resolve(&[&[7, 2, 3], &[3]])?.results, [[7, 2]]);
    /// assert_eq!(
    ///     matmul.resolve(&[&[], &[3]]).unwrap_err().to_string(),
    ///     "cannot apply (m?,n),(n,p?)->(m?,p?) to (;) and (; 3): the base of operand 0 has 0 axes, expected 1",
    /// );
    /// # Ok::<(), ndarray_broadcast::BroadcastError>(())
    /// ```
    ///
    /// # Equivalents
    /// The shape checks of NumPy's generalised ufuncs.
    pub fn resolve(&self, shapes: &[&[usize]]) -> Result<SignatureShapes<'s>> {
        let whole = shapes.iter().map(|shape| BatchShape::new(shape, shape.len()));
        let mut parts = whole.collect::<Result<Vec<_>, _>>()?;
        let mut cores = self.cores(&parts)?;
        for (part, base) in parts.iter_mut().zip(&cores.bases) {
            // `results_of` reports the first operand that has too few axes.
            let Ok(split) = BatchShape::new(part.base(), base.len()) else { break };
            *part = split;
        }
        let bases = self.results_of(&mut cores, &parts)?;
        let joint: IxDyn = joint_batch(&parts, &[])?;
        let batch = sizes(&joint).to_vec();
        let results = bases.iter().map(|base| [&batch[..], base].concat()).collect();
        Ok(SignatureShapes { batch, sizes: cores.into_sizes(), results })
    }

    /// The base shape of the only result, for operands that are already split.
    ///
    /// # Errors
    /// [`OperandCount`](crate::ErrorKind::OperandCount) for another number of operands;
    /// [`ResultCount`](crate::ErrorKind::ResultCount) for several results;
    /// the other errors of [`resolve`](Self::resolve), except those about batches.
    pub(crate) fn base_of_result(&self, parts: &[BatchShape<'_>]) -> Result<Vec<usize>> {
        let mut cores = self.cores(parts)?;
        if self.results() != 1 {
            let (builder, found) = (self.builder(parts), self.results());
            return Err(fail!(builder, ResultCount, "the number of results is {found}, expected 1"));
        }
        Ok(self.results_of(&mut cores, parts)?.swap_remove(0))
    }

    /// The error of [`base_of_result`](Self::base_of_result) for bases that are known not to fit.
    pub(crate) fn misfit(&self, shapes: &[BatchShape<'_>]) -> BroadcastError {
        self.base_of_result(shapes).expect_err("the bases do not fit the signature")
    }

    /// The base axes, without the missing optional ones.
    fn cores(&self, parts: &[BatchShape<'_>]) -> Result<Cores<'s>> {
        check_operands(self.operands(), parts.len(), "shapes", &|| self.builder(parts))?;
        let mut cores = Cores::of(self.text);
        cores.leave_out_missing(&parts.iter().map(|part| part.base().len()).collect::<Vec<_>>());
        Ok(cores)
    }

    /// Checks the bases of the operands, and gives those of the results.
    fn results_of(&self, cores: &mut Cores<'s>, parts: &[BatchShape<'_>]) -> Result<Vec<Vec<usize>>> {
        for (operand, part) in parts.iter().enumerate() {
            let (expected, found) = (cores.bases[operand].len(), part.base().len());
            if found != expected {
                return Err(base_axes(self.builder(parts), Some(operand), [expected, found]));
            }
        }
        // A size that is not the number in the signature comes before names with two sizes.
        for are_numbers in [true, false] {
            for (operand, part) in parts.iter().enumerate() {
                for (axis, &size) in part.base().iter().enumerate() {
                    let symbol = &mut cores.symbols[cores.bases[operand][axis].symbol];
                    let expected = *symbol.size.get_or_insert(size);
                    let (first, first_axis) = *symbol.first.get_or_insert((operand, axis));
                    if size == expected || symbol.is_number != are_numbers {
                        continue;
                    }
                    let (builder, own) = (self.builder(parts), part.base_axis(operand, axis));
                    return Err(if are_numbers {
                        base_size(builder, own, [&size, &expected])
                    } else {
                        let first = parts[first].base_axis(first, first_axis);
                        two_sizes(builder, symbol.text, [first, own], [&expected, &size])
                    });
                }
            }
        }
        let size = |axis: &CoreAxis| {
            let Symbol { text, size, .. } = cores.symbols[axis.symbol];
            size.ok_or_else(|| unknown_symbol(self.builder(parts), text))
        };
        cores.bases[self.operands()..].iter().map(|base| base.iter().map(size).collect()).collect()
    }

    pub(crate) fn builder(&self, parts: &[BatchShape<'_>]) -> ErrorBuilder {
        ErrorBuilder::new(&caller::SIGNATURE, parts).text(&self.text)
    }
}

/// Checks the number of operands, which are `words`.
///
/// # Errors
/// `OperandCount`.
pub(crate) fn check_operands(
    expected: usize,
    found: usize,
    words: &str,
    builder: NewBuilder<'_>,
) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(fail!(builder(), OperandCount, "the number of {words} is {found}, expected {expected}"))
}

/// The error of a name with two sizes, at base axes of two operands.
pub(crate) fn two_sizes(
    builder: ErrorBuilder,
    name: &str,
    [first, second]: [BaseAxis; 2],
    sizes: [&dyn fmt::Display; 2],
) -> BroadcastError {
    let builder = builder.at(first.axis as i128, &[first.mark, second.mark], &sizes);
    fail!(builder, BaseSymbol, "{name} is {} at {first} and {} at {second}", sizes[0], sizes[1])
}

/// The error of a name that occurs in the results only.
pub(crate) fn unknown_symbol(builder: ErrorBuilder, name: &str) -> BroadcastError {
    fail!(builder, UnknownSymbol, "no operand has an axis {name} that says the size of the result's")
}

/// The shapes and sizes that [`Signature::resolve`] finds; see the example there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SignatureShapes<'s> {
    /// The joint batch shape.
    pub batch: Vec<usize>,
    /// The size of each name that is not missing, in the order of the signature.
    pub sizes: Vec<(&'s str, usize)>,
    /// The shape of each result: the joint batch shape, then its base shape.
    pub results: Vec<Vec<usize>>,
}

/// The text that it was read from.
impl fmt::Display for Signature<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)
    }
}
