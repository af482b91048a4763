//! The tags that the system updates when a requirement's text and quotes change: `needs_look` and `translated`.
//!
//! They apply to each product that records or changes a requirement, from any tool, so the runner sets them and tools
//! need not. A requirement may also complete another one with the same first sentence.

use super::placement;
use super::texts::Texts;
use crate::tool::ToolContext;
use crate::workspace::WorkspaceError;
use crate::workspace::overlay::WorkspaceOverlay;
use plumbline_documents::candidates;
use plumbline_documents::composed;
use plumbline_documents::surroundings::Surroundings;
use plumbline_engine::comparison::{Compared, tags_with};
use plumbline_engine::{
    Product, RecordedRequirement, Requirement, RequirementChange, apply_requirement_changes, quotes_of,
};
use serde_json::{Map, json};
use std::collections::BTreeSet;

/// The reason for the system's change of a requirement that the model did not name.
const REASON: &str = "the system compares it with its quotes anew";

/// Corrects the places of the requirements that a call records or changes, and sets their tags and those of
/// requirements that quote the same sentences. Returns the corrections, for the model to read.
pub(crate) async fn settle(
    overlay: &WorkspaceOverlay<'_>,
    ctx: &ToolContext<'_>,
    products: &mut Vec<Product>,
) -> Result<Vec<String>, WorkspaceError> {
    if !products.iter().any(|product| requirement_of(product).is_some() || is_withdrawal(product)) {
        return Ok(Vec::new());
    }
    let texts = Texts::new(overlay, ctx);
    let mut said = Vec::new();
    for product in &mut *products {
        said.extend(correct_place(&texts, product).await?);
    }
    let group = Group::of(&texts, products).await?;
    for product in &mut *products {
        let Some(requirement) = requirement_of(product) else { continue };
        let tags = texts.tags(requirement, &group).await?;
        put_tags(product, tags);
    }
    for known in group.others() {
        let tags = texts.tags(known, &group).await?;
        products.extend(retagged(known, tags));
    }
    Ok(said)
}

/// Corrects the place of a requirement that is recorded or changed; returns the corrections.
async fn correct_place(texts: &Texts<'_>, product: &mut Product) -> Result<Vec<String>, WorkspaceError> {
    match product {
        Product::AddRequirement(requirement) => placement::put_right(texts, requirement).await,
        Product::ChangeRequirement(change) => {
            let Some(becomes) = &mut change.becomes else { return Ok(Vec::new()) };
            let said = placement::put_right(texts, becomes).await?;
            if !said.is_empty() {
                change.fields.insert("source_location".to_owned(), becomes.source_location.clone());
            }
            Ok(said)
        }
        _ => Ok(Vec::new()),
    }
}

/// The same for requirements that quote a document which a call has cut: only now are the headings and leads of their
/// quotes known.
pub(crate) async fn after_cut(
    overlay: &WorkspaceOverlay<'_>,
    ctx: &ToolContext<'_>,
    products: &[Product],
) -> Result<Vec<Product>, WorkspaceError> {
    let cut = products.iter().find_map(|product| match product {
        Product::CutDocument(cut) => Some(cut.document.as_str()),
        _ => None,
    });
    let Some(document) = cut else { return Ok(Vec::new()) };
    let quotes_it = |known: &RecordedRequirement| {
        known.is_pending() && quotes_of(&known.requirement.citations).iter().any(|quote| quote.source == document)
    };
    let recorded = overlay.recorded().await?;
    retag(&Texts::new(overlay, ctx), recorded.into_iter().filter(quotes_it)).await
}

/// The same for all requirements: some may be from before texts were compared with quotes.
pub(crate) async fn of_all(
    overlay: &WorkspaceOverlay<'_>,
    ctx: &ToolContext<'_>,
) -> Result<Vec<Product>, WorkspaceError> {
    let recorded = overlay.recorded().await?;
    retag(&Texts::new(overlay, ctx), recorded.into_iter().filter(|known| !known.is_withdrawn())).await
}

/// The changes of the tags of these requirements; only pending ones are changed.
async fn retag(
    texts: &Texts<'_>,
    recorded: impl Iterator<Item = RecordedRequirement>,
) -> Result<Vec<Product>, WorkspaceError> {
    let mut group = Group::default();
    for known in recorded {
        group.put(texts.first_place(&known.requirement).await?, known, false);
    }
    let mut products = Vec::new();
    for known in group.others() {
        let tags = texts.tags(known, &group).await?;
        products.extend(retagged(known, tags));
    }
    Ok(products)
}

fn requirement_of(product: &Product) -> Option<&Requirement> {
    match product {
        Product::AddRequirement(requirement) => Some(requirement),
        Product::ChangeRequirement(change) => change.becomes.as_deref(),
        _ => None,
    }
}

fn is_withdrawal(product: &Product) -> bool {
    matches!(product, Product::ChangeRequirement(change) if change.becomes.is_none())
}

fn put_tags(product: &mut Product, tags: Vec<String>) {
    match product {
        Product::AddRequirement(requirement) => requirement.tags = tags,
        Product::ChangeRequirement(change) => {
            let Some(becomes) = &mut change.becomes else { return };
            if becomes.tags != tags {
                change.fields.insert("tags".to_owned(), json!(tags));
                becomes.tags = tags;
            }
        }
        _ => {}
    }
}

