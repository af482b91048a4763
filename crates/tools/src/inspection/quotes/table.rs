//! Quotes in tables: the rows of CSV, and those of Markdown, each with the place that the other cells of its row give.

use super::json::{beside, marks_of};
use super::{Quoted, SaidPlace, quotation_marks};
use serde_json::{Map, Value};

/// German words of headers, and the words of keys in JSON that mean the same.
const MEANINGS: [(&str, &str); 9] = [
    ("dokument", "document"),
    ("datei", "file"),
    ("quelle", "source"),
    ("fundstelle", "reference"),
    ("seite", "page"),
    ("seiten", "pages"),
    ("nr", "number"),
    ("zitat", "quote"),
    ("wortlaut", "verbatim"),
];

/// The quotes of CSV, whose first row has the names of the columns: the cells of a column of quotes, and words in
/// quotation marks in other cells.
pub(super) fn of_csv(text: &str, found: &mut Vec<Quoted>) {
    let mut rows = plumbline_documents::table_rows(text).into_iter();
    let keys = rows.next().map(|header| keys(&header)).unwrap_or_default();
    for cells in rows {
        let fields = fields(&keys, &cells);
        for (key, cell) in keys.iter().zip(&cells) {
            match marks_of(key) {
                Some(marks) => {
                    let place = beside(&fields, &marks, &SaidPlace::default());
                    found.push(Quoted { text: cell.clone(), place, is_value: true });
                }
                None => in_marks(&fields, cell, &[], found),
            }
        }
    }
}

/// The quotes of a paragraph: words in quotation marks, in a table with the place that their row gives.
pub(super) fn of_paragraph(paragraph: &str, found: &mut Vec<Quoted>) {
    let lines: Vec<&str> = paragraph.lines().collect();
    let Some(rule) = lines.iter().position(|line| is_rule(line)).filter(|rule| *rule > 0) else {
        return quotation_marks::in_marks(paragraph, found);
    };
    quotation_marks::in_marks(&lines[..rule].join("\n"), found);
    let keys = keys(&cells_of(lines[rule - 1]));
    for line in &lines[rule + 1..] {
        let cells = cells_of(line);
        let fields = fields(&keys, &cells);
        for (at, cell) in cells.iter().enumerate() {
            let marks = keys.get(at).and_then(|key| marks_of(key)).unwrap_or_default();
            in_marks(&fields, cell, &marks, found);
        }
    }
}

/// The quotes in quotation marks in a cell. A source behind a quote has precedence over the row; a column may name the
/// subject of the row, so its words are a document only if they name one.
fn in_marks(fields: &Map<String, Value>, cell: &str, marks: &[String], found: &mut Vec<Quoted>) {
    let before = found.len();
    quotation_marks::in_marks(cell, found);
    for quote in &mut found[before..] {
        if quote.place == SaidPlace::default() {
            quote.place = beside(fields, marks, &SaidPlace::default()).seen_from_below();
        }
    }
}

/// The line below the header of a table: `|---|:-:|`.
fn is_rule(line: &str) -> bool {
    line.contains("-") && line.contains('|') && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))
}

/// The cells of a row; `\|` is a bar in a cell.
fn cells_of(line: &str) -> Vec<String> {
    let line = line.trim().replace("\\|", "\0");
    let line = line.strip_prefix('|').unwrap_or(&line);
    let cells = line.strip_suffix('|').unwrap_or(line).split('|');
    cells.map(|cell| cell.trim().replace('\0', "|")).collect()
}

/// The names of columns as keys of JSON: `Source document` is `source_document`, `Seite` is `page`.
fn keys(header: &[String]) -> Vec<String> {
    let meaning = |word: &str| {
        let word = word.to_lowercase();
        MEANINGS.iter().find(|(german, _)| *german == word).map_or(word, |(_, meaning)| (*meaning).to_owned())
    };
    let key = |name: &String| {
        let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(meaning).collect::<Vec<_>>().join("_")
    };
    header.iter().map(key).collect()
}

fn fields(keys: &[String], cells: &[String]) -> Map<String, Value> {
    keys.iter().zip(cells).map(|(key, cell)| (key.clone(), Value::String(cell.clone()))).collect()
}

#[cfg(test)]
mod tests {
    use super::{of_csv, of_paragraph};
    use crate::inspection::quotes::{Quoted, SaidDocument};

    type Place<'a> = (&'a str, Option<&'a str>, Vec<u32>);

    #[track_caller]
    fn check(find: fn(&str, &mut Vec<Quoted>), text: &str, expected: &[Place<'_>]) {
        let mut found = Vec::new();
        find(text, &mut found);
        let places = found.iter().map(|Quoted { text, place, .. }| {
            let document = place.document.as_ref().map(|document| match document {
                SaidDocument::Name(name) | SaidDocument::Words(name) => name.as_str(),
            });
            (text.as_str(), document, place.pages.clone())
        });
        assert_eq!(places.collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn a_row_of_markdown_gives_the_place_of_its_quotes() {
        for header in
            ["Finding | Quote | Document | Page", "Befund | Zitat | Dokument | Seite", "A | B | Source file | Page no."]
        {
            let table = format!(
                "See:\n| {header} |\n| --- | :-: | --- | --- |\n| it \\| that | \"one two three\" | a.pdf | 3 |"
            );
            check(of_paragraph, &table, &[("one two three", Some("a.pdf"), vec![3])]);
        }
        check(
            of_paragraph,
            "Quote A | Page A | Quote B | Page B\n--- | --- | --- | ---\n\"one two\" | 1 | \"three\" (b.pdf) | 2",
            &[("one two", None, vec![1]), ("three", Some("b.pdf"), vec![])],
        );
        check(of_paragraph, "No table: \"one two\" | 3", &[("one two", None, vec![])]);
    }

    #[test]
    fn a_column_of_csv_has_quotes() {
        for table in [
            "id,quote,document,page\n1,\"one, two\",a.pdf,3\n",
            "Id;Zitat;Datei;Seite\n1;one, two;a.pdf;Seite 3\n",
            "id\tverbatim text\tsource\tpages\n1\tone, two\ta.pdf\t3\n",
        ] {
            check(of_csv, table, &[("one, two", Some("a.pdf"), vec![3])]);
        }
        let other = "id,answer,page\n1,\"It says \"\"one two\"\", yes\",3\n2,\"no quote, but a cell\",4\n";
        check(of_csv, other, &[("one two", None, vec![3])]);
    }
}
