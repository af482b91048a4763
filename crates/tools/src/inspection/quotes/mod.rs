//! Finds quotes in a model's files, each with the place that the file gives for it.

mod json;
mod place;
mod quotation_marks;
mod table;
mod text;

use plumbline_documents::quotes::SHORTEST;
use plumbline_engine::without_comments;
use serde_json::Value;

pub(crate) use place::{SaidDocument, SaidPlace, file_name_in, is_named, is_source, pages};

/// Fewer words in quotation marks are a term, not a quote.
const LEAST_WORDS: usize = 3;

/// A quote in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Quoted {
    pub(crate) text: String,
    pub(crate) place: SaidPlace,
    /// Whether it is the value of a key such as `quote`, which makes a single word a quote, too.
    pub(crate) is_value: bool,
}

impl Quoted {
    fn in_text(text: &str) -> Self {
        Self { text: text.replace('\n', " "), place: SaidPlace::default(), is_value: false }
    }

    /// Whether there is anything to look up.
    fn counts(&self) -> bool {
        if self.is_value { self.text.chars().any(char::is_alphanumeric) } else { counts(&self.text) }
    }
}

/// The quotes in a file: in JSON the texts of quote keys, in CSV the cells of such columns; otherwise block quotes and
/// text in quotation marks, except in link titles, headings and comments.
pub(crate) fn quotes(path: &str, text: &str) -> Vec<Quoted> {
    let mut found = Vec::new();
    let lines = || text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    match ending(path) {
        "json" => serde_json::from_str(text).iter().for_each(|value| json::quotes_of(value, &mut found)),
        "jsonl" => lines().for_each(|value| json::quotes_of(&value, &mut found)),
        "csv" | "tsv" => table::of_csv(text, &mut found),
        _ => text::quotes_of(&without_comments(text), &mut found),
    }
    found.retain(Quoted::counts);
    found.dedup();
    found
}

/// The quotes in headings of a text; [`quotes`] has the others. A heading may repeat a question, which is not a quote.
pub(crate) fn in_headings(path: &str, text: &str) -> Vec<Quoted> {
    let mut found = Vec::new();
    let mut in_code = false;
    if !matches!(ending(path), "json" | "jsonl" | "csv" | "tsv") {
        for line in without_comments(text).lines().map(str::trim) {
            in_code ^= line.starts_with("```");
            if !in_code && is_heading(line) {
                quotation_marks::in_marks(line, &mut found);
            }
        }
    }
    found.retain(Quoted::counts);
    found
}

/// `## Question 7`.
fn is_heading(line: &str) -> bool {
    let text = line.trim_start_matches('#');
    (1..=6).contains(&(line.len() - text.len())) && text.starts_with([' ', '\t'])
}

/// Whether a quote is long enough to prove anything.
fn counts(quote: &str) -> bool {
    quote.chars().count() >= SHORTEST && quote.split_whitespace().count() >= LEAST_WORDS
}

/// A form of a quote to look up, and the words at its end that are taken for its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form<'a> {
    pub(crate) text: &'a str,
    pub(crate) source: Option<&'a str>,
}

/// The forms of a quote to look up: verbatim and, as fallbacks, without the punctuation at its end, which may belong to
/// the surrounding sentence, and without the source at its end. `documents` are the names by which a source is
/// recognized.
pub(crate) fn forms<'a>(quote: &'a str, documents: &[&str]) -> Vec<Form<'a>> {
    let whole = Form { text: quote, source: None };
    let parted = place::parted(quote, documents).map(|(text, source)| Form { text, source: Some(source) });
    let mut forms = Vec::new();
    for form in [Some(whole), parted].into_iter().flatten() {
        forms.extend([form, Form { text: bare(form.text), ..form }]);
    }
    forms.dedup();
    forms.retain(|form| *form == whole || counts(form.text));
    forms
}

fn bare(quote: &str) -> &str {
    quote.trim_end_matches(['.', ',', ';', ':', '!', '?'])
}

/// How to write a quote in a file so that it counts, for use after a colon.
pub(crate) fn how_to_quote(path: &str) -> String {
    let keys = json::KEYS.map(|key| format!("`{key}`")).join(", ");
    match ending(path) {
        "json" | "jsonl" => format!("in JSON the text of a key counts whose name has one of {keys} in it"),
        "csv" | "tsv" => format!(
            "in CSV the cells of a column count whose name has one of {keys} in it, and words in quotation marks in others"
        ),
        _ => format!("{LEAST_WORDS} words or more count that stand in quotation marks or in a block quote (`> …`)"),
    }
}

