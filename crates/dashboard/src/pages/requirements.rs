//! The requirements of a job, each with its place in the document.

use super::Head;
use crate::{
    pages::error::PageError,
    server::{AppState, Shared},
};
use axum::{
    extract::{Path, Query, State},
    response::Html,
};
use plumbline_documents::{composed, quotes::SourceText};
use plumbline_store::RequirementRow;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

/// Requirements per page.
const REQUIREMENTS: i64 = 25;
/// Maximum size of a document's text that is searched, in bytes.
const LARGEST: i32 = 32 * 1024 * 1024;
/// Maximum citations of a requirement that are shown in place.
const CITATIONS: usize = 12;
/// Characters shown around a quote in a text without pages.
const AROUND: usize = 1200;

#[derive(Deserialize)]
pub(crate) struct After {
    #[serde(default)]
    after: Uuid,
}

/// `/jobs/{id}/requirements`.
pub(crate) async fn list(
    State(state): Shared,
    Path(id): Path<String>,
    Query(place): Query<After>,
) -> Result<Html<String>, PageError> {
    let head = Head::of(&state, &id, "requirements").await?;
    let requirements = state.store.requirement_page(head.job.id, place.after, REQUIREMENTS).await?;
    let findings = state.store.findings_counts(head.job.id).await?;
    let full = i64::try_from(requirements.len()).is_ok_and(|found| found == REQUIREMENTS);
    let next = requirements.last().filter(|_| full).map(|last| last.id);
    let first = place.after.is_nil();
    state.renderer.page(
        "requirements.html",
        json!({ "head": head, "requirements": requirements, "findings": findings, "next": next, "first": first }),
    )
}

/// `/jobs/{id}/requirements/{requirement}`.
pub(crate) async fn view(
    State(state): Shared,
    Path((id, requirement)): Path<(String, Uuid)>,
) -> Result<Html<String>, PageError> {
    let head = Head::of(&state, &id, "requirements").await?;
    // Ids are dense: the requested one is the first after its predecessor.
    let before = Uuid::from_u128(requirement.as_u128().saturating_sub(1));
    let mut around = state.store.requirement_page(head.job.id, before, 2).await?.into_iter();
    let line = around.next().filter(|line| line.id == requirement);
    let line =
        line.ok_or_else(|| PageError::not_found(format!("job {} has no requirement {requirement}", head.job.id)))?;
    let next = around.next().map(|line| line.id);
    let citations = in_place(&state, head.job.id, &line).await?;
    state
        .renderer
        .page("requirement.html", json!({ "head": head, "requirement": line, "citations": citations, "next": next }))
}

/// A citation with its source text.
#[derive(Serialize)]
struct InPlace {
    source: String,
    page: Option<i64>,
    quote: String,
    verified: bool,
    /// The file with the source's text, if there is one.
    text_path: Option<String>,
    /// The page around the quote, in three parts; none if the quote is not found in it.
    shown: Option<[String; 3]>,
}

async fn in_place(state: &AppState, job_id: Uuid, requirement: &RequirementRow) -> Result<Vec<InPlace>, PageError> {
    let cited = requirement.citations.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut shown = Vec::new();
    let mut held: Option<(String, Option<String>, String)> = None;
    for citation in cited.iter().take(CITATIONS) {
        let text = |key: &str| citation.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let source = text("source");
        if held.as_ref().is_none_or(|(name, ..)| *name != source) {
            let (path, content) = source_text(state, job_id, &source).await?;
            held = Some((source.clone(), path, content));
        }
        let (text_path, content) = held.as_ref().map_or((None, ""), |(_, path, content)| (path.clone(), content));
        let (page, quote) = (page_of(citation), text("quote"));
        shown.push(InPlace {
            shown: around(content, page, &quote),
            verified: citation.get("verified") == Some(&Value::Bool(true)),
            source,
            page,
            quote,
            text_path,
        });
    }
    Ok(shown)
}

/// The text of a document and its path; empty if there is none.
async fn source_text(state: &AppState, job_id: Uuid, source: &str) -> Result<(Option<String>, String), PageError> {
    let Some(found) = state.store.source_text(job_id, source).await? else {
        return Ok((None, String::new()));
    };
    let part = state.store.file_part(job_id, &found.text_path, 0, LARGEST).await?;
    let text = part.and_then(|part| String::from_utf8(part.part).ok());
    Ok(text.map_or((None, String::new()), |text| (Some(found.text_path), text)))
}

/// Pages are numbers; an outside writer may give them as text.
fn page_of(citation: &Value) -> Option<i64> {
    let page = citation.get("page")?;
    page.as_i64().or_else(|| page.as_str()?.trim().parse().ok())
}

/// The page with the quote marked. A quote may cross the end of its page.
fn around(content: &str, page: Option<i64>, quote: &str) -> Option<[String; 3]> {
    let file = plumbline_documents::from_text_file(content);
    let at =
        page.filter(|_| file.paged).and_then(|page| file.pages.iter().position(|held| i64::from(held.number) == page));
    let text = match at {
        None => file.pages.iter().map(|page| page.text.as_str()).collect::<Vec<_>>().join("\n\n"),
        Some(at) => {
            let here = &file.pages[at].text;
            if let Some(parts) = parts(here, quote, usize::MAX) {
                return Some(parts);
            }
            let following = file.pages.get(at + 1).map_or("", |page| page.text.as_str());
            format!("{here}\n{following}")
        }
    };
    parts(&text, quote, AROUND)
}

/// The text around a quote, which is where the check of citations found it.
fn parts(text: &str, quote: &str, most: usize) -> Option<[String; 3]> {
    let text = composed(text);
    let place = SourceText::new(&text).place(quote, None)?;
    let (before, after) = (&text[..place.start], &text[place.end..]);
    let skipped = before.chars().count().saturating_sub(most);
    let before: String = before.chars().skip(skipped).collect();
    let before = if skipped > 0 { format!("… {before}") } else { before };
    let mut rest = after.chars();
    let mut after: String = rest.by_ref().take(most).collect();
    if rest.next().is_some() {
        after.push_str(" …");
    }
    Some([before, text[place].to_owned(), after])
}

#[cfg(test)]
mod tests {
    use super::around;

    #[test]
    fn a_quote_is_shown_on_its_page_and_over_its_end() {
        let text = "[page 1]\n\nFirst. Records must\n\n[page 2]\n\nbe kept. Second.\n";
        let [before, quote, after] =
            around(text, Some(1), "Records must be kept.").expect("it runs over the page's end");
        assert_eq!(
            (before.as_str(), quote.as_str(), after.as_str()),
            ("First. ", "Records must\nbe kept.", " Second.")
        );
        let [before, ..] = around(text, Some(2), "Second.").expect("on its page");
        assert_eq!(before, "be kept. ");
        assert_eq!(around(text, Some(2), "Not there at all."), None);
        let text = "1.\nRecords shall be kept for the peri-\nods in Annex A, “if any”. The oﬃce decides.";
        let kept = "Records shall be kept for the periods in Annex A, \"if any\".";
        let [before, quote, _] = around(text, None, kept).expect("as typesetting left it");
        assert_eq!((before.as_str(), quote.as_str()), ("1.\n", &text[3..text.find(" The").expect("a sentence")]));
        let long = format!("{} The quote. {}", "x".repeat(5000), "y".repeat(5000));
        let [before, _, after] = around(&long, None, "The quote.").expect("a text without pages");
        assert!(before.starts_with('…') && after.ends_with('…') && before.len() < 1300);
    }
}
