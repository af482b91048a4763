//! One passage: its duties and decisions in one call; candidates still open, in a second one.

use crate::call::{Call, add_note, record_passage};
use crate::plan::manifest::chunk_file;
use crate::request_view::{Done, RequestView};
use crate::requirement;
use crate::text::{Kind, Shown, findings_after};
use plumbline_bounds::pattern;
use regex::Regex;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The reason why a sentence is not a requirement.
pub(crate) const RULE: &str = "the rehearsal model is rule-based: it finds no word here that obliges";

/// The same if its record was refused.
const REFUSED: &str =
    "the rehearsal model is rule-based: the system did not take its record of this, and it has no other";

/// Maximum calls for one passage.
const MOST_TRIES: usize = 3;

/// Maximum items of one call.
const ITEMS: usize = 100;

/// A candidate that a result names as open.
static OPEN: LazyLock<Regex> = LazyLock::new(|| pattern::own(r#"\[(\d{1,6})\] ""#));

/// The remaining calls for passage `number` with the text `shown`; none if it is decided.
pub(super) fn calls(view: &RequestView<'_>, number: u32, shown: &str) -> Vec<Call> {
    let shown = Shown::read(shown);
    let is_numbered = shown.sentences.iter().any(|sentence| sentence.number.is_some());
    if !view.bound("record_passage") || !is_numbered {
        return one_by_one(view, number, &shown, &before(view, number, &shown));
    }
    // A call that the system could not read recorded nothing: its duties are recorded by another one.
    let of_passage =
        |done: &&Done<'_>| done.name == "record_passage" && done.args["passage"] == number && !done.was_ill_formed();
    let tries: Vec<&Done<'_>> = view.history.iter().filter(of_passage).collect();
    match tries.as_slice() {
        [] => first(number, &shown, &before(view, number, &shown)),
        [.., last] if is_decided(last) || tries.len() >= MOST_TRIES => Vec::new(),
        [.., last] => vec![again(number, last)],
    }
}

/// The passages before this one in which the list began that it continues, as far as the conversation contains them.
fn before(view: &RequestView<'_>, number: u32, shown: &Shown) -> Vec<Shown> {
    beginnings(view, number, shown).0
}

/// The passage before this one that the conversation lacks although the list that this one continues may have begun
/// there: without its lead an entry does not oblige.
pub(super) fn missing(view: &RequestView<'_>, number: u32, shown: &str) -> Option<u32> {
    beginnings(view, number, &Shown::read(shown)).1
}

fn beginnings(view: &RequestView<'_>, number: u32, shown: &Shown) -> (Vec<Shown>, Option<u32>) {
    let (mut before, mut missing): (Vec<Shown>, _) = (Vec::new(), None);
    let mut at = number;
    while at > 1 && before.last().unwrap_or(shown).begins_with_an_entry() {
        at -= 1;
        let Some(earlier) = view.read(&chunk_file(at)) else {
            missing = Some(at);
            break;
        };
        let earlier = Shown::read(earlier);
        if earlier.source != shown.source {
            break;
        }
        before.push(earlier);
    }
    before.reverse();
    (before, missing)
}

/// The first call, or several if a passage has more duties than fit in one.
fn first(number: u32, shown: &Shown, before: &[Shown]) -> Vec<Call> {
    let found = findings_after(before, shown);
    let recorded: BTreeSet<u32> = found.iter().filter_map(|finding| finding.sentence.number).collect();
    let texts = shown.sentences.iter().filter(|sentence| sentence.kind != Kind::Heading);
    let left: Vec<u32> =
        texts.filter_map(|sentence| sentence.number).filter(|number| !recorded.contains(number)).collect();
    let items: Vec<Value> = found.iter().filter_map(requirement::item).collect();
    let mut parts: Vec<&[Value]> = items.chunks(ITEMS).collect();
    let last = parts.pop().unwrap_or_default();
    let whole =
        parts.into_iter().map(|part| Call { name: "record_passage", args: json!({"passage": number, "items": part}) });
    whole.chain([record_passage(number, last, &by_number(&left, RULE))]).collect()
}

/// Decides the candidates that a result names as open, and closes a passage without candidates.
fn again(number: u32, last: &Done<'_>) -> Call {
    let open: BTreeSet<u32> = OPEN.captures_iter(last.result).filter_map(|found| found[1].parse().ok()).collect();
    let why = if last.failed() { REFUSED } else { RULE };
    let mut rest = by_number(&open.into_iter().collect::<Vec<_>>(), why);
    rest.push(json!({ "why": why }));
    record_passage(number, &[], &rest)
}

fn by_number(numbers: &[u32], why: &str) -> Vec<Value> {
    (!numbers.is_empty()).then(|| json!({"s": ranges(numbers), "why": why})).into_iter().collect()
}

/// `1-3, 7` of numbers that rise.
fn ranges(numbers: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => ranges.push((*number, *number)),
        }
    }
    let range = |(first, last): &(u32, u32)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    ranges.iter().map(range).collect::<Vec<_>>().join(", ")
}

