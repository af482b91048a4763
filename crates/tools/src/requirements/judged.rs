//! The summary of a call's judgements: `integrated 12: r1-r12 as R-0001-R-0012`. A replay, which lacks the rows, parses
//! it.

use crate::requirements::checks::word;
use crate::requirements::ids::number;
use plumbline_engine::Verdict;
use serde_json::Value;
use uuid::Uuid;

/// Separates the wrongly named requirements of a call from its judgements.
pub(crate) const OTHERS: &str = "The others are judged: ";

/// The requirements of a call by outcome.
#[derive(Debug, Default)]
pub(crate) struct Judged {
    groups: Vec<Group>,
    /// Warnings, with the requirements that have them.
    warnings: Vec<(String, Vec<String>)>,
}

#[derive(Debug)]
struct Group {
    verdict: Verdict,
    names: Vec<String>,
    nodes: Vec<String>,
    said: Vec<String>,
}

impl Judged {
    /// Adds one; `said` is the message if it failed.
    pub(crate) fn add(
        &mut self,
        verdict: Verdict,
        name: String,
        node: Option<&str>,
        said: &str,
        warnings: Vec<String>,
    ) {
        for warning in warnings {
            match self.warnings.iter_mut().find(|(known, _)| *known == warning) {
                Some((_, names)) => names.push(name.clone()),
                None => self.warnings.push((warning, vec![name.clone()])),
            }
        }
        let at = self.groups.iter().position(|group| group.verdict == verdict).unwrap_or(self.groups.len());
        if at == self.groups.len() {
            self.groups.push(Group { verdict, names: Vec::new(), nodes: Vec::new(), said: Vec::new() });
        }
        let group = &mut self.groups[at];
        if verdict == Verdict::Failed && !said.is_empty() {
            group.said.push(format!("{name}{said}"));
        }
        group.names.push(name);
        group.nodes.extend(node.map(str::to_owned));
    }

    /// The summary for the model.
    pub(crate) fn said(&self) -> String {
        if self.groups.is_empty() {
            return "nothing judged".to_string();
        }
        let of = |group: &Group| {
            let nodes = if group.nodes.is_empty() { String::new() } else { format!(" as {}", list(&group.nodes)) };
            let said: String = group.said.iter().map(|said| format!("; {said}")).collect();
            format!("{} {}: {}{nodes}{said}", word(group.verdict), group.names.len(), list(&group.names))
        };
        let mut lines: Vec<String> = self.groups.iter().map(of).collect();
        lines.extend(self.warnings.iter().map(|(warning, names)| format!("{warning} ({})", list(names))));
        lines.join("\n")
    }
}

/// Names in their order, consecutive ones as a range: `r1-r12, r14`.
pub(crate) fn list(names: &[String]) -> String {
    let mut runs: Vec<(&str, &str)> = Vec::new();
    for name in names {
        match runs.last_mut() {
            Some((_, last)) if follows(last, name) => *last = name,
            _ => runs.push((name, name)),
        }
    }
    let written = |(first, last): (&str, &str)| match first == last {
        true => first.to_owned(),
        false => format!("{first}-{last}"),
    };
    runs.into_iter().map(written).collect::<Vec<_>>().join(", ")
}

/// Whether a numbered name directly follows another; other names have no successor.
fn follows(name: &str, next: &str) -> bool {
    let parts = |name: &str| {
        let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
        let prefix = name.len() - digits.len();
        let is_numbered = matches!(&name[..prefix], "r" | "R-");
        is_numbered.then(|| digits.parse::<u64>().ok()).flatten().map(|number| (prefix, number))
    };
    parts(name).zip(parts(next)).is_some_and(|((one, number), (other, next))| one == other && number + 1 == next)
}

