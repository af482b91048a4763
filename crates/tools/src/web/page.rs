//! Converts a server's response to readable text, with the parser child.

use super::error::FetchError;
use super::fetch::Fetched;
use plumbline_documents::{DocumentError, Extracted, Kind, Page, Parser, push_page};

/// A page as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadPage {
    /// Its title, where it states one.
    pub title: Option<String>,
    /// Markdown, page marks included where the document has pages.
    pub text: String,
    /// Number of pages, where it has such.
    pub pages: Option<usize>,
    /// What the reader should know, one sentence each.
    pub warnings: Vec<String>,
}

/// Whether content of this type can be read. A server that states none is taken at its bytes.
pub(super) fn is_readable(content_type: &str) -> bool {
    kind_of_type(content_type).is_some() || matches!(content_type, "" | "application/octet-stream")
}

fn kind_of_type(content_type: &str) -> Option<Kind> {
    match content_type {
        "text/html" | "application/xhtml+xml" => Some(Kind::Html),
        "text/markdown" => Some(Kind::Markdown),
        "application/pdf" => Some(Kind::Pdf),
        "application/json" | "application/xml" => Some(Kind::Text),
        other => other.starts_with("text/").then_some(Kind::Text),
    }
}

impl Fetched {
    /// Reads the page: of a web page its main article, of anything else all of it.
    ///
    /// # Errors
    /// A sentence: the content is nothing to read, or its parser gave up.
    pub async fn read(&self, parser: &Parser) -> Result<ReadPage, String> {
        let unreadable = FetchError::ContentType { content_type: self.content_type.clone() };
        let by_bytes = || plumbline_documents::kind_of("page", &self.body).ok();
        let kind = kind_of_type(&self.content_type).or_else(by_bytes).ok_or_else(|| unreadable.to_string())?;
        let read = match kind {
            Kind::Html => self.article(parser).await,
            kind => parser.extract(kind, &self.body, None).await,
        };
        let document = read.map_err(|error| error.with_name(&self.url).to_string())?;
        Ok(page(document))
    }

    /// A page whose article cannot be made out is read as a whole.
    async fn article(&self, parser: &Parser) -> Result<Extracted, DocumentError> {
        match parser.article(&self.body).await {
            Err(DocumentError::ParserDied { .. }) => parser.extract(Kind::Html, &self.body, None).await,
            read => read,
        }
    }
}

fn page(document: Extracted) -> ReadPage {
    let mut text = String::new();
    let mark = |page: &Page| push_page(&mut text, page, document.paged);
    document.pages.iter().for_each(mark);
    let pages = document.paged.then_some(document.pages.len());
    ReadPage { title: document.title, text, pages, warnings: document.warnings }
}
