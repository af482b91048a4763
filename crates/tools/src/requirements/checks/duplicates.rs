//! Whether a requirement already exists.

use crate::requirements::similarity::{similar, similarity};
use plumbline_bounds::Cancellation;
use plumbline_engine::{KnownRequirement, beginning};
use serde_json::{Value, json};
use std::cmp::Ordering;

/// Maximum similar requirements that are reported.
const MAX_REPORTED: usize = 5;
/// Characters shown of a name: other producers' names have any length.
const MAX_NAME_CHARS: usize = 80;

/// A known requirement, and its similarity.
#[derive(Clone, Debug)]
pub(crate) struct Likeness {
    /// The requirement.
    pub(crate) known: KnownRequirement,
    /// 0 to 1.
    pub(crate) similarity: f64,
}

impl Likeness {
    /// Whether both have the same words in the same order.
    pub(crate) fn has_the_same_words(&self) -> bool {
        self.similarity >= 1.0
    }

    /// Whether both are the same requirement, given the start of the other's first quote: some rules occur in pairs
    /// with the same text that bind different parties or apply in different places.
    pub(crate) fn is_duplicate(&self, place: Option<&str>) -> bool {
        let is_same = |(known, place): (&String, &str)| known == place;
        self.has_the_same_words() && self.known.place.as_ref().zip(place).is_none_or(is_same)
    }

    /// Why the other one is not integrated.
    pub(crate) fn fault(&self) -> String {
        format!("it is a duplicate of {}: the same words at the same place", self.title())
    }

    /// Its display name for people.
    pub(crate) fn title(&self) -> String {
        title(&self.known)
    }

    /// The entry in `validation_result`.
    pub(crate) fn report(&self) -> Value {
        json!({
            "id": self.known.id,
            "title": self.title(),
            "status": self.known.status,
            "similarity": (self.similarity * 100.0).round() / 100.0,
        })
    }
}

/// The display name of a requirement: its node or candidate id, and its name or the beginning of a longer one.
pub(crate) fn title(known: &KnownRequirement) -> String {
    let id = known.graph_node_id.clone().or_else(|| known.candidate_id.clone()).unwrap_or_else(|| known.id.to_string());
    match &known.name {
        Some(name) => format!("{id} '{}'", beginning(name, MAX_NAME_CHARS)),
        None => id,
    }
}

/// The known requirements, until the call is cancelled.
fn of_known(known: Vec<KnownRequirement>, cancellation: &Cancellation) -> impl Iterator<Item = KnownRequirement> {
    known.into_iter().take_while(|_| !cancellation.is_cancelled())
}

/// Those similar to the text, most similar first.
pub(crate) async fn compare(text: &str, known: Vec<KnownRequirement>) -> Vec<Likeness> {
    let text = text.to_string();
    // Long texts take a while to compare.
    crate::run_blocking(move |cancellation| {
        let likeness = |known: KnownRequirement| Some(Likeness { similarity: similar(&text, &known.text)?, known });
        let mut like: Vec<Likeness> = of_known(known, cancellation).filter_map(likeness).collect();
        like.sort_by(likeliest_first);
        like.truncate(MAX_REPORTED);
        like
    })
    .await
}

/// By similarity, then by candidate id, which a requirement has before it has a row.
fn likeliest_first(a: &Likeness, b: &Likeness) -> Ordering {
    let id = |likeness: &Likeness| (likeness.known.candidate_id.clone(), likeness.known.id);
    b.similarity.total_cmp(&a.similarity).then_with(|| id(a).cmp(&id(b)))
}

/// The nearest of those that share a word with the text, most similar first.
pub(crate) async fn nearest(text: &str, known: Vec<KnownRequirement>, most: usize) -> Vec<Likeness> {
    let text = text.to_string();
    crate::run_blocking(move |cancellation| {
        let likeness = |known: KnownRequirement| Likeness { similarity: similarity(&text, &known.text), known };
        let mut like: Vec<Likeness> = of_known(known, cancellation).map(likeness).collect();
        like.retain(|likeness| likeness.similarity > 0.0);
        like.sort_by(likeliest_first);
        like.truncate(most);
        like
    })
    .await
}
