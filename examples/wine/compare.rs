//! The text of this example beside that of the same with ndarray alone.

/// The functions of both files.
const FUNCTIONS: [&str; 4] = ["standardise", "distances", "predict", "gradient"];
/// One that is shown whole.
const SHOWN: &str = "gradient";
const WITH_CRATE: &str = include_str!("with_crate.rs");
const WITH_NDARRAY: &str = include_str!("with_ndarray.rs");

/// Prints how long each function is and how many axes it names, and one of them in full.
pub(crate) fn print() -> Result<(), String> {
    println!("{:<26} {:>20} {:>24}", "", "with the crate", "with ndarray alone");
    for name in FUNCTIONS {
        let [crate_text, ndarray_text] = texts(name)?.map(|lines| {
            let axes: usize = lines.iter().map(|line| axes(line)).sum();
            format!("{} lines, {axes} axes", lines.len())
        });
        println!("{name:<26} {crate_text:>20} {ndarray_text:>24}");
    }
    println!("Where shapes do not fit, the crate's lines return an error, ndarray's panic.");
    println!(
        "A bias of shape [1] for all cultivars needs no other lines with the crate, other axes with ndarray.\n"
    );
    println!("{SHOWN}, where they differ");
    // but for the `Ok` around a result
    let bare = |line: &'static str| line.trim_start_matches("Ok(").trim_end_matches(')');
    let [crate_lines, ndarray_lines] = texts(SHOWN)?;
    for (ours, plain) in crate_lines.into_iter().zip(ndarray_lines).filter(|(a, b)| bare(a) != bare(b)) {
        println!("  crate    {ours}\n  ndarray  {plain}");
    }
    Ok(())
}

/// The lines of a function in both files.
fn texts(name: &str) -> Result<[Vec<&'static str>; 2], String> {
    let lines = |text| body(text, name).ok_or_else(|| format!("{name} is no function of both files"));
    Ok([lines(WITH_CRATE)?, lines(WITH_NDARRAY)?])
}

/// The lines between the braces of a function, without comments.
fn body(text: &'static str, name: &str) -> Option<Vec<&'static str>> {
    let (_, function) = text.split_once(&format!("fn {name}("))?;
    let (_, function) = function.split_once("{\n")?;
    let (body, _) = function.split_once("\n}\n")?;
    Some(body.lines().map(str::trim).filter(|line| !line.starts_with("//")).collect())
}

/// How many axes a line counts out.
fn axes(line: &str) -> usize {
    ["Axis(", "_axes("].into_iter().map(|word| line.matches(word).count()).sum()
}
