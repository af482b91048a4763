//! Claim, judge all, claim again, until nothing is pending. The judgements of one batch and the claim of the next are one turn, and
//! so are the report and the end of the job.

use serde_json::{Value, json};

use super::batch::{self, Claimed};
use super::{REPORT, report, summary};
use crate::call::{
    Call, Turn, append, get_graph_schema, job_complete, read_lines, todo_complete, turn, write_file, write_plan,
};
use crate::plan::task::Task;
use crate::plan::{Phase, Plan};
use crate::request_view::opening::UNREADABLE;
use crate::request_view::{Done, RequestView, one_line};

/// Requirements of one claim: as many as are given at once.
const AT_ONCE: u32 = 40;

/// Maximum refused attempts of one call.
const MOST_TRIES: usize = 2;

/// Prefix of the result of a call held from the end of the previous phase; its name follows.
const HELD: &str = "Result of a call of your last answer, which stood behind the end of the phase, ";

/// The call that claims requirements.
pub(super) fn claim() -> Call {
    Call { name: "next_requirement", args: json!({ "count": AT_ONCE }) }
}

/// The same for claimed rows that are not judged.
fn claim_again() -> Call {
    Call { name: "next_requirement", args: json!({"count": AT_ONCE, "again": true}) }
}

/// Reads the graph; an unreachable one is noticed again when requirements are claimed. If the first claim is already
/// present, it is judged in the same turn.
pub(crate) fn look_at_graph(view: &RequestView<'_>) -> Turn {
    let call = get_graph_schema();
    let looked = held(view, call.name).or_else(|| view.result_of(&call).map(|done| done.result));
    let Some(result) = looked else {
        return turn("Looking at the graph and claiming the first requirements.", vec![call, claim()]);
    };
    let closing = todo_complete(&one_line(result.lines().next().unwrap_or_default()));
    let mut next = validate(view);
    // The end closes all open todos, including this one.
    if next.calls.first().is_none_or(|call| call.name != "todo_complete") {
        next.calls.insert(0, closing);
    }
    next
}

/// Decides one turn of the validation.
pub(crate) fn validate(view: &RequestView<'_>) -> Turn {
    let claims: Vec<&Done<'_>> = view.history.iter().filter(|done| done.name == "next_requirement").collect();
    let Some(last) = claims.last() else {
        return match held(view, "next_requirement") {
            Some(result) if !result.starts_with("Error:") => of_claim(view, result),
            _ => turn("Claiming the first requirements.", vec![claim()]),
        };
    };
    if last.failed() {
        let refused = claims.iter().rev().take_while(|done| done.failed());
        return if refused.count() < MOST_TRIES { turn("Claiming once more.", vec![claim()]) } else { give_up(last) };
    }
    match last.cleared() {
        // Rows that are not judged are still claimed.
        true => turn("Claiming once more what was cleared.", vec![claim_again()]),
        false => of_claim(view, last.result),
    }
}

/// The calls after a claim.
fn of_claim(view: &RequestView<'_>, result: &str) -> Turn {
    if result.starts_with(batch::JUDGED) {
        return finish(view, result);
    }
    if result.starts_with(batch::ALL_GIVEN) {
        return turn("Some were not judged: asking for them once more.", vec![claim_again()]);
    }
    let claimed = batch::read(result);
    let say = format!("{} requirements are to be judged.", claimed.len());
    turn(say, judge(view, &claimed).into_iter().chain([claim()]).collect())
}

/// The result of a call held from the previous phase.
fn held<'a>(view: &RequestView<'a>, tool: &str) -> Option<&'a str> {
    let mut results =
        view.messages.iter().filter_map(|message| message.content.strip_prefix(HELD)?.split_once(":\n\n"));
    results.rfind(|(name, _)| *name == tool).map(|(_, result)| result)
}

/// The result of the checks; after a refusal, the requirement is judged without relations, then as failed.
fn judge(view: &RequestView<'_>, claimed: &[Claimed]) -> Option<Call> {
    let (mut reject, mut failed, mut relations): (Vec<Value>, Vec<Value>, Vec<Value>) = Default::default();
    for claimed in claimed {
        let refused = refusals(view, &claimed.id);
        if !claimed.faults.is_empty() {
            reject.push(json!({"id": claimed.id, "reason": sentence(&claimed.faults.join("; "))}));
        } else if let [_, .., last] = refused.as_slice() {
            failed.push(json!({"id": claimed.id, "reason": one_line(last)}));
        } else if refused.is_empty() {
            relations.extend(related(claimed));
        }
    }
    let mut args = json!({});
    if claimed.len() > reject.len() + failed.len() {
        args["accept"] = "rest".into();
    }
    for (key, list) in [("reject", reject), ("failed", failed), ("relations", relations)] {
        if !list.is_empty() {
            args[key] = list.into();
        }
    }
    (!claimed.is_empty()).then_some(Call { name: "judge_requirements", args })
}

/// Errors of calls that could not judge a requirement.
fn refusals<'a>(view: &RequestView<'a>, id: &str) -> Vec<&'a str> {
    let judged = view.history.iter().filter(|done| done.name == "judge_requirements" && done.failed());
    let told = judged.map(|done| done.result.split(". The others are judged: ").next().unwrap_or_default());
    told.filter(|told| told.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == id)).collect()
}

/// To everything it mentions; requirements relevant to book-keeping also get an impact relation.
fn related(claimed: &Claimed) -> impl Iterator<Item = Value> {
    let of = |(suffix, target): (&str, String)| {
        let relation = |kind: &str| json!({"id": claimed.id, "type": format!("{kind}_{suffix}"), "target": target});
        let impact = claimed.gobd.then(|| relation("IMPACTS"));
        [relation("RELATES_TO")].into_iter().chain(impact).collect::<Vec<_>>()
    };
    claimed.targets().into_iter().flat_map(of).collect::<Vec<_>>().into_iter()
}

/// Every requirement is judged: closes the remaining todos, and after the last of them, for the next phase, ticks the
/// plan and completes the job.
fn finish(view: &RequestView<'_>, result: &str) -> Turn {
    let outcome = one_line(result);
    let todos = view.todo_list.iter().flat_map(|list| &list.todos).filter(|todo| !todo.done);
    let mut calls = Vec::new();
    for todo in todos {
        match Task::read(&todo.text) {
            Task::GraphSchema => calls.push(todo_complete("the graph was looked at")),
            Task::Validate => calls.push(todo_complete(&outcome)),
            Task::WriteValidationReport => {
                calls.extend([write_file(REPORT, &report(result)), todo_complete(&format!("{REPORT} is written"))]);
            }
            Task::ReadBack(path) => calls.extend([read_lines(&path, 1, 40), todo_complete("it was read back")]),
            Task::NoteDelivered => {
                let note = "The deliverables are in output/.";
                calls.extend([append("workspace.md", &format!("- {note}\n")), todo_complete(note)]);
            }
            // A foreign todo list: one todo at a time.
            _ => return turn("Every requirement is judged.", vec![todo_complete(&outcome)]),
        }
    }
    if let Ok(mut plan) = Plan::current(view) {
        plan.phases.iter_mut().for_each(Phase::finish);
        calls.push(write_plan(&plan.render()));
    }
    let (summary, deliverables) = summary(result);
    calls.push(job_complete(&summary, &deliverables, &[], 0.6));
    turn("Every requirement is judged.", calls)
}

/// Nothing can be claimed: this is noted for completion, and the todo is closed.
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
