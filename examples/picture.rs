//! Balances the colours of a picture and undoes its vignette in one pass: a factor for each row, for each column and
//! for each channel.
//!
//! `cargo run --release --example picture [IN.ppm [OUT.ppm]]`: without a file, a picture that the program makes.

mod usage;

use ndarray::{Array1, Array2, Array3, ArrayView3, Axis, Zip};
use ndarray_broadcast::{BroadcastError, broadcast_apply, broadcast_map, fused, prelude::*};
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, process};

fn main() {
    let ([], names) =
        usage::arguments("picture [IN.ppm [OUT.ppm]]: balances the colours of a picture", [], 2);
    if let Err(error) = run(names.first().map(Path::new), names.get(1).map(Path::new)) {
        eprintln!("picture: {error}");
        process::exit(1);
    }
}

fn run(from: Option<&Path>, to: Option<&Path>) -> Result<(), Box<dyn Error>> {
    let bytes = match from {
        Some(name) => fs::read(name).map_err(|error| format!("{}: {error}", name.display()))?,
        None => write_pixmap(&made_up(720, 1080)?.view()),
    };
    let name = from.unwrap_or(Path::new("made up")).display();
    let picture = read_pixmap(&bytes).map_err(|error| format!("{name}: {error}"))?;
    let (height, width, _) = picture.dim();
    println!("{:<28} {height} rows, {width} columns", "picture");

    let channels = balance(&picture)?;
    println!("{:<28} {channels:.3}", "factors of the channels");
    let (rows, columns) = (brighter_outwards(height).insert_axis(Axis(1)), brighter_outwards(width));

    // (h, w, 3) with (h, 1, 1), (w, 1) and (3): nothing is copied to (h, w, 3), and nothing is in between
    let rows = rows.insert_axis(Axis(2));
    let columns = columns.insert_axis(Axis(1));
    let correct =
        |&x: &u8, &row: &f32, &column: &f32, &channel: &f32| to_byte(f32::from(x) * row * column * channel);
    let corrected = broadcast_map((&picture, &rows, &columns, &channels), correct)?;
    println!("{:<28} {:.3}", "factors after correction", balance(&corrected)?);

    let mut out = Array3::zeros(picture.dim());
    let fused = shortest(|| {
        broadcast_apply(&mut out, (&picture, &rows, &columns, &channels), |out, x, r, c, k| {
            *out = correct(x, r, c, k);
        })
    })?;
    assert_eq!(out, corrected);
    let zip = shortest(|| {
        let zip = Zip::from(&mut out).and(&picture).and_broadcast(&rows).and_broadcast(&columns);
        zip.and_broadcast(&channels).for_each(|out, x, r, c, k| *out = correct(x, r, c, k));
        Ok(())
    })?;
    assert_eq!(out, corrected);
    let operators = shortest(|| {
        out = (picture.mapv(f32::from) * &rows * &columns * &channels).mapv(to_byte);
        Ok(())
    })?;
    assert_eq!(out, corrected);
    println!("{:<28} {fused:.2?}", "broadcast_apply");
    println!("{:<28} {zip:.2?}", "ndarray's Zip");
    println!("{:<28} {operators:.2?}", "ndarray's operators");

    if let Some(name) = to {
        fs::write(name, write_pixmap(&corrected.view()))
            .map_err(|error| format!("{}: {error}", name.display()))?;
    }
    Ok(())
}

/// The factors that make the means of the channels equal.
fn balance(picture: &Array3<u8>) -> Result<Array1<f32>, BroadcastError> {
    let sums = fused(picture, |&x| f64::from(x)).sum_to(3)?;
    let mean = sums.sum() / 3.0;
    #[allow(clippy::cast_possible_truncation, reason = "a factor needs no more digits")]
    broadcast_map(&sums, |&sum| if sum > 0.0 { (mean / sum) as f32 } else { 1.0 })
}

