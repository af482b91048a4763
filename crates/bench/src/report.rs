//! The table: each figure with its floor, its ratio and its target, and the same as JSON.

use serde::Serialize;
use std::fmt::Write;

/// The target of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Target {
    /// The value itself.
    AtMost(f64),
    /// The value itself.
    AtLeast(f64),
    /// The value divided by the floor.
    RatioAtMost(f64),
    /// The value divided by the floor.
    RatioAtLeast(f64),
    /// Shown without a target.
    None,
}

/// The same work done by the simplest means, in the same run.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Floor {
    /// Description.
    pub(crate) name: String,
    /// In the figure's unit.
    pub(crate) value: f64,
}

/// One measured figure.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Figure {
    /// Its number in the table of targets.
    pub(crate) id: &'static str,
    /// Description.
    pub(crate) name: String,
    /// Of the values.
    pub(crate) unit: &'static str,
    /// One value a run.
    pub(crate) runs: Vec<f64>,
    pub(crate) floor: Option<Floor>,
    pub(crate) target: Target,
    /// The margin, as a share of the target, in continuous integration; `None` for figures that are meaningless on a
    /// busy machine, such as times.
    pub(crate) guard: Option<f64>,
}

impl Figure {
    pub(crate) fn new(id: &'static str, name: impl Into<String>, unit: &'static str, runs: Vec<f64>) -> Self {
        Self { id, name: name.into(), unit, runs, floor: None, target: Target::None, guard: None }
    }

    pub(crate) fn target(mut self, target: Target) -> Self {
        self.target = target;
        self
    }

    /// Guarded by continuous integration, with this margin.
    pub(crate) fn guarded(mut self, margin: f64) -> Self {
        self.guard = Some(margin);
        self
    }

    /// With the median of the floor's own runs.
    pub(crate) fn floor(mut self, name: &str, runs: &[f64]) -> Self {
        self.floor = Some(Floor { name: name.to_owned(), value: median(runs) });
        self
    }

    pub(crate) fn median(&self) -> f64 {
        median(&self.runs)
    }

    pub(crate) fn ratio(&self) -> Option<f64> {
        self.floor.as_ref().map(|floor| self.median() / floor.value)
    }

    /// Whether the target is met; `None` without one.
    pub(crate) fn met(&self) -> Option<bool> {
        self.met_within(0.0)
    }

    /// Whether the target is missed by no more than this share of it.
    pub(crate) fn met_within(&self, margin: f64) -> Option<bool> {
        let ratio = self.ratio().unwrap_or(f64::NAN);
        match self.target {
            Target::AtMost(bound) => Some(self.median() <= bound * (1.0 + margin)),
            Target::AtLeast(bound) => Some(self.median() >= bound / (1.0 + margin)),
            Target::RatioAtMost(bound) => Some(ratio <= bound * (1.0 + margin)),
            Target::RatioAtLeast(bound) => Some(ratio >= bound / (1.0 + margin)),
            Target::None => None,
        }
    }

    /// Whether it passes the guard; `None` if it is not guarded.
    pub(crate) fn passes_guard(&self) -> Option<bool> {
        self.guard.and_then(|margin| self.met_within(margin))
    }

    /// Its value, its range, its floor, its ratio, its target, and whether that is met.
    fn cells(&self) -> [String; 5] {
        let (low, high) = range(&self.runs);
        let measured = match self.runs.len() {
            1 => short(self.median()),
            _ => format!("{} ({}–{})", short(self.median()), short(low), short(high)),
        };
        let floor =
            self.floor.as_ref().map_or_else(String::new, |floor| format!("{} {}", short(floor.value), floor.name));
        let ratio = self.ratio().map_or_else(String::new, |ratio| format!("{ratio:.2}"));
        let target = match self.target {
            Target::AtMost(bound) => format!("≤ {}", short(bound)),
            Target::AtLeast(bound) => format!("≥ {}", short(bound)),
            Target::RatioAtMost(bound) => format!("≤ {} × floor", short(bound)),
            Target::RatioAtLeast(bound) => format!("≥ {} × floor", short(bound)),
            Target::None => String::new(),
        };
        let met = match self.met() {
            Some(true) => "pass",
            Some(false) => "FAIL",
            None => "",
        };
        [format!("{measured} {}", self.unit), floor, ratio, target, met.to_owned()]
    }

