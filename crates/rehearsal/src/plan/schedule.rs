//! The phases of a job by the length of its documents, as in the creator's instructions.

use crate::plan::manifest::Entry;
use crate::plan::task::Task;
use crate::plan::{Phase, Plan};
use crate::request_view::opening::Document;
use crate::strategic::REPORT;
use std::collections::HashSet;

/// Prefix of the names of the first phases of a job with documents; when the last of them ends, the extraction phases
/// are planned.
pub(crate) const PREPARATION: &str = "Document preparation";

/// Prefix of the names of extraction phases.
pub(crate) const EXTRACTION: &str = "Requirement extraction";

/// Why a document that came late was not processed.
pub(crate) const LATE: &str = "it came after the work was planned";

/// Maximum passages of documents for a single phase from text to report: about fifteen pages.
const SHORT: usize = 12;

/// Maximum passages of a phase, and of a todo.
const PASSAGES_OF_PHASE: usize = 24;
const PASSAGES_OF_TODO: usize = 4;

/// Maximum todos of one phase that process chunks.
const CHUNK_TODOS: usize = 12;

/// The engine's minimum number of todos.
const MIN_TODOS: usize = 5;

/// The engine's maximum number of todos.
const MAX_TODOS: usize = 20;

/// Maximum documents of one preparation phase; each has a todo for extraction and one for chunking.
const PREPARED_AT_ONCE: usize = 8;

/// Approximate number of chunks of 1200 tokens per page and per byte of text.
const CHUNKS_PER_PAGE: f64 = 0.67;
const BYTES_PER_CHUNK: u64 = 4_800;

/// The documents without a phase in the plan: they arrived after planning.
pub(crate) fn late(plan: &Plan, documents: &[Document]) -> Vec<String> {
    let steps = plan.phases.iter().flat_map(|phase| &phase.steps);
    let planned: HashSet<String> = steps
        .filter_map(|step| match Task::read(&step.text) {
            Task::Extract(document) | Task::Process { source: document, .. } => Some(document),
            _ => None,
        })
        .collect();
    documents.iter().map(|document| &document.path).filter(|path| !planned.contains(*path)).cloned().collect()
}

/// The first plan. Documents in `prepared` are processed at once. Other documents are prepared first, and the number of
/// extraction phases is an estimate until then.
pub(crate) fn first(documents: &[Document], prepared: &[Entry], owed: &[String]) -> Vec<Phase> {
    if documents.is_empty() {
        return vec![answer()];
    }
    let known: HashSet<&str> = prepared.iter().map(|entry| entry.source.as_str()).collect();
    let missing: Vec<&Document> = documents.iter().filter(|document| !known.contains(document.path.as_str())).collect();
    if missing.is_empty() {
        return extraction(prepared, owed);
    }
    let estimate: usize = documents.iter().map(estimate).sum();
    let parts = estimate.div_ceil(PASSAGES_OF_PHASE).max(1);
    let extraction = (1..=parts).map(|part| {
        let step = format!("Process the chunks of part {part}; they are listed here once the documents are chunked");
        Phase::new(format!("{EXTRACTION}, part {part} of about {parts}"), [step])
    });
    preparation(&missing).into_iter().chain(extraction).chain([consolidation(owed)]).collect()
}

fn estimate(document: &Document) -> usize {
    match document.pages {
        Some(pages) => (f64::from(pages) * CHUNKS_PER_PAGE).ceil() as usize,
        None => usize::try_from(document.bytes.div_ceil(BYTES_PER_CHUNK)).unwrap_or(usize::MAX),
    }
}

/// Replaces the phases after the preparation by those for the manifest; without chunks there is nothing to do.
pub(crate) fn lay_out(plan: &mut Plan, entries: &[Entry], owed: &[String]) {
    plan.phases.retain(|phase| phase.name.starts_with(PREPARATION));
    plan.phases.extend(extraction(entries, owed));
}

fn preparation(documents: &[&Document]) -> Vec<Phase> {
    let parts = documents.len().div_ceil(PREPARED_AT_ONCE);
    let shares = (1..).zip(documents.chunks(PREPARED_AT_ONCE));
    shares
        .map(|(part, share)| {
            let name =
                if parts == 1 { PREPARATION.to_owned() } else { format!("{PREPARATION}, part {part} of {parts}") };
            let extract = share.iter().map(|document| Task::Extract(document.path.clone()));
            let chunk = share.iter().map(|document| Task::Chunk(document.path.clone()));
            let rest = [Task::CheckManifest, Task::Structure, Task::NotePrepared];
            phase(name, extract.chain(chunk).chain(rest))
        })
        .collect()
}

