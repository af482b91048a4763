//! Default values of a record: `record_defaults` of the job's configuration.

use plumbline_documents::candidates::{PatternError, Patterns};

/// Type, confidence, and the words by which a requirement bears on book-keeping and on data protection.
#[derive(Clone, Debug)]
pub struct RecordDefaults {
    /// `functional`, `non_functional`, `compliance` or `constraint`.
    pub(crate) r#type: String,
    /// 0 to 1.
    pub(crate) confidence: f64,
    gobd: Patterns,
    gdpr: Patterns,
}

impl RecordDefaults {
    /// The defaults with the patterns of a job type.
    ///
    /// # Errors
    /// If `gobd` or `gdpr`, named in the error, is not a valid regular expression or too costly, or if there are too
    /// many.
    pub fn new(
        r#type: &str,
        confidence: f64,
        gobd: &[String],
        gdpr: &[String],
    ) -> Result<Self, (&'static str, PatternError)> {
        Ok(Self {
            r#type: r#type.to_owned(),
            confidence,
            gobd: Patterns::new(gobd).map_err(|error| ("gobd", error))?,
            gdpr: Patterns::new(gdpr).map_err(|error| ("gdpr", error))?,
        })
    }

    pub(crate) fn bears_on_book_keeping(&self, text: &str) -> bool {
        self.gobd.matches(text)
    }

    pub(crate) fn bears_on_data_protection(&self, text: &str) -> bool {
        self.gdpr.matches(text)
    }
}

impl Default for RecordDefaults {
    /// Without a configuration: neutral confidence.
    fn default() -> Self {
        Self { r#type: "functional".into(), confidence: 0.5, gobd: Patterns::default(), gdpr: Patterns::default() }
    }
}