    /// The figure as a row of the table.
    fn row(&self) -> String {
        format!("| {} | {} | {} |", self.id, self.name, self.cells().join(" | "))
    }

    /// The figure as a single line, while the table is not ready.
    pub(crate) fn line(&self) -> String {
        let [measured, floor, ratio, target, met] = self.cells();
        let mut line = format!("  {} {}: {}", self.id, self.name, measured.trim_end());
        for (before, part) in [("; ", floor), (", ratio ", ratio), ("; target ", target), (": ", met)] {
            if !part.is_empty() {
                line.push_str(before);
                line.push_str(&part);
            }
        }
        line
    }
}

/// Everything of one run of the program.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// Processor, memory, system: name and value.
    pub(crate) machine: Vec<(String, String)>,
    /// The server's settings that matter.
    pub(crate) postgres: Vec<(String, String)>,
    /// How large the runs were.
    pub(crate) sizes: String,
    pub(crate) figures: Vec<Figure>,
    /// Figures that could not be measured, and why.
    pub(crate) left_out: Vec<(&'static str, String)>,
    /// Figures skipped because of missing prerequisites, with these.
    pub(crate) skipped: Vec<(&'static str, String)>,
    /// How long each group of figures took, in seconds.
    pub(crate) took: Vec<(String, f64)>,
}

impl Report {
    /// The report as Markdown.
    pub(crate) fn table(&self) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        for (name, value) in self.machine.iter().chain(&self.postgres) {
            let _ = writeln!(text, "{name}: {value}");
        }
        let _ = writeln!(text, "sizes: {}\n", self.sizes);
        text.push_str(
            "| # | figure | measured: median (range) | floor | ratio | target | |\n|---|---|---|---|---|---|---|\n",
        );
        for figure in &self.figures {
            let _ = writeln!(text, "{}", figure.row());
        }
        for (id, why) in &self.left_out {
            let _ = writeln!(text, "\n{id} was not measured: {why}");
        }
        for (id, why) in &self.skipped {
            let _ = writeln!(text, "\n{id} was skipped: {why}");
        }
        text
    }
}

/// The middle value; of an even number, the mean of the two in the middle.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

/// The quantile of this share.
pub(crate) fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(place.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

fn range(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &value| (low.min(value), high.max(value)))
}

/// Three significant digits, with thousands separators.
fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 1000.0 => {
            let digits = format!("{value:.0}");
            let places = digits.len();
            let apart = |(place, digit): (usize, char)| {
                let comma = (place > 0 && (places - place) % 3 == 0).then_some(',');
                comma.into_iter().chain([digit])
            };
            digits.chars().enumerate().flat_map(apart).collect()
        }
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_held_against_the_value_or_the_ratio() {
        let figure =
            |target| Figure::new("P0", "a figure", "ms", vec![3.0, 1.0, 2.0]).floor("plain", &[4.0]).target(target);
        assert_eq!(figure(Target::AtMost(2.0)).met(), Some(true));
        assert_eq!(figure(Target::AtLeast(2.1)).met(), Some(false));
        assert_eq!(figure(Target::RatioAtMost(0.5)).met(), Some(true));
        assert_eq!(figure(Target::RatioAtLeast(0.6)).met(), Some(false));
        assert_eq!(figure(Target::None).met(), None);
        assert_eq!(figure(Target::RatioAtLeast(0.6)).met_within(0.25), Some(true));
        assert_eq!(figure(Target::RatioAtLeast(0.6)).passes_guard(), None);
        assert_eq!(figure(Target::RatioAtLeast(0.6)).guarded(0.1).passes_guard(), Some(false));
        let line = figure(Target::AtMost(2.0)).line();
        assert_eq!(line, "  P0 a figure: 2.00 (1.00–3.00) ms; 4.00 plain, ratio 0.50; target ≤ 2.00: pass");
        let row = figure(Target::AtMost(2.0)).row();
        assert_eq!(row, "| P0 | a figure | 2.00 (1.00–3.00) ms | 4.00 plain | 0.50 | ≤ 2.00 | pass |");
    }

    #[test]
    fn statistics_are_those_of_the_textbook() {
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
        let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!((percentile(&hundred, 0.5), percentile(&hundred, 0.99)), (50.0, 99.0));
        assert_eq!(
            (short(1_234_567.0), short(0.0452), short(12.34)),
            ("1,234,567".into(), "0.045".into(), "12.3".into())
        );
    }
}
