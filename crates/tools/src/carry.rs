//! Looks up the findings of an earlier job in new versions of the documents.
//!
//! If a passage has the same text as one that the earlier job answered, it is answered and its findings are valid: each
//! of its requirements is recorded again, with its quotes at their current positions. For all others the file says
//! whether their text still occurs.

use crate::documents::citation_check::{Claim, Verified, verify};
use crate::documents::word_search::stands;
use crate::error::{BatchError, ToolError};
use crate::requirements::add_requirement::evidence;
use crate::requirements::comparison;
use crate::runner::ToolRunner;
use crate::tool::{Caches, ToolContext, ToolEnv};
use crate::workspace::overlay::WorkspaceOverlay;
use crate::workspace::{Workspace, WorkspaceError};
use plumbline_documents::versions::{Comparison, compare};
use plumbline_engine::{
    AnsweredPassage, Carried, CarriedPassage, Citation, FileWrite, Passage, PassageState, Product, RecordedRequirement,
    Requirement, Source, Touched, Versions,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// The file that lists what was carried over, and which earlier findings no longer hold.
pub const CHANGES: &str = "output/changes.json";
/// The tag of requirements that are carried over.
const TAG: &str = "carried";

/// The rows of an earlier job.
#[derive(Clone, Debug)]
pub struct PreviousJob {
    /// Its id.
    pub id: Uuid,
    /// Its documents.
    pub sources: Vec<Source>,
    /// Those documents that have the same bytes in this job, by path.
    pub same_documents: BTreeSet<String>,
    /// The passages of its documents.
    pub passages: Vec<Passage>,
    /// Its recorded requirements.
    pub recorded: Vec<RecordedRequirement>,
}

/// The passages that still hold, and the results for the earlier job's requirements.
#[derive(Default)]
struct Sorted<'a> {
    products: Vec<Product>,
    carried: Vec<String>,
    /// Earlier passages with a requirement that could not be carried over: they must be read again.
    to_read: BTreeSet<i32>,
    left: Vec<&'a Requirement>,
}

impl ToolRunner {
    /// Determines what of an earlier job holds for the documents of this one, whose passages are `now`.
    ///
    /// # Errors
    /// The workspace could not be read. Nothing has been changed, and the call may be retried.
    pub async fn carry(
        &self,
        previous: &PreviousJob,
        now: &[&Passage],
        workspace: &dyn Workspace,
        ctx: &ToolContext<'_>,
    ) -> Result<Carried, BatchError> {
        let overlay = WorkspaceOverlay::new(workspace);
        Ok(carry(&self.env(&overlay, ctx, &Caches::default()), previous, now).await?)
    }
}

/// Whether an earlier document and one of this job were extracted in the same way: then equal text has equal sentences.
fn is_read_alike(env: &ToolEnv<'_>, previous: &PreviousJob, then: &str, now: &str) -> bool {
    let extraction = |sources: &[Source], path: &str| {
        sources.iter().find(|source| source.path == path).and_then(|source| source.extraction.clone())
    };
    extraction(&previous.sources, then) == extraction(env.overlay.sources(), now)
}

async fn carry(env: &ToolEnv<'_>, previous: &PreviousJob, now: &[&Passage]) -> Result<Carried, WorkspaceError> {
    let alike = |then: &Passage, now: &Passage| is_read_alike(env, previous, &then.document, &now.document);
    let is_read_otherwise = |document: &str| {
        previous.same_documents.contains(document) && !is_read_alike(env, previous, document, document)
    };
    let Comparison { same, versions } = compare(&previous.passages, now, is_read_otherwise);
    let answered = same.iter().filter(|(then, _)| then.state == PassageState::Answered);
    let mut holding: BTreeMap<i32, SamePassage<'_>> = BTreeMap::new();
    for (then, now) in answered.clone() {
        holding.entry(then.number).or_insert_with(|| SamePassage { then, now, is_read_alike: alike(then, now) });
    }
    let mut sorted = sort(env, &previous.recorded, &holding).await?;
    comparison::settle(env.overlay, env.ctx, &mut sorted.products).await?;
    let holds = answered.filter(|(then, _)| !sorted.to_read.contains(&then.number));
    let answers: Vec<CarriedPassage> =
        holds.filter_map(|(then, now)| carried_passage(then, now, alike(then, now))).collect();
    let passages: Vec<i32> = answers.iter().filter(|one| one.is_decided).map(|one| one.number).collect();
    let reread = answers.len() - passages.len();
    let versions = Versions { same: versions.same - reread, reread: versions.reread + reread, ..versions };
    let (mut gone, mut to_check) = (Vec::new(), Vec::new());
    for requirement in &sorted.left {
        match still_stands(env, requirement).await? {
            true => to_check.push(listed(requirement)),
            false => gone.push(listed(requirement)),
        }
    }
    let changes = json!({
        "previous_job_id": previous.id,
        "versions": versions,
        "carried": {"passages": passages, "requirements": sorted.carried, "answers": answers},
        "gone": gone,
        "to_check": to_check,
    });
    let mut products = sorted.products;
    products.push(Product::WriteFile(FileWrite::text(CHANGES, format!("{changes:#}\n"))));
    Ok(Carried { passages: answers, versions, products })
}

