//! Converts a server's response to readable text, with the parser child.

use super::error::FetchError;
use plumbline_documents::{DocumentError, Extracted, Kind, Page, Parser, push_page};

/// A page as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadPage {
    /// Its title, if it states one.
    pub title: Option<String>,
    /// Markdown, including page marks if the document has pages.
    pub text: String,
    /// Number of pages, if it has pages.
    pub pages: Option<usize>,
    /// Notes for the reader, one sentence each.
    pub warnings: Vec<String>,
}

/// Whether content of this type can be read. If the server states none, the content decides.
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

/// A fetched page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// Its final address.
    pub url: String,
    /// As stated by the server, lower case, without parameters; empty if it states none.
    pub content_type: String,
    /// The bytes.
    pub body: Vec<u8>,
}

impl Fetched {
    /// Extracts the text: of a web page its main article, of other types all of it.
    ///
    /// # Errors
    /// A sentence: the content cannot be read, or its parser failed.
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

    /// If no article is detected, the whole page is read.
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
