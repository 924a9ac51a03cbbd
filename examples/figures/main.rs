//! Draws the figures of the guide from real views: the elements of each array are their own indices, so each cell of a
//! result knows the element that it reads.
//!
//! `cargo run --example figures` writes those that differ into `src/guide`; `cargo test` fails where a file differs.

mod svg;
#[path = "../usage/mod.rs"]
mod usage;

use ndarray::{Array, Array1, Array2, Array3, ArrayRef, ArrayViewD, Dimension, Ix1, Ix2, ShapeBuilder};
use ndarray_broadcast::{BroadcastError, batch_broadcast, prelude::*, reduction_axes};
use std::error::Error;
use std::path::Path;
use std::{fs, process};
use svg::{Edge, Line, Svg};

fn main() {
    let ([], _) = usage::arguments("figures: writes the figures of the guide", [], 0);
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/guide");
    let drawn = figures().map_err(Box::from).and_then(|figures| write_into(&guide, &figures));
    if let Err(error) = drawn {
        eprintln!("figures: {error}");
        process::exit(1);
    }
}

/// Writes each figure whose file differs: what includes the others need not be compiled again.
fn write_into(guide: &Path, figures: &[(&str, String)]) -> Result<(), Box<dyn Error>> {
    for (name, figure) in figures {
        let file = guide.join(name);
        let is_kept = fs::read(&file).is_ok_and(|bytes| bytes == figure.as_bytes());
        println!("{name:<24} {:>6} bytes{}", figure.len(), if is_kept { "" } else { ", written" });
        if !is_kept {
            fs::write(&file, figure).map_err(|error| format!("{name}: {error}"))?;
        }
    }
    Ok(())
}

/// All figures, by the names of their files.
pub(crate) fn figures() -> Result<Vec<(&'static str, String)>, BroadcastError> {
    Ok(vec![
        ("broadcast_to_match.svg", to_match()?),
        ("broadcast_to.svg", to_target()?),
        ("broadcast_axes.svg", named_axes()?),
        ("broadcast_in_dim.svg", placed_axes()?),
        ("batch_broadcast.svg", batches()?),
        ("sum_to.svg", sum_to()?),
    ])
}

/// An array whose elements are their own indices.
fn own_indices<D: Dimension>(shape: impl ShapeBuilder<Dim = D>) -> Array<usize, D> {
    let mut next = 0..;
    Array::from_shape_simple_fn(shape, || next.next().unwrap_or_default())
}

fn dynamic<D: Dimension>(array: &ArrayRef<usize, D>) -> ArrayViewD<'_, usize> {
    array.view().into_dyn()
}

const COLOURS: [[u8; 3]; 8] = [
    [0x79, 0xb8, 0xff],
    [0xff, 0xab, 0x70],
    [0x7e, 0xe0, 0x96],
    [0xc9, 0xa7, 0xff],
    [0xff, 0xe0, 0x66],
    [0xf9, 0x9c, 0xc0],
    [0x6f, 0xd6, 0xd6],
    [0xd0, 0xb9, 0xa0],
];

/// A colour, and how many twelfths of it are white.
fn colour(hue: usize, white: usize) -> String {
    let [r, g, b] = COLOURS[hue].map(|part| (usize::from(part) * (12 - white) + 255 * white) / 12);
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Elements of one operand: a colour each, from `first` on, and its name with the index.
fn elements(name: &'static str, first: usize) -> impl Fn(usize) -> (String, String) {
    move |element| (colour(first + element, 0), format!("{name}{element}"))
}

/// Edges for axes in `directions`, each with its label and line: `h` and `v` for cells, `H` and `V` for blocks of them.
fn edges(directions: &str, edge: impl Fn(usize) -> (String, Line)) -> Vec<Edge> {
    let directed = directions.chars().enumerate();
    let edges = directed.map(|(axis, direction)| {
        let (label, line) = edge(axis);
        Edge { label, line, across: direction.eq_ignore_ascii_case(&'h'), blocks: direction.is_uppercase() }
    });
    edges.collect()
}

/// The edges of an array as it is.
fn sizes<D: Dimension>(array: &ArrayRef<usize, D>, directions: &str) -> Vec<Edge> {
    edges(directions, |axis| (array.shape()[axis].to_string(), Line::Plain))
}

/// The edges of a view that is aligned at the right with the array that it reads. Its strides tell which axes repeat.
fn aligned<D: Dimension>(
    view: &ArrayViewD<'_, usize>,
    of: &ArrayRef<usize, D>,
    directions: &str,
) -> Vec<Edge> {
    let added = view.ndim() - of.ndim();
    edges(directions, |axis| {
        let size = view.shape()[axis];
        match (axis < added, view.strides()[axis] == 0) {
            (true, _) => (format!("new: {size}"), Line::Repeats),
            (false, true) => (format!("1 → {size}"), Line::Repeats),
            (false, false) => (size.to_string(), Line::Plain),
        }
    })
}

/// The sizes of a shape; those that `changes` tells are not kept.
fn listed<T: ToString>(sizes: &[T], changes: impl Fn(usize) -> bool) -> Vec<(String, bool)> {
    sizes.iter().enumerate().map(|(axis, size)| (size.to_string(), changes(axis))).collect()
}

/// Sizes that the shape at the right of the joint shape does not keep.
fn stretched<'a>(shape: &'a [usize], joint: &'a [usize]) -> Vec<(String, bool)> {
    let added = joint.len() - shape.len();
    listed(shape, move |axis| shape[axis] != joint[added + axis])
}