/// The change of a requirement with wrong tags.
fn retagged(known: &Requirement, tags: Vec<String>) -> Option<Product> {
    (known.tags != tags).then(|| {
        let fields = Map::from_iter([("tags".to_owned(), json!(tags))]);
        let becomes = Some(Box::new(Requirement { tags, ..known.clone() }));
        let (candidate_id, reason) = (known.candidate_id.clone(), REASON.to_owned());
        Product::ChangeRequirement(Box::new(RequirementChange { candidate_id, reason, becomes, fields }))
    })
}

/// A sentence by its passage and its number.
type Place = (i32, i32);

/// Requirements that may quote the same first sentences.
#[derive(Default)]
struct Group {
    rows: Vec<Row>,
}

struct Row {
    place: Option<Place>,
    known: RecordedRequirement,
    /// Whether the current call records or changes it.
    is_named: bool,
}

impl Group {
    /// The requirements of a call's products, and those that quote the first sentence of one of them, before or after
    /// the change.
    async fn of(texts: &Texts<'_>, products: &[Product]) -> Result<Self, WorkspaceError> {
        let is_change = |product: &&Product| matches!(product, Product::ChangeRequirement(_));
        let named: BTreeSet<String> = products.iter().filter_map(id_of).map(str::to_owned).collect();
        let changed: Vec<String> = products.iter().filter(is_change).filter_map(id_of).map(str::to_owned).collect();
        let mut places: BTreeSet<Place> = BTreeSet::new();
        for requirement in products.iter().filter_map(requirement_of) {
            places.extend(texts.first_place(requirement).await?);
        }
        if !changed.is_empty() {
            for known in texts.overlay.recorded_as(&changed).await? {
                places.extend(texts.first_place(&known.requirement).await?);
            }
        }
        let at = |(passage, sentence): &Place| texts.overlay.requirements_at(*passage, *sentence);
        let mut ids: Vec<String> = places.iter().flat_map(at).collect();
        ids.extend(changed);
        let mut rows = if ids.is_empty() { Vec::new() } else { texts.overlay.recorded_as(&ids).await? };
        apply_requirement_changes(&mut rows, products.iter());
        let mut group = Self::default();
        for known in rows.into_iter().filter(|known| !known.is_withdrawn()) {
            let place = texts.first_place(&known.requirement).await?;
            let is_named = named.contains(&known.requirement.candidate_id);
            if is_named || place.is_some_and(|place| places.contains(&place)) {
                group.put(place, known, is_named);
            }
        }
        Ok(group)
    }

    fn put(&mut self, place: Option<Place>, known: RecordedRequirement, is_named: bool) {
        self.rows.push(Row { place, known, is_named });
    }

    /// Those that may be changed and that the call does not name.
    fn others(&self) -> impl Iterator<Item = &Requirement> {
        let others = self.rows.iter().filter(|row| !row.is_named && row.known.is_pending());
        others.map(|row| &row.known.requirement)
    }

    /// The texts of the others that quote the same first sentence.
    fn beside(&self, place: Option<Place>, id: &str) -> Vec<String> {
        let beside = self
            .rows
            .iter()
            .filter(|row| place.is_some() && row.place == place && row.known.requirement.candidate_id != id);
        beside.map(|row| composed(&row.known.requirement.text).into_owned()).collect()
    }
}

fn id_of(product: &Product) -> Option<&str> {
    match product {
        Product::AddRequirement(requirement) => Some(&requirement.candidate_id),
        Product::ChangeRequirement(change) => Some(&change.candidate_id),
        _ => None,
    }
}

impl Texts<'_> {
    async fn tags(&self, requirement: &Requirement, group: &Group) -> Result<Vec<String>, WorkspaceError> {
        let compared = self.compared(requirement, group).await?;
        Ok(tags_with(&requirement.tags, !compared.reasons().is_empty(), compared.translated))
    }

    async fn compared(&self, requirement: &Requirement, group: &Group) -> Result<Compared, WorkspaceError> {
        let quotes = quotes_of(&requirement.citations);
        let (mut around, mut first) = (Surroundings::default(), None);
        for (at, quote) in quotes.iter().enumerate() {
            let places = self.places(quote).await?;
            if at == 0 {
                first = places.first().map(|place| (place.passage, place.from));
            }
            for place in places {
                let Some(layout) = self.layout(place.passage).await? else { continue };
                let Surroundings { leads, headings, near } = layout.around(&place);
                around.leads.extend(leads);
                around.headings.extend(headings);
                around.near.extend(near);
            }
        }
        let text = composed(&requirement.text).into_owned();
        let words: Vec<String> = quotes.into_iter().map(|quote| composed(&quote.words).into_owned()).collect();
        let all = words.join(" ");
        let (overlay, ctx) = (self.overlay, self.ctx);
        Ok(Compared {
            translated: text != all && candidates::is_translated(&text, &all),
            without_rules: candidates::is_foreign(&all),
            text,
            quotes: words,
            leads: around.leads,
            headings: around.headings,
            near: around.near,
            beside: group.beside(first, &requirement.candidate_id),
            has_sources: overlay.sources().iter().any(|source| ctx.is_source(&source.path)),
        })
    }

    /// The sentence at which the first quote begins.
    async fn first_place(&self, requirement: &Requirement) -> Result<Option<Place>, WorkspaceError> {
        let quotes = quotes_of(&requirement.citations);
        let Some(first) = quotes.first() else { return Ok(None) };
        Ok(self.places(first).await?.first().map(|place| (place.passage, place.from)))
    }
}
