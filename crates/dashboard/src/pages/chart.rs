//! The chart of the cost per turn: geometry computed here, drawn as inline SVG by a template, with a table of the same
//! numbers for screen readers.

use crate::pages::template_filters;
use plumbline_store::CostBar;
use serde::Serialize;

/// The size of the drawing in its own units; the page scales it.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 150.0;
/// Maximum width of a bar, for jobs with few turns.
const WIDEST: f64 = 26.0;

/// A drawn chart.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Chart {
    width: f64,
    height: f64,
    /// The quantity: `cost`, or `tokens` if the job's prices are zero.
    unit: &'static str,
    /// The scale's lines, from the bottom up.
    grid: Vec<GridLine>,
    bars: Vec<Bar>,
    first_turn: i64,
    last_turn: i64,
    /// Whether a bar stands for several turns.
    grouped: bool,
}

#[derive(Debug, PartialEq, Serialize)]
struct GridLine {
    y: f64,
    label: String,
}

#[derive(Debug, PartialEq, Serialize)]
struct Bar {
    x: f64,
    width: f64,
    parts: Vec<Part>,
    failed: i64,
    /// Read on hover and by screen readers.
    title: String,
    turns: String,
    fresh: i64,
    cached: i64,
    output: i64,
    cost: f64,
}

#[derive(Debug, PartialEq, Serialize)]
struct Part {
    kind: &'static str,
    y: f64,
    height: f64,
}

/// Draws the bars; none without data.
pub(crate) fn draw(bars: &[CostBar]) -> Option<Chart> {
    let (first, last) = (bars.first()?, bars.last()?);
    let priced = bars.iter().any(|bar| bar.cost_usd > 0.0);
    let top = nice(bars.iter().map(|bar| measure(bar, priced)).fold(0.0, f64::max));
    let slot = WIDTH / bars.len() as f64;
    let width = (slot * 0.8).clamp(1.0, WIDEST);
    let drawn = bars.iter().enumerate().map(|(at, bar)| {
        let turns = turns(bar);
        Bar {
            x: tenth(slot * at as f64 + (slot - width) / 2.0),
            width: tenth(width),
            parts: parts(bar, priced, top),
            failed: bar.failed,
            title: title(bar, &turns),
            turns,
            fresh: bar.fresh_tokens,
            cached: bar.cached_tokens,
            output: bar.output_tokens,
            cost: bar.cost_usd,
        }
    });
    Some(Chart {
        width: WIDTH,
        height: HEIGHT,
        unit: if priced { "cost" } else { "tokens" },
        grid: [0.0, 0.5, 1.0]
            .map(|part| GridLine { y: tenth(HEIGHT * (1.0 - part)), label: label(top * part, priced) })
            .into(),
        bars: drawn.collect(),
        first_turn: first.first_turn,
        last_turn: last.last_turn,
        grouped: bars.iter().any(|bar| bar.first_turn != bar.last_turn),
    })
}

fn measure(bar: &CostBar, priced: bool) -> f64 {
    if priced { bar.cost_usd } else { (bar.fresh_tokens + bar.cached_tokens + bar.output_tokens) as f64 }
}

/// From the bottom up: cached, fresh, answer; with prices a single part.
fn parts(bar: &CostBar, priced: bool, top: f64) -> Vec<Part> {
    let amounts = match priced {
        true => vec![("cost", bar.cost_usd)],
        false => vec![
            ("cached", bar.cached_tokens as f64),
            ("fresh", bar.fresh_tokens as f64),
            ("output", bar.output_tokens as f64),
        ],
    };
    let mut floor = HEIGHT;
    let drawn = amounts.into_iter().filter(|(_, amount)| *amount > 0.0).map(|(kind, amount)| {
        let height = HEIGHT * amount / top;
        floor -= height;
        Part { kind, y: tenth(floor), height: tenth(height.max(0.5)) }
    });
    drawn.collect()
}

fn turns(bar: &CostBar) -> String {
    match bar.first_turn == bar.last_turn {
        true => format!("{}", bar.first_turn),
        false => format!("{}–{}", bar.first_turn, bar.last_turn),
    }
}

fn title(bar: &CostBar, turns: &str) -> String {
    let failed = if bar.failed > 0 { format!(", {} failed", bar.failed) } else { String::new() };
    format!(
        "Turn {turns}: {}; {} fresh, {} cached, {} answer tokens; {}{failed}",
        template_filters::usd(bar.cost_usd),
        bar.fresh_tokens,
        bar.cached_tokens,
        bar.output_tokens,
        template_filters::span(bar.duration_ms as f64 / 1000.0)
    )
}

fn label(amount: f64, priced: bool) -> String {
    match priced {
        true => template_filters::usd(amount),
        false if amount >= 1_000_000.0 => format!("{:.1}\u{202f}M", amount / 1e6),
        false if amount >= 1000.0 => format!("{:.0}\u{202f}k", amount / 1e3),
        false => format!("{amount:.0}"),
    }
}

/// The next larger 1, 2, 3, 4, 5, 6 or 8 times a power of ten.
fn nice(largest: f64) -> f64 {
    if largest <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(largest.log10().floor());
    let steps = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    steps.into_iter().map(|step| step * power).find(|top| *top >= largest * 0.999_999).unwrap_or(largest)
}

fn tenth(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::{HEIGHT, draw, nice};
    use plumbline_store::CostBar;

    fn bar(turn: i64, tokens: i64, cost_usd: f64) -> CostBar {
        CostBar {
            first_turn: turn,
            last_turn: turn,
            first_step: turn,
            last_step: turn,
            fresh_tokens: tokens,
            cached_tokens: tokens,
            output_tokens: 0,
            duration_ms: 1,
            failed: 0,
            cost_usd,
        }
    }

    #[test]
    fn the_largest_bar_fits_and_parts_stand_on_each_other() {
        assert_eq!(draw(&[]), None);
        let chart = draw(&[bar(1, 100, 0.0), bar(2, 400, 0.0)]).expect("two bars");
        assert_eq!((chart.unit, chart.grid[2].label.as_str(), chart.grouped), ("tokens", "800", false));
        let [cached, fresh] = &chart.bars[1].parts[..] else { panic!("two parts with tokens: {chart:?}") };
        assert_eq!((cached.y, fresh.y, fresh.height), (HEIGHT / 2.0, 0.0, HEIGHT / 2.0));
        let priced = draw(&[bar(1, 100, 0.02), bar(2, 400, 0.01)]).expect("two bars");
        assert_eq!((priced.unit, priced.bars[0].parts[0].height), ("cost", HEIGHT));
        assert!([0.0, 1e-9, 0.7, 17.0, 95.0, 123_456.0].iter().all(|&n| nice(n) >= n && nice(n) <= (n * 2.0).max(1.0)));
    }
}