fn to_match() -> Result<String, BroadcastError> {
    let (x, y): (Array2<usize>, Array1<usize>) = (own_indices((3, 1)), own_indices(4));
    let (xs, ys) = x.broadcast_to_match(&y)?;
    let (of_x, of_y) = (xs.view().into_dyn(), ys.view().into_dyn());
    let mut svg = Svg::new("broadcast_to_match: both arrays stretch to their joint shape", 316);
    svg.code((20, 28), "let (xs, ys) = x.broadcast_to_match(&y)?;");
    svg.grid((100, 78), &dynamic(&x), &sizes(&x, "vh"), &elements("x", 0));
    svg.arrow((180, 121), 44);
    svg.grid((310, 78), &of_x, &aligned(&of_x, &x, "vh"), &elements("x", 0));
    svg.grid((60, 238), &dynamic(&y), &sizes(&y, "h"), &elements("y", 3));
    svg.arrow((200, 252), 24);
    svg.grid((310, 208), &of_y, &aligned(&of_y, &y, "vh"), &elements("y", 3));
    let shapes = [
        ("x", stretched(x.shape(), xs.shape())),
        ("y", stretched(y.shape(), xs.shape())),
        ("both", listed(xs.shape(), |_| false)),
    ];
    svg.shapes((510, 100), &shapes);
    Ok(svg.finish())
}

fn to_target() -> Result<String, BroadcastError> {
    let x: Array2<usize> = own_indices((3, 1));
    let target = [2, -1, 4];
    let view = x.broadcast_to(target)?.into_dyn();
    let mut svg = Svg::new("broadcast_to: -1 keeps the size of the array's own axis", 214);
    svg.code((20, 28), "x.broadcast_to([2, -1, 4])?");
    svg.grid((50, 78), &dynamic(&x), &sizes(&x, "vh"), &elements("x", 0));
    svg.arrow((100, 121), 30);
    svg.grid((170, 78), &view, &aligned(&view, &x, "Hvh"), &elements("x", 0));
    let shapes = [
        ("x", stretched(x.shape(), view.shape())),
        ("target", listed(&target, |_| false)),
        ("result", listed(view.shape(), |_| false)),
    ];
    svg.shapes((510, 72), &shapes);
    Ok(svg.finish())
}

fn named_axes() -> Result<String, BroadcastError> {
    let x: Array1<usize> = own_indices(3);
    let mut svg = Svg::new("broadcast_axes: the named axes are new, the others are the array's", 214);
    svg.grid((30, 123), &dynamic(&x), &sizes(&x, "h"), &elements("x", 0));
    for (left, axis) in [(300, 0), (590, 1)] {
        let view = x.broadcast_axes((3, 3), axis)?.into_dyn();
        let edges = edges("vh", |other| {
            let size = view.shape()[other];
            let (new, line) = if other == axis { (", new", Line::Repeats) } else { ("", Line::Plain) };
            (format!("axis {other}{new}: {size}"), line)
        });
        svg.code((left - 140, 28), format_args!("x.broadcast_axes((3, 3), {axis})?"));
        svg.grid((left, 92), &view, &edges, &elements("x", 0));
    }
    svg.arrow((128, 137), 24);
    Ok(svg.finish())
}

fn placed_axes() -> Result<String, BroadcastError> {
    let x: Array2<usize> = own_indices((2, 3));
    let placed = [2, 0];
    let view = x.broadcast_in_dim((3, 4, 2), placed)?.into_dyn();
    let lines = [Line::First, Line::Second];
    let mut svg =
        Svg::new("broadcast_in_dim: each axis of the array goes to the axis that is given for it", 242);
    svg.code((20, 28), "x.broadcast_in_dim((3, 4, 2), [2, 0])?");
    svg.grid(
        (110, 108),
        &dynamic(&x),
        &edges("vh", |axis| (format!("axis {axis}: {}", x.shape()[axis]), lines[axis])),
        &elements("x", 0),
    );
    svg.arrow((225, 137), 50);
    let of_result = edges("Hvh", |axis| {
        let size = view.shape()[axis];
        match placed.iter().position(|&place| place == axis) {
            Some(own) => (format!("axis {axis}: {size}"), lines[own]),
            None => (format!("axis {axis}, new: {size}"), Line::Repeats),
        }
    });
    svg.grid((420, 78), &view, &of_result, &elements("x", 0));
    Ok(svg.finish())
}

