//! The chart of what each turn cost: bars as high as their share of the largest one. A template draws them, with a table of
//! the same numbers beside them for those who cannot see the drawing.

use crate::pages::template_filters;
use plumbline_store::CostBar;
use serde::Serialize;

/// What the template draws.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Chart {
    /// What a bar is high by: `cost`, or `tokens` where the job's prices are zero.
    unit: &'static str,
    /// What the largest bar has: US dollars or tokens.
    top: f64,
    bars: Vec<Bar>,
    first_turn: i64,
    last_turn: i64,
    /// Whether a bar sums up several turns.
    grouped: bool,
}

#[derive(Debug, PartialEq, Serialize)]
struct Bar {
    /// From the bottom up.
    parts: Vec<Part>,
    /// Read on hover and by screen readers.
    title: String,
    turns: String,
    #[serde(flatten)]
    of: CostBar,
}

/// A piece of a bar, in percent of the chart's height.
#[derive(Debug, PartialEq, Serialize)]
struct Part {
    kind: &'static str,
    y: f64,
    height: f64,
}

/// Draws the bars; nothing without any.
pub(crate) fn draw(bars: &[CostBar]) -> Option<Chart> {
    let (first, last) = (bars.first()?, bars.last()?);
    let priced = bars.iter().any(|bar| bar.cost_usd > 0.0);
    let top = bars.iter().map(|bar| amounts(bar, priced).iter().map(|(_, amount)| amount).sum()).fold(0.0, f64::max);
    let drawn = bars.iter().map(|bar| {
        let turns = turns(bar);
        Bar { parts: parts(&amounts(bar, priced), top), title: title(bar, &turns), turns, of: bar.clone() }
    });
    Some(Chart {
        unit: if priced { "cost" } else { "tokens" },
        top,
        bars: drawn.collect(),
        first_turn: first.first_turn,
        last_turn: last.last_turn,
        grouped: bars.iter().any(|bar| bar.first_turn != bar.last_turn),
    })
}

fn amounts(bar: &CostBar, priced: bool) -> Vec<(&'static str, f64)> {
    match priced {
        true => vec![("cost", bar.cost_usd)],
        false => vec![
            ("cached", bar.cached_tokens as f64),
            ("fresh", bar.fresh_tokens as f64),
            ("output", bar.output_tokens as f64),
        ],
    }
}

fn parts(amounts: &[(&'static str, f64)], top: f64) -> Vec<Part> {
    let mut floor = 100.0;
    let drawn = amounts.iter().filter(|(_, amount)| *amount > 0.0).map(|&(kind, amount)| {
        let height = 100.0 * amount / top;
        floor -= height;
        Part { kind, y: floor, height }
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

#[cfg(test)]
mod tests {
    use super::draw;
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
    fn the_largest_bar_fills_the_height_and_parts_are_on_each_other() {
        assert_eq!(draw(&[]), None);
        let chart = draw(&[bar(1, 100, 0.0), bar(2, 400, 0.0)]).expect("two bars");
        assert_eq!((chart.unit, chart.top, chart.grouped), ("tokens", 800.0, false));
        let [cached, fresh] = &chart.bars[1].parts[..] else { panic!("two parts with tokens: {chart:?}") };
        assert_eq!((cached.y, fresh.y, fresh.height), (50.0, 0.0, 50.0));
        let priced = draw(&[bar(1, 100, 0.02), bar(2, 400, 0.01)]).expect("two bars");
        assert_eq!((priced.unit, priced.bars[0].parts[0].height), ("cost", 100.0));
    }
}