/// A passage with the same text as an answered passage of the earlier job.
fn carried_passage(then: &Passage, now: &Passage, is_read_alike: bool) -> Option<CarriedPassage> {
    let by = then.answered_by?;
    let from = if by == AnsweredPassage::Carried { then.carried_from.unwrap_or(by) } else { by };
    let decisions = then.decisions.clone();
    let is_decided = then.decided_step.is_some() && is_read_alike;
    Some(CarriedPassage { number: now.number, from, decisions, is_decided })
}

/// An earlier passage with the current one that has the same text.
#[derive(Clone, Copy)]
struct SamePassage<'a> {
    then: &'a Passage,
    now: &'a Passage,
    /// Whether the sentences have the same numbers.
    is_read_alike: bool,
}

/// Carries over the requirements of passages that still hold, by their earlier numbers.
async fn sort<'a>(
    env: &ToolEnv<'_>,
    recorded: &'a [RecordedRequirement],
    holding: &BTreeMap<i32, SamePassage<'_>>,
) -> Result<Sorted<'a>, WorkspaceError> {
    let mut sorted = Sorted::default();
    for requirement in recorded.iter().filter(|known| !known.is_withdrawn()).map(|known| &known.requirement) {
        let mut citations = Vec::new();
        for cited in requirement.citations.as_array().into_iter().flatten() {
            let place = Place::of(cited).and_then(|place| Some((place, holding.get(&place.touched.passage)?)));
            let Some((place, held)) = place else { continue };
            match cited_now(env, cited, place, *held).await {
                Ok(citation) => citations.push(citation),
                Err(ToolError::Workspace(error)) => return Err(error),
                // It extends into a changed passage.
                Err(_) => {
                    sorted.to_read.insert(held.then.number);
                }
            }
        }
        if citations.is_empty() {
            sorted.left.push(requirement);
            continue;
        }
        sorted.carried.push(requirement.candidate_id.clone());
        let requirement = Product::AddRequirement(Box::new(renewed(requirement, &citations)));
        sorted.products.extend(citations.into_iter().map(Product::AddCitation).chain([requirement]));
    }
    Ok(sorted)
}

/// The earlier place of a verified quote: sentences of a passage, and the page.
#[derive(Clone, Copy)]
struct Place {
    touched: Touched,
    page: Option<i32>,
}

impl Place {
    fn of(cited: &Value) -> Option<Self> {
        let number = |key: &str| cited.get(key)?.as_i64().and_then(|number| i32::try_from(number).ok());
        let is_verified = cited.get("verified") == Some(&Value::Bool(true));
        let touched = Touched { passage: number("passage")?, from: number("from")?, to: number("to")? };
        is_verified.then_some(Self { touched, page: number("page") })
    }
}

/// The same quote in the current passage, if the document's text contains it.
async fn cited_now(
    env: &ToolEnv<'_>,
    cited: &Value,
    place: Place,
    SamePassage { then, now, is_read_alike }: SamePassage<'_>,
) -> Result<Citation, ToolError> {
    let quote = cited.get("quote").and_then(Value::as_str).unwrap_or_default();
    // At the same distance from the passage's first page as before.
    let page = |page: i32| Some(page - then.pages?.0 + now.pages?.0);
    let page = place.page.and_then(page).and_then(|page| u32::try_from(page).ok());
    let Verified { mut citation, .. } = verify(env, Claim { source: &now.document, page, quote }).await?;
    if is_read_alike {
        citation.place = Some(Touched { passage: now.number, ..place.touched });
        citation.continues.clear();
    }
    citation.again.clear();
    Ok(citation)
}

/// The requirement to be recorded again.
fn renewed(requirement: &Requirement, citations: &[Citation]) -> Requirement {
    let first = citations.first();
    let mut source_location = requirement.source_location.clone();
    if let (Some(page), Some(known)) = (first.and_then(|citation| citation.page), source_location.get_mut("page")) {
        *known = page.into();
    }
    Requirement {
        source_document: first.map(|citation| citation.source.clone()),
        source_location,
        citations: citations.iter().map(evidence).collect(),
        tags: vec![TAG.to_owned()],
        ..requirement.clone()
    }
}

/// Whether a document of this job still contains any of its quotes; true for a requirement without quotes.
async fn still_stands(env: &ToolEnv<'_>, requirement: &Requirement) -> Result<bool, WorkspaceError> {
    if quotes(requirement).next().is_none() {
        return Ok(true);
    }
    for quote in quotes(requirement) {
        if stands(env, quote).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn quotes(requirement: &Requirement) -> impl Iterator<Item = &str> {
    let cited = requirement.citations.as_array().into_iter().flatten();
    cited.filter_map(|cited| cited.get("quote")?.as_str())
}

fn listed(requirement: &Requirement) -> Value {
    json!({
        "candidate_id": requirement.candidate_id,
        "name": requirement.name,
        "text": requirement.text,
        "source_document": requirement.source_document,
        "page": requirement.source_location.get("page"),
        "quotes": quotes(requirement).collect::<Vec<_>>(),
    })
}