/// Whether the passage needs no further call after this one.
fn is_decided(done: &Done<'_>) -> bool {
    let said = ["is decided", "is closed over", "was answered already", "there is no passage", "has no text"];
    // A cleared result is assumed to be a success; otherwise closing the todo is refused.
    done.cleared() || done.result.is_empty() || said.iter().any(|words| done.result.contains(words)) && !done.failed()
}

/// One requirement per call, if a passage cannot be recorded as a whole.
fn one_by_one(view: &RequestView<'_>, number: u32, shown: &Shown, before: &[Shown]) -> Vec<Call> {
    let found = findings_after(before, shown);
    let was_made = |call: &Call| view.history.iter().any(|done| done.is(call));
    let records = found.iter().map(|finding| requirement::add(finding, number, &shown.source));
    let records: Vec<Call> = records.filter(|call| view.bound(call.name) && !was_made(call)).collect();
    let close = crate::call::close_passages([number].into_iter(), RULE);
    let closings = view.history.iter().filter(|done| done.is(&close)).count();
    let close = (view.bound(close.name) && closings < MOST_TRIES - 1 && !is_closed(view, &close)).then_some(close);
    records.into_iter().chain(close).collect()
}

fn is_closed(view: &RequestView<'_>, close: &Call) -> bool {
    view.history.iter().any(|done| done.is(close) && !done.failed())
}

/// The note about an unreadable passage.
pub(super) fn unread(number: u32) -> Call {
    add_note(&format!("{} could not be read", chunk_file(number)))
}

#[cfg(test)]
mod tests {
    use super::{RULE, first, ranges};
    use crate::text::Shown;
    use serde_json::json;

    #[test]
    fn a_passage_is_recorded_and_decided_in_one_call() {
        let shown = Shown::read(
            "## [1] Keys\n\n[2] The house is red. [3] Every key must be numbered.\n\n[4] It is so. [5] It was so.",
        );
        let calls = first(7, &shown, &[]);
        let rest = json!([{"s": "2, 4-5", "why": RULE}]);
        assert_eq!(
            calls.iter().map(|call| &call.args).collect::<Vec<_>>(),
            [&json!({"passage": 7, "items": [{"s": "3"}], "rest": rest})]
        );
    }

    #[test]
    fn a_passage_of_many_duties_is_several_calls_of_which_the_last_decides() {
        let shown: String = (1..=230).map(|n| format!("[{n}] Box {n} must be shut. ")).collect();
        let calls = first(7, &Shown::read(&shown), &[]);
        let counts: Vec<usize> = calls.iter().map(|call| call.args["items"].as_array().map_or(0, Vec::len)).collect();
        assert_eq!(counts, [100, 100, 30]);
        let deciding: Vec<bool> = calls.iter().map(|call| call.args.get("rest").is_some()).collect();
        assert_eq!(deciding, [false, false, true]);
    }

    #[test]
    fn entries_at_the_beginning_belong_to_the_list_of_the_passage_before() {
        let before = [Shown::read("[1] The master must carry:\n\n(z) [2] a log;")];
        let shown = Shown::read("(aa) [1] two ropes;\n\n(bb) [2] a chart.\n\n[3] It is so.\n\n- [4] a house");
        let rest = json!([{"s": "3-4", "why": RULE}]);
        let calls = first(8, &shown, &before);
        assert_eq!(calls[0].args, json!({"passage": 8, "items": [{"s": "1"}, {"s": "2"}], "rest": rest}));
        assert!(first(8, &shown, &[])[0].args.get("items").is_none(), "without it they are no duties");
    }

    #[test]
    fn numbers_in_a_row_are_a_range() {
        assert_eq!(ranges(&[1, 2, 3, 7, 9, 10]), "1-3, 7, 9-10");
    }
}