fn phase(name: String, tasks: impl IntoIterator<Item = Task>) -> Phase {
    Phase::new(name, tasks.into_iter().map(|task| task.text()))
}

/// The phases that process all passages: one from text to report for short documents, else one per part and the
/// consolidation; none without passages.
fn extraction(entries: &[Entry], owed: &[String]) -> Vec<Phase> {
    if entries.len() <= SHORT {
        let groups = groups(entries, entries.len().div_ceil(MIN_TODOS - 2).clamp(1, PASSAGES_OF_TODO));
        return if groups.is_empty() { Vec::new() } else { vec![short(groups, owed)] };
    }
    // Distributed evenly, so that the last phase is not much smaller.
    let parts = entries.len().div_ceil(PASSAGES_OF_PHASE);
    let size = entries.len().div_ceil(parts).div_ceil(MIN_TODOS).clamp(1, PASSAGES_OF_TODO);
    let groups = groups(entries, size);
    let parts = parts.max(groups.len().div_ceil(CHUNK_TODOS));
    let total = groups.len();
    let mut groups = groups.into_iter();
    let part = |at: usize| {
        let count = total / parts + usize::from(at < total % parts);
        let terms = (at == 0).then_some(Task::Terms);
        let tasks: Vec<Task> = terms.into_iter().chain(groups.by_ref().take(count)).collect();
        phase(format!("{EXTRACTION}, part {} of {parts}", at + 1), filled(tasks, &[Task::LookAtRecords]))
    };
    (0..parts).map(part).chain([consolidation(owed)]).collect()
}

/// The one phase of short documents.
fn short(groups: Vec<Task>, owed: &[String]) -> Phase {
    let few = groups.len() + owed.len() + 2 < MIN_TODOS;
    let look = few.then_some(Task::LookAtRecords);
    let last = look.into_iter().chain(owed.iter().cloned().map(Task::WriteOwed)).chain([Task::WriteReport]);
    let tasks: Vec<Task> = [Task::Terms].into_iter().chain(groups).chain(last).take(MAX_TODOS).collect();
    phase(EXTRACTION.to_owned(), filled(tasks, &[Task::ReadBack(REPORT.to_owned())]))
}

/// As many todos as the engine takes at the least.
fn filled(mut tasks: Vec<Task>, with: &[Task]) -> Vec<Task> {
    let usual = [Task::LookAtRecords, Task::NoteDelivered, Task::Reorient];
    for task in with.iter().chain(&usual) {
        if tasks.len() < MIN_TODOS && !tasks.contains(task) {
            tasks.push(task.clone());
        }
    }
    tasks
}

/// Runs of up to `size` chunks with consecutive numbers from the same document, one todo each.
fn groups(entries: &[Entry], size: usize) -> Vec<Task> {
    let size = u32::try_from(size).unwrap_or(u32::MAX);
    let mut groups: Vec<Task> = Vec::new();
    for entry in entries {
        match groups.last_mut() {
            Some(Task::Process { first, last, source })
                if *source == entry.source && *last + 1 == entry.number && entry.number - *first < size =>
            {
                *last = entry.number;
            }
            _ => groups.push(Task::Process { first: entry.number, last: entry.number, source: entry.source.clone() }),
        }
    }
    groups
}

fn consolidation(owed: &[String]) -> Phase {
    let owed = owed.iter().cloned().map(Task::WriteOwed).take(MAX_TODOS - MIN_TODOS);
    let last = [Task::WriteReport, Task::ReadBack(REPORT.to_owned())];
    let tasks = [Task::LookAtRecords].into_iter().chain(owed).chain(last).collect();
    phase("Consolidation".to_owned(), filled(tasks, &[]))
}

fn answer() -> Phase {
    let read_back = Task::ReadBack("output/answer.md".to_owned());
    phase(
        "Answer".to_owned(),
        [Task::Reorient, Task::NoteStatements, Task::WriteAnswer, read_back, Task::NoteDelivered],
    )
}

/// The phase that answers feedback; `number` counts from 1.
pub(crate) fn feedback(number: u32) -> Phase {
    let read_back = Task::ReadBack(format!("output/feedback_{number}.md"));
    phase(
        format!("Feedback {number}"),
        [Task::ReadFeedback, Task::CheckFeedback, Task::WriteFeedback(number), read_back, Task::NoteDelivered],
    )
}

