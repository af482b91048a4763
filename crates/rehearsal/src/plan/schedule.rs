//! Which phases a job needs, by the length of its documents.

use crate::plan::manifest::Entry;
use crate::plan::task::Task;
use crate::plan::{Phase, Plan};
use crate::request_view::opening::Document;
use crate::requirement::table_file;
use std::collections::HashSet;

/// What the names of the first phases of a job with documents begin with; when the last of them ends, the extraction
/// phases are laid out.
pub(crate) const PREPARATION: &str = "Document preparation";

/// What the names of extraction phases begin with.
pub(crate) const EXTRACTION: &str = "Requirement extraction, part ";

/// Why a document that came late was not processed.
pub(crate) const LATE: &str = "it came after the work was planned";

/// The most todos of one phase that process chunks.
const CHUNK_TODOS: usize = 12;

/// The fewest todos that the engine takes.
const MIN_TODOS: usize = 5;

/// The most documents of one preparation phase; each has a todo to be extracted and one to be chunked.
const PREPARED_AT_ONCE: usize = 8;

/// What one page and one byte of text come to in chunks of 1200 tokens, roughly.
const CHUNKS_PER_PAGE: f64 = 0.67;
const BYTES_PER_CHUNK: u64 = 4_800;

/// The documents of which no phase of the plan takes care: they came when the plan was made already.
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

/// The first plan. What the system has prepared, `prepared`, is gone through at once. Where a document is not among it,
/// it is prepared first, and the number of extraction phases is an estimate until then.
pub(crate) fn first(documents: &[Document], prepared: &[Entry]) -> Vec<Phase> {
    if documents.is_empty() {
        return vec![answer()];
    }
    let known: HashSet<&str> = prepared.iter().map(|entry| entry.source.as_str()).collect();
    let missing: Vec<&Document> = documents.iter().filter(|document| !known.contains(document.path.as_str())).collect();
    if missing.is_empty() {
        return extraction(prepared).into_iter().chain([consolidation()]).collect();
    }
    let estimate: usize = documents.iter().map(estimate).sum();
    let parts = estimate.div_ceil(3 * CHUNK_TODOS).max(1);
    let extraction = (1..=parts).map(|part| {
        let step = format!("Process the chunks of part {part}; they are listed here once the documents are chunked");
        Phase::new(format!("{EXTRACTION}{part} of about {parts}"), [step])
    });
    preparation(&missing).into_iter().chain(extraction).chain([consolidation()]).collect()
}

fn estimate(document: &Document) -> usize {
    match document.pages {
        Some(pages) => (f64::from(pages) * CHUNKS_PER_PAGE).ceil() as usize,
        None => usize::try_from(document.bytes.div_ceil(BYTES_PER_CHUNK)).unwrap_or(usize::MAX),
    }
}

/// Replaces what follows the preparation by the phases that the manifest asks for; without any chunk there is nothing
/// left to do.
pub(crate) fn lay_out(plan: &mut Plan, entries: &[Entry]) {
    plan.phases.retain(|phase| phase.name.starts_with(PREPARATION));
    if !entries.is_empty() {
        plan.phases.extend(extraction(entries));
        plan.phases.push(consolidation());
    }
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

/// Two to four chunks a todo in a document of some length, one in a short one; up to twelve such todos a phase.
fn extraction(entries: &[Entry]) -> Vec<Phase> {
    let size = match entries.len() {
        0..=5 => 1,
        6..=12 => 2,
        13..=600 => 3,
        _ => 4,
    };
    let groups = groups(entries, size);
    let parts = groups.len().div_ceil(CHUNK_TODOS);
    let mut groups = groups.into_iter();
    let total = groups.len();
    (0..parts)
        .map(|index| {
            // Shared out evenly: the first parts take one more where it does not come out even.
            let count = total / parts + usize::from(index < total % parts);
            let part = u32::try_from(index + 1).unwrap_or(u32::MAX);
            let process =
                groups.by_ref().take(count).map(|(first, last, source)| Task::Process { first, last, source, part });
            extraction_phase(process.collect(), part, parts)
        })
        .collect()
}

fn extraction_phase(mut tasks: Vec<Task>, part: u32, parts: usize) -> Phase {
    tasks.push(Task::Review(part));
    if parts > 1 {
        tasks.push(Task::WritePart(part));
    }
    let missing = MIN_TODOS.saturating_sub(tasks.len() + 1);
    tasks.extend([Task::CheckPlaces(part), Task::ListPart(part)].into_iter().take(missing));
    tasks.push(Task::NotePart(part));
    phase(format!("{EXTRACTION}{part} of {parts}"), tasks)
}

/// Runs of up to `size` chunks with consecutive numbers from the same document: first, last, document.
fn groups(entries: &[Entry], size: u32) -> Vec<(u32, u32, String)> {
    let mut groups: Vec<(u32, u32, String)> = Vec::new();
    for entry in entries {
        match groups.last_mut() {
            Some((first, last, source))
                if *source == entry.source && *last + 1 == entry.number && entry.number - *first < size =>
            {
                *last = entry.number;
            }
            _ => groups.push((entry.number, entry.number, entry.source.clone())),
        }
    }
    groups
}

fn consolidation() -> Phase {
    let read_back = Task::ReadBack(table_file::PATH.to_owned());
    phase(
        "Consolidation".to_owned(),
        [Task::CheckParts, Task::WriteRequirements, read_back, Task::Coverage, Task::NoteDelivered],
    )
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
        lay_out(&mut plan, entries);
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
        assert_eq!(laid_out(&entries(&[10])).len(), 2);
        assert_eq!(laid_out(&entries(&[130])).len(), 5);
        let document = |pages| Document { path: "input/p.pdf".to_owned(), pages: Some(pages), bytes: 1 };
        assert_eq!(first(&[document(12)], &[]).len(), 3);
        assert_eq!(first(&[document(193)], &[]).len(), 6);
        assert_eq!(first(&[], &[]).len(), 1);
    }

    #[test]
    fn what_the_system_prepared_is_not_prepared_again() {
        let document = |n| Document { path: format!("input/{n}.pdf"), pages: Some(9), bytes: 1 };
        let phases = first(&[document(0), document(1)], &entries(&[4, 3]));
        assert_eq!(processed(&phases), [1, 2, 3, 4, 5, 6, 7]);
        assert!(phases.iter().all(|phase| !phase.name.starts_with(PREPARATION)), "{phases:?}");
        let plan = Plan { head: String::new(), phases };
        assert_eq!(late(&plan, &[document(0), document(1), document(2)]), ["input/2.pdf"]);

        let phases = first(&[document(0), document(1)], &entries(&[4]));
        let steps = phases.iter().flat_map(|phase| &phase.steps).map(|step| Task::read(&step.text));
        let extracted: Vec<Task> = steps.filter(|task| matches!(task, Task::Extract(_))).collect();
        assert_eq!(extracted, [Task::Extract("input/1.pdf".to_owned())]);
    }

    #[test]
    fn every_one_of_many_documents_is_extracted_and_chunked_once() {
        let documents: Vec<Document> =
            (0..50).map(|n| Document { path: format!("input/{n}.pdf"), pages: None, bytes: 9 }).collect();
        let phases = first(&documents, &[]);
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