/// Factors from 1 in the middle to 1.5 at both ends.
#[allow(clippy::cast_precision_loss, reason = "of numbers of pixels")]
fn brighter_outwards(len: usize) -> Array1<f32> {
    let half = len as f32 / 2.0;
    Array1::from_shape_fn(len, |i| 1.0 + 0.5 * ((i as f32 + 0.5 - half) / half).powi(2))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the limits of a byte")]
fn to_byte(x: f32) -> u8 {
    x.clamp(0.0, 255.0) as u8
}

/// The shortest time of several runs.
fn shortest(mut work: impl FnMut() -> Result<(), BroadcastError>) -> Result<Duration, BroadcastError> {
    let mut shortest = Duration::MAX;
    for _ in 0..10 {
        let start = Instant::now();
        work()?;
        shortest = shortest.min(start.elapsed());
    }
    Ok(shortest)
}

/// A sunset over water, too red and dark at the edges.
#[allow(clippy::cast_precision_loss, reason = "of numbers of pixels")]
fn made_up(height: usize, width: usize) -> Result<Array3<u8>, BroadcastError> {
    let sky = Array2::from_shape_fn((height, 1), |(i, _)| 230.0 - 120.0 * (i as f32 / height as f32));
    let waves = Array1::from_shape_fn(width, |j| 1.0 + 0.1 * (j as f32 / 17.0).sin());
    let tint = Array1::from_vec(vec![1.1_f32, 0.8, 0.6]);
    let dark = |len| brighter_outwards(len).mapv(|x| 1.0 / x);
    let (rows, columns) =
        (dark(height).insert_axis(Axis(1)).insert_axis(Axis(2)), dark(width).insert_axis(Axis(1)));
    let (sky, waves) = (sky.insert_axis(Axis(2)), waves.insert_axis(Axis(1)));
    broadcast_map((&sky, &waves, &tint, &rows, &columns), |s, w, t, r, c| to_byte(s * w * t * r * c))
}

/// A picture as a binary portable pixmap.
fn write_pixmap(picture: &ArrayView3<'_, u8>) -> Vec<u8> {
    let (height, width, _) = picture.dim();
    let mut bytes = format!("P6\n{width} {height}\n255\n").into_bytes();
    bytes.extend(picture);
    bytes
}

/// Reads a binary portable pixmap: `P6`, width, height and 255, with blanks and comments between, then the bytes.
fn read_pixmap(bytes: &[u8]) -> Result<Array3<u8>, String> {
    let mut at = 0;
    let mut word = || -> Result<&str, String> {
        loop {
            let blank = bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            at += blank;
            if bytes.get(at) != Some(&b'#') {
                break;
            }
            at += bytes[at..].iter().take_while(|&&byte| byte != b'\n').count();
        }
        let len = bytes[at..].iter().take_while(|byte| !byte.is_ascii_whitespace()).count().min(20);
        let word = &bytes[at..at + len];
        at += len;
        std::str::from_utf8(word).map_err(|_| format!("byte {at}: expected the heading of a portable pixmap"))
    };
    match word()? {
        "P6" => {}
        found => {
            return Err(format!("expected a binary portable pixmap, which starts with P6, found {found:?}"));
        }
    }
    let mut number = |what: &str, most: usize| {
        let found = word()?;
        let number = found.parse().ok().filter(|number| (1..=most).contains(number));
        number.ok_or_else(|| format!("expected {what} from 1 to {most}, found {found:?}"))
    };
    let (width, height) = (number("a width", 1 << 20)?, number("a height", 1 << 20)?);
    match number("a largest value", 65535)? {
        255 => {}
        largest => return Err(format!("expected 255 as the largest value, found {largest}")),
    }
    let pixels = bytes.get(at + 1..).unwrap_or_default();
    let expected = 3 * width * height;
    if pixels.len() != expected {
        return Err(format!(
            "expected {expected} bytes of {width} x {height} pixels, found {}",
            pixels.len()
        ));
    }
    Array3::from_shape_vec((height, width, 3), pixels.to_vec()).map_err(|error| error.to_string())
}