/// The judgements in a result, with the requirements' names: of one requirement or of many.
pub fn judged_in(content: &str) -> Vec<(Verdict, String)> {
    let said = match content.split_once(OTHERS) {
        Some((_, said)) => said,
        None if content.starts_with("Error:") => return Vec::new(),
        None => content,
    };
    let verdicts = [Verdict::Integrated, Verdict::Accepted, Verdict::Rejected, Verdict::Failed];
    let of_line = |line: &str| {
        let found = verdicts.into_iter().find_map(|verdict| Some((verdict, line.strip_prefix(word(verdict))?.trim())));
        let Some((verdict, rest)) = found else { return Vec::new() };
        let names = match rest.split_once(": ") {
            Some((count, names)) if count.bytes().all(|byte| byte.is_ascii_digit()) => unlisted(names),
            _ => rest.split([' ', ';', ':', ',']).next().map(str::to_owned).into_iter().collect(),
        };
        names.into_iter().map(|name| (verdict, name)).collect::<Vec<_>>()
    };
    said.lines().flat_map(of_line).collect()
}

/// The names of the requirements that a result of `next_requirement` presents.
pub fn given_in(content: &str) -> Vec<String> {
    let given: Value = serde_json::from_str(content).unwrap_or_default();
    let rows = given["requirements"].as_array().into_iter().flatten();
    rows.filter_map(|row| row["id"].as_str().map(str::to_owned)).collect()
}

/// A substitute id for the row with this name.
pub fn row_of_name(name: &str) -> Uuid {
    let number = number(name).and_then(|number| u128::try_from(number).ok());
    let hex = || u128::from_str_radix(name.trim_start_matches("req_"), 16).ok();
    name.parse().unwrap_or_else(|_| Uuid::from_u128(number.or_else(hex).unwrap_or_default()))
}

/// The individual names of a list.
fn unlisted(listed: &str) -> Vec<String> {
    let listed = listed.split([';', '\n']).next().unwrap_or_default();
    let listed = listed.split(" as ").next().unwrap_or_default();
    let names = |run: &str| match run.split_once("-r").map(|(first, last)| (number(first), last.parse::<i32>().ok())) {
        Some((Some(first), Some(last))) => (first..=last).map(|number| format!("r{number}")).collect(),
        _ => vec![run.to_owned()],
    };
    listed.split(", ").flat_map(names).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_each_other_is_a_range() {
        let names = |names: &[&str]| list(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>());
        assert_eq!(names(&["r1", "r2", "r3", "r5", "r4"]), "r1-r3, r5, r4");
        assert_eq!(names(&["R-0009", "R-0010"]), "R-0009-R-0010");
        assert_eq!(names(&["req_00000000000a", "req_00000000000b"]), "req_00000000000a, req_00000000000b");
    }

    #[test]
    fn what_was_judged_is_read_back() {
        let names = |content: &str| {
            judged_in(content)
                .into_iter()
                .map(|(verdict, name)| format!("{} {name}", word(verdict)))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            names("integrated 4: r1, r3-r5 as R-0001-R-0004\nrejected 1: r2\nC4: open (r1)"),
            ["integrated r1", "integrated r3", "integrated r4", "integrated r5", "rejected r2"]
        );
        assert_eq!(names("Error: r9 is not held by this job. The others are judged: accepted 1: r1"), ["accepted r1"]);
        assert!(names("Error: nothing was judged: r9 is not held by this job").is_empty());
        assert_eq!(names("integrated r7 as R-0001, 0 relations (C4: open)"), ["integrated r7"]);
        assert_eq!(names("rejected req_00000000000a: It binds nobody."), ["rejected req_00000000000a"]);
        assert_eq!(names("failed 1: r2; r2, it is not in the graph: a constraint"), ["failed r2"]);
    }

    #[test]
    fn a_warning_is_reported_once_with_all_affected_types() {
        let mut judged = Judged::default();
        for (name, node) in [("r1", "R-0001"), ("r2", "R-0002")] {
            judged.add(Verdict::Integrated, name.into(), Some(node), "", vec!["C4: open".into()]);
        }
        judged.add(Verdict::Rejected, "r3".into(), None, "", Vec::new());
        assert_eq!(judged.said(), "integrated 2: r1-r2 as R-0001-R-0002\nrejected 1: r3\nC4: open (r1-r2)");
    }
}
