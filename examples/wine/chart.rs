//! The training and the distances between cultivars as SVG.

use ndarray::Array2;
use std::fmt::Write;

const STYLE: &str = "\
.ground{fill:#fff;stroke:#d0d7de}.text{fill:#1f2328;font:13px sans-serif}.grid{stroke:#d0d7de}.line{fill:none;stroke-width:2.5}
.loss{stroke:#bc4c00}.accuracy{stroke:#0969da}.loss-text{fill:#bc4c00}.accuracy-text{fill:#0969da}.cell{fill:#1f2328;font:13px sans-serif}
@media(prefers-color-scheme:dark){.ground{fill:#0d1117;stroke:#3d444d}.text{fill:#f0f6fc}.grid{stroke:#3d444d}
.loss{stroke:#f0883e}.accuracy{stroke:#4493f8}.loss-text{fill:#f0883e}.accuracy-text{fill:#4493f8}}";
/// The panel of the training.
const LEFT: f64 = 50.0;
const TOP: f64 = 46.0;
const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 190.0;
/// A cell of the distances.
const CELL: f64 = 62.0;

/// Loss and accuracy before each step, and the distance of each cultivar to each.
pub(crate) fn draw(history: &[[f64; 2]], distances: &Array2<f64>) -> String {
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 700 290" width="700">
<style>{STYLE}</style>
<rect class="ground" x=".5" y=".5" width="699" height="289" rx="6"/>
"#
    );
    training(&mut svg, history);
    table(&mut svg, distances);
    svg + "</svg>\n"
}

fn training(svg: &mut String, history: &[[f64; 2]]) {
    let most = history.iter().flatten().fold(1.0, |most: f64, &value| most.max(value));
    let top = (most * 5.0).ceil() / 5.0;
    let x = |step: usize| LEFT + WIDTH * step as f64 / (history.len() - 1).max(1) as f64;
    let y = |value: f64| TOP + HEIGHT * (1.0 - value / top);
    for tenths in (0..).step_by(2).take_while(|&tenths| f64::from(tenths) <= 10.0 * top) {
        let value = f64::from(tenths) / 10.0;
        let _ = writeln!(svg, r#"<path class="grid" d="M{LEFT} {:.1}h{WIDTH}"/>"#, y(value));
        text(svg, "", [LEFT - 8.0, y(value) + 4.0], "end", &format!("{value:.1}"));
    }
    for (kind, class) in ["loss", "accuracy"].into_iter().enumerate() {
        let mut line = String::new();
        for (step, values) in history.iter().enumerate() {
            let _ =
                write!(line, "{}{:.1} {:.1}", if step == 0 { 'M' } else { 'L' }, x(step), y(values[kind]));
        }
        let _ = writeln!(svg, r#"<path class="line {class}" d="{line}"/>"#);
        let last = history.last().map_or(0.0, |values| values[kind]);
        let label = format!("{class} {last:.2}");
        text(
            svg,
            &format!("{class}-text"),
            [LEFT + WIDTH, y(last) + if last < top / 2.0 { -10.0 } else { 18.0 }],
            "end",
            &label,
        );
    }
    text(svg, "", [LEFT, 28.0], "start", "learning to tell the cultivars apart");
    text(svg, "", [LEFT + WIDTH / 2.0, TOP + HEIGHT + 34.0], "middle", "steps");
    text(svg, "", [LEFT, TOP + HEIGHT + 18.0], "middle", "0");
    text(svg, "", [LEFT + WIDTH, TOP + HEIGHT + 18.0], "middle", &(history.len() - 1).to_string());
}

fn table(svg: &mut String, distances: &Array2<f64>) {
    let (left, top) = (LEFT + WIDTH + 90.0, TOP + 4.0);
    let most = distances.iter().fold(0.0, |most: f64, &distance| most.max(distance));
    text(svg, "", [left, 28.0], "start", "distance between cultivars");
    for ((from, to), &distance) in distances.indexed_iter() {
        let (x, y) = (left + CELL * to as f64, top + CELL * from as f64);
        // from nearly white to blue
        let share = distance / most.max(f64::MIN_POSITIVE);
        let [red, green, blue] = [121.0, 184.0, 255.0].map(|part| 247.0 + (part - 247.0) * share);
        let fill = format!("rgb({red:.0},{green:.0},{blue:.0})");
        let _ = writeln!(svg, r#"<rect x="{x}" y="{y}" width="60" height="60" fill="{fill}"/>"#);
        text(svg, "cell", [x + 30.0, y + 35.0], "middle", &format!("{distance:.2}"));
    }
    for cultivar in 0..distances.nrows() {
        let middle = CELL * cultivar as f64 + 30.0;
        text(svg, "", [left - 10.0, top + middle + 4.0], "end", &cultivar.to_string());
        text(
            svg,
            "",
            [left + middle, top + CELL * distances.nrows() as f64 + 16.0],
            "middle",
            &cultivar.to_string(),
        );
    }
}

fn text(svg: &mut String, class: &str, [x, y]: [f64; 2], anchor: &str, text: &str) {
    let class = if class == "cell" { class.to_owned() } else { format!("text {class}") };
    let _ =
        writeln!(svg, r#"<text class="{class}" x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{text}</text>"#);
}