#[cfg(test)]
mod tests {
    use super::{PREPARATION, first, late, lay_out};
    use crate::plan::manifest::Entry;
    use crate::plan::task::Task;
    use crate::plan::{Phase, Plan};
    use crate::request_view::opening::Document;

    fn entries(counts: &[u32]) -> Vec<Entry> {
        let sources =
            counts.iter().enumerate().flat_map(|(index, count)| vec![format!("input/{index}.pdf"); *count as usize]);
        (1..).zip(sources).map(|(number, source)| Entry { number, source, pages: None, headings: Vec::new() }).collect()
    }

    fn laid_out(entries: &[Entry]) -> Vec<Phase> {
        let mut plan = Plan { head: String::new(), phases: vec![Phase::new(PREPARATION, []), Phase::new("old", [])] };
        lay_out(&mut plan, entries, &[]);
        plan.phases.remove(0);
        plan.phases
    }

    fn processed(phases: &[Phase]) -> Vec<u32> {
        let tasks = phases.iter().flat_map(|phase| &phase.steps).map(|step| Task::read(&step.text));
        tasks
            .filter_map(|task| match task {
                Task::Process { first, last, .. } => Some(first..=last),
                _ => None,
            })
            .flatten()
            .collect()
    }

    #[test]
    fn every_chunk_is_processed_once_in_phases_the_engine_takes() {
        for counts in [&[1][..], &[2], &[4], &[5], &[9], &[13], &[36], &[37], &[130], &[700], &[3, 1, 40], &[1; 30]] {
            let entries = entries(counts);
            let phases = laid_out(&entries);
            let numbers: Vec<u32> = entries.iter().map(|entry| entry.number).collect();
            assert_eq!(processed(&phases), numbers, "{counts:?}");
            for phase in &phases {
                assert!((5..=20).contains(&phase.steps.len()), "{counts:?}: {phase:?}");
            }
        }
    }

    #[test]
    fn the_length_of_the_documents_gives_the_number_of_phases() {
        assert_eq!(laid_out(&entries(&[10])).len(), 1);
        assert_eq!(laid_out(&entries(&[130])).len(), 7);
        let document = |pages| Document { path: "input/p.pdf".to_owned(), pages: Some(pages), bytes: 1 };
        assert_eq!(first(&[document(12)], &[], &[]).len(), 3);
        assert_eq!(first(&[document(193)], &[], &[]).len(), 8);
        assert_eq!(first(&[], &[], &[]).len(), 1);
    }

    #[test]
    fn what_the_system_prepared_is_not_prepared_again() {
        let document = |n| Document { path: format!("input/{n}.pdf"), pages: Some(9), bytes: 1 };
        let phases = first(&[document(0), document(1)], &entries(&[4, 3]), &[]);
        assert_eq!(processed(&phases), [1, 2, 3, 4, 5, 6, 7]);
        assert!(phases.iter().all(|phase| !phase.name.starts_with(PREPARATION)), "{phases:?}");
        let plan = Plan { head: String::new(), phases };
        assert_eq!(late(&plan, &[document(0), document(1), document(2)]), ["input/2.pdf"]);

        let phases = first(&[document(0), document(1)], &entries(&[4]), &[]);
        let steps = phases.iter().flat_map(|phase| &phase.steps).map(|step| Task::read(&step.text));
        let extracted: Vec<Task> = steps.filter(|task| matches!(task, Task::Extract(_))).collect();
        assert_eq!(extracted, [Task::Extract("input/1.pdf".to_owned())]);
    }

    #[test]
    fn every_one_of_many_documents_is_extracted_and_chunked_once() {
        let documents: Vec<Document> =
            (0..50).map(|n| Document { path: format!("input/{n}.pdf"), pages: None, bytes: 9 }).collect();
        let phases = first(&documents, &[], &[]);
        let preparation = phases.iter().filter(|phase| phase.name.starts_with(PREPARATION));
        let tasks: Vec<Task> = preparation.flat_map(|phase| &phase.steps).map(|step| Task::read(&step.text)).collect();
        for document in documents {
            for task in [Task::Extract(document.path.clone()), Task::Chunk(document.path.clone())] {
                assert_eq!(tasks.iter().filter(|known| **known == task).count(), 1, "{task:?}");
            }
        }
        assert!(
            phases
                .iter()
                .filter(|phase| phase.name.starts_with(PREPARATION))
                .all(|p| (5..=20).contains(&p.steps.len()))
        );
    }

    #[test]
    fn without_chunks_nothing_is_left() {
        assert_eq!(laid_out(&[]), Vec::new());
    }
}
