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
    /// How the documents differ from those of the earlier job, once compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versions: Option<Versions>,
}

/// Passages of the documents compared with those of the earlier job: `versions` of a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versions {
    /// Passages with the same text as an earlier one.
    pub same: usize,
    /// Passages in the place of an earlier one, with another text.
    pub changed: usize,
    /// Passages in the place of none.
    pub new: usize,
    /// Earlier passages with nothing in their place.
    pub gone: usize,
    /// Passages of an unchanged document that are worked again nevertheless: older rules answered them, or an older
    /// version extracted them differently.
    #[serde(default)]
    pub reread: usize,
}

/// A passage with the same text as one that an earlier job has answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarriedPassage {
    /// Its number in this job.
    pub number: i32,
    /// What answered it there; for a chain of jobs, in the first one.
    pub from: AnsweredPassage,
    /// The candidates decided there by number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Decision>,
    /// Whether it was decided there, so that it is answered here as well. Passages answered by older rules are worked
    /// again.
    pub is_decided: bool,
}

/// The results of an earlier job that apply to this one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Carried {
    /// The passages that the earlier job has answered.
    pub passages: Vec<CarriedPassage>,
    /// How the documents differ.
    pub versions: Versions,
    /// The requirements of these passages with their citations, and the file that lists what is gone.
    pub products: Vec<Product>,
}

impl Carried {
    /// The text about it for the model.
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
