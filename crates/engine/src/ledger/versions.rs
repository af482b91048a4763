//! A job over new versions of documents of an earlier job: passages with identical text are carried over.

use super::{AnsweredPassage, Decision};
use crate::Product;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The earlier job, which `context.previous_job_id` names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Previous {
    /// Its id.
    pub job_id: Uuid,
    /// How the documents differ from those of then, once that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versions: Option<Versions>,
}

/// Passages of the documents, held against those of the earlier job: `versions` of a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versions {
    /// With the same text as one of then.
    pub same: usize,
    /// In the place of one of then, with another text.
    pub changed: usize,
    /// In the place of none.
    pub new: usize,
    /// Of then, with nothing in their place.
    pub gone: usize,
    /// Of a document that is the same, and worked anew all the same: older rules had answered it, or an older version has read it
    /// otherwise.
    #[serde(default)]
    pub reread: usize,
}

/// A passage with the text of one that an earlier job has answered for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarriedPassage {
    /// Its number in this job.
    pub number: i32,
    /// What answered it there; through a chain, in the first job.
    pub from: AnsweredPassage,
    /// The candidates that were decided there by their number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Decision>,
    /// Whether it was decided there, so that it is answered here as well. What older rules have answered is worked anew.
    pub is_decided: bool,
}

/// What of an earlier job holds for this one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Carried {
    /// The passages that the earlier job has answered for.
    pub passages: Vec<CarriedPassage>,
    /// How the documents differ.
    pub versions: Versions,
    /// The requirements of these passages with their citations, and the file that says what is gone.
    pub products: Vec<Product>,
}

impl Carried {
    /// What the model is told of it.
    pub(crate) fn note(&self, previous: Uuid) -> String {
        let Versions { same, changed, new, gone, reread } = self.versions;
        let requirements = self.products.iter().filter(|product| matches!(product, Product::AddRequirement(_))).count();
        let carried = self.passages.iter().filter(|passage| passage.is_decided).count();
        let anew = match reread {
            0 => String::new(),
            _ => format!(
                " {reread} are of the same documents and are worked anew: they were answered there by older rules, which \
                 counted quotes and not requirements, or an older version has read them otherwise."
            ),
        };
        format!(
            "This job follows job {previous} over earlier versions of its documents. Of their passages {same} are word for word \
             the same, {changed} have changed, {new} are new and {gone} are gone.{anew} {carried} passages are carried over: they are answered, \
             and their {requirements} requirements are recorded already, with the tag `carried`. Work on the other passages. \
             output/changes.json lists the requirements of then whose words are gone from the documents."
        )
    }
}