fn ending(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Form, Quoted, SaidDocument};
    use serde_json::json;

    fn texts(found: Vec<Quoted>) -> Vec<String> {
        found.into_iter().map(|quote| quote.text).collect()
    }

    fn quotes(path: &str, text: &str) -> Vec<String> {
        texts(super::quotes(path, text))
    }

    fn in_headings(path: &str, text: &str) -> Vec<String> {
        texts(super::in_headings(path, text))
    }

    fn forms<'a>(quote: &'a str, documents: &[&str]) -> Vec<&'a str> {
        super::forms(quote, documents).into_iter().map(|Form { text, .. }| text).collect()
    }

    #[test]
    fn quotes_are_in_marks_and_blocks_and_under_keys() {
        let text = "The policy says “records are kept for ten years.” and calls a \"record\" so.\n\n> Invoices are kept\n> for \
                    six years.\n\nA mark \" that is never closed\n\nEr sagt „es gilt für alle“ und «tout est bien dit».\n";
        let expected = [
            "records are kept for ten years.",
            "Invoices are kept for six years.",
            "es gilt für alle",
            "tout est bien dit",
        ];
        assert_eq!(quotes("output/a.md", text), expected);
        let json = json!({"differences": [{"quote_a": "one two three", "note": "\"four five six\"", "Quotes": ["seven eight nine"]}]});
        let mut found = quotes("output/a.json", &json.to_string());
        found.sort();
        assert_eq!(found, ["one two three", "seven eight nine"]);
        assert_eq!(
            quotes("output/a.jsonl", "{\"quote\": \"one two three\"}\n{\"quote\": \"x\"}\n{\"quote\": \"–\"}\n"),
            ["one two three", "x"]
        );
    }

    #[test]
    fn what_the_reader_does_not_see_is_no_quote() {
        let text =
            "It says \"kept for ten years\".\n\n<!--\n> Logs are kept for a year.\n\n\"kept for six years\" -->\n";
        assert_eq!(quotes("output/a.md", text), ["kept for ten years"]);
        assert_eq!(in_headings("output/a.md", "<!--\n# \"one two three\"\n-->"), Vec::<String>::new());
    }

    #[test]
    fn a_link_and_its_title_are_no_quote() {
        let text = "See [the policy](https://example.com/a_(b) \"The policy of the office\"), which says \"kept for ten years\".\n\
                    ![A scan](scan.png \"Page one of two\")\n\n[policy]: https://example.com \"The policy of the office\"\n\n\
                    A [list](of things, and \"words that do count\".\n";
        assert_eq!(quotes("output/a.md", text), ["kept for ten years", "words that do count"]);
    }

    #[test]
    fn headings_are_distinguished_from_the_text_around_them() {
        let text = "It says \"kept for ten years\".\n## Who is the \"sole and final owner\"?\n#\"one two three\"\n\n\
                    ```\n# \"four five six\"\n```\n";
        assert_eq!(quotes("output/a.md", text), ["kept for ten years", "one two three"]);
        assert_eq!(in_headings("output/a.md", text), ["sole and final owner"]);
        assert_eq!(in_headings("output/a.json", text), Vec::<String>::new());
    }

    #[test]
    fn a_block_quote_may_name_its_source() {
        let blocks = "> \"Invoices are kept for six years.\" (policy.md, page 3)\n\n> Logs are kept for a year.\n> — policy.md, page 4\n";
        let found = quotes("output/a.md", blocks);
        assert_eq!(found, ["Invoices are kept for six years.", "Logs are kept for a year. — policy.md, page 4"]);
        let documents = ["policy.md", "policy"];
        let whole = "Logs are kept for a year.";
        for (quote, meant) in [
            ("Logs are kept for a year. — policy.md, page 4", whole),
            ("Logs are kept for a year. (p. 4)", whole),
            ("Logs are kept for a year. [Policy, clause 4]", whole),
            ("Logs are kept for a year\" (section 4.2)", "Logs are kept for a year"),
        ] {
            assert!(forms(quote, &documents).contains(&meant), "{quote}: {:?}", forms(quote, &documents));
        }
        for quote in
            ["Logs are kept for a year (unless they are not)", "Logs are kept — by the office", "A term (policy.md)"]
        {
            let shorter = quote.split(['(', '—']).next().unwrap_or_default().trim_end();
            assert!(!forms(quote, &documents).contains(&shorter), "{quote}: {:?}", forms(quote, &documents));
        }
    }

    #[test]
    fn keys_of_json_that_hold_a_quote() {
        let json = json!({"a": {"verbatim_text": "one two three", "source_excerpt": "four five six", "answer": "\"seven eight nine\""}});
        let mut found = quotes("output/a.json", &json.to_string());
        found.sort();
        assert_eq!(found, ["four five six", "one two three"]);
    }

    #[test]
    fn words_beside_a_quote_may_name_its_source() {
        let text = "> Logs are kept\n> for a year.\n\n— policy.md, page 4\n\n> \"Invoices are kept for six years.\" (a.pdf, p. 3)\n\n\
                    It says \"kept for ten years\" (b.pdf, page 9), and \"for all of them\" elsewhere.\n";
        let source = |quote: Quoted| match quote.place.document {
            Some(SaidDocument::Words(words)) => words,
            Some(SaidDocument::Name(_)) | None => String::new(),
        };
        let sources: Vec<String> = super::quotes("output/a.md", text).into_iter().map(source).collect();
        assert_eq!(sources, ["policy.md, page 4", "a.pdf, p. 3", "b.pdf, page 9", ""]);
    }
}
