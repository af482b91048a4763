//! Claim, judge all, claim again, until nothing is pending. The judgements of one batch and the claim of the next are one
//! turn.

use serde_json::{Value, json};

use super::batch::{self, Claimed};
use crate::call::{Call, Turn, append, todo_complete, turn};
use crate::request_view::opening::UNREADABLE;
use crate::request_view::{Done, RequestView, one_line};

/// Requirements of one claim.
const AT_ONCE: u32 = 20;

/// So many refused tries of one call, and it is given up.
const MOST_TRIES: usize = 2;

/// The call that claims requirements.
pub(super) fn claim() -> Call {
    Call { name: "next_requirement", args: json!({ "count": AT_ONCE }) }
}

/// Decides one turn of the todo.
pub(crate) fn validate(view: &RequestView<'_>) -> Turn {
    let work = view.work();
    let Some(at) = work.iter().rposition(|done| done.name == "next_requirement") else {
        return turn("Claiming the first requirements.", vec![claim()]);
    };
    let last = &work[at];
    if last.failed() {
        let refused = work.iter().rev().filter(|done| done.name == "next_requirement").take_while(|done| done.failed());
        return if refused.count() < MOST_TRIES { turn("Claiming once more.", vec![claim()]) } else { give_up(last) };
    }
    if last.result.starts_with(batch::JUDGED) {
        let outcome = one_line(last.result);
        return turn("Every requirement is judged.", vec![todo_complete(&outcome)]);
    }
    // What was cleared from the conversation is given again: it is still held.
    let claimed = if last.cleared() { Vec::new() } else { batch::read(last.result) };
    let mut calls: Vec<Call> = claimed
        .iter()
        .filter(|claimed| !work[at..].iter().any(|done| judges(done, &claimed.id) && !done.failed()))
        .map(|claimed| judge(claimed, &work_on(work, &claimed.id)))
        .collect();
    let say = format!("{} requirements are to be judged.", calls.len());
    calls.push(claim());
    turn(say, calls)
}

fn judges(done: &Done<'_>, id: &str) -> bool {
    matches!(done.name, "integrate_requirement" | "reject_requirement") && done.arg("id") == id
}

/// The refused tries to judge a requirement.
fn work_on<'s, 'a>(work: &'s [Done<'a>], id: &str) -> Vec<&'s Done<'a>> {
    work.iter().filter(|done| judges(done, id) && done.failed()).collect()
}

/// What the checks say; after refusals first without relations, then as failed.
fn judge(claimed: &Claimed, refused: &[&Done<'_>]) -> Call {
    if claimed.unread {
        return reject(&claimed.id, "Its description is too long for a rule-based model to read.", true);
    }
    if !claimed.checks.faults.is_empty() {
        return reject(&claimed.id, &sentence(&claimed.checks.faults.join("; ")), false);
    }
    match refused {
        [] => integrate(&claimed.id, relations(claimed)),
        [_] => integrate(&claimed.id, Vec::new()),
        [.., last] => reject(&claimed.id, &one_line(last.result), true),
    }
}

fn reject(id: &str, reason: &str, failed: bool) -> Call {
    let args =
        if failed { json!({"id": id, "reason": reason, "failed": true}) } else { json!({"id": id, "reason": reason}) };
    Call { name: "reject_requirement", args }
}

fn integrate(id: &str, relations: Vec<Value>) -> Call {
    Call { name: "integrate_requirement", args: json!({"id": id, "relations": relations}) }
}

/// To everything it mentions; what bears on book-keeping impacts it as well.
fn relations(claimed: &Claimed) -> Vec<Value> {
    let mut relations = Vec::new();
    for (suffix, mentioned) in [("OBJECT", &claimed.objects), ("MESSAGE", &claimed.messages)] {
        for target in batch::targets(mentioned) {
            relations.push(json!({"type": format!("RELATES_TO_{suffix}"), "target": target}));
            if claimed.gobd_relevant {
                relations.push(json!({"type": format!("IMPACTS_{suffix}"), "target": target}));
            }
        }
    }
    relations
}

/// Nothing can be claimed: that is noted where the hand-over finds it, and the todo is closed.
fn give_up(last: &Done<'_>) -> Turn {
    let reason = one_line(last.result);
    let note = format!("{UNREADABLE}the validated job: not all were judged, {reason}\n");
    turn("Nothing can be claimed.", vec![append("workspace.md", &note), todo_complete(&reason)])
}

/// A fault as a sentence.
fn sentence(fault: &str) -> String {
    let mut characters = fault.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", characters.as_str().trim_end_matches('.'))
}