fn batches() -> Result<String, BroadcastError> {
    let (x, y): (Array3<usize>, Array3<usize>) = (own_indices((2, 2, 2)), own_indices((3, 1, 2)));
    let (xb, yb) = (x.batch::<Ix2>()?, y.batch::<Ix1>()?);
    let (xs, ys) = batch_broadcast(&xb, &yb)?;
    let joint = xs.batch_shape().to_vec();
    let (of_x, of_y) = (xs.into_view().into_dyn(), ys.into_view().into_dyn());
    // a colour for each batch element, a shade for each element of the base
    let of = |name: &'static str, first: usize, base: usize| {
        move |element: usize| {
            (colour(first + element / base, 2 * (element % base)), format!("{name}{element}"))
        }
    };
    let named = |mut edges: Vec<Edge>| {
        for edge in &mut edges {
            edge.label.insert_str(0, if edge.blocks { "batch " } else { "base " });
        }
        edges
    };
    let (x_paint, y_paint) = (of("x", 0, 4), of("y", 2, 2));
    let mut svg = Svg::new("batch_broadcast: batch axes are broadcast, the bases stay whole", 516);
    svg.code((20, 28), "let (xs, ys) = batch_broadcast(&x.batch::<Ix2>()?, &y.batch::<Ix1>()?)?;");
    svg.grid((80, 150), &dynamic(&x), &named(sizes(&x, "Hvh")), &x_paint);
    svg.arrow((235, 178), 44);
    svg.grid((330, 78), &of_x, &named(aligned(&of_x, &x, "VHvh")), &x_paint);
    svg.grid((100, 360), &dynamic(&y), &named(sizes(&y, "VHh")), &y_paint);
    svg.arrow((235, 418), 44);
    svg.grid((330, 360), &of_y, &named(aligned(&of_y, &y, "VHh")), &y_paint);
    let list = |shape| stretched(shape, &joint);
    svg.text("", (566, 364), "start", "batch axes");
    svg.shapes(
        (566, 380),
        &[("x", list(&x.shape()[..1])), ("y", list(&y.shape()[..2])), ("both", list(&joint))],
    );
    Ok(svg.finish())
}

fn sum_to() -> Result<String, BroadcastError> {
    let (x, y): (Array2<usize>, Array1<usize>) = (own_indices((3, 1)), own_indices(4));
    let delta = Array2::from_shape_fn((3, 4), |(i, j)| 4 * i + j + 1);
    let mut svg =
        Svg::new("sum_to: the gradient of each element is the sum over the places where it stood", 350);
    svg.code((20, 28), "delta.sum_to(&x)?");
    added(&mut svg, 78, &delta, &x, elements("x", 0))?;
    svg.code((20, 200), "delta.sum_to(&y)?");
    added(&mut svg, 242, &delta, &y, elements("y", 3))?;
    Ok(svg.finish())
}

/// The sum of `delta` to the shape of an array, each term in the colour of the element to whose gradient it is added.
fn added<D: Dimension>(
    svg: &mut Svg,
    top: i32,
    delta: &Array2<usize>,
    like: &ArrayRef<usize, D>,
    paint: impl Fn(usize) -> (String, String),
) -> Result<(), BroadcastError> {
    let places: Array2<usize> = own_indices(delta.dim());
    let mut goes_to = Vec::new();
    for place in &places {
        let one = places.mapv(|other| usize::from(other == *place));
        goes_to.push(one.sum_to(like)?.iter().position(|&sum| sum == 1).unwrap_or_default());
    }
    let sums = delta.sum_to(like)?;
    let summed = reduction_axes(like.shape(), delta.shape())?;
    let of_delta = edges("vh", |axis| match delta.shape()[axis] {
        size if summed.contains(&axis) => (format!("sum of {size}"), Line::Summed),
        size => (size.to_string(), Line::Plain),
    });
    let values: Vec<usize> = delta.iter().copied().collect();
    svg.grid((110, top), &dynamic(&places), &of_delta, &|place| {
        (paint(goes_to[place]).0, values[place].to_string())
    });
    svg.arrow((270, top + 43), 50);
    let values: Vec<usize> = sums.iter().copied().collect();
    let gradient: Array<usize, D> = own_indices(like.raw_dim());
    let directions = &"vh"[2 - like.ndim()..];
    let top = if like.ndim() == 1 { top + 30 } else { top };
    svg.grid((390, top), &dynamic(&gradient), &sizes(&gradient, directions), &|element| {
        (paint(element).0, values[element].to_string())
    });
    Ok(())
}
