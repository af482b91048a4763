use super::*;

fn line(line: usize, page: Option<u32>, text: &str) -> Gold {
    Gold { line, document: "policy.pdf".into(), page, text: text.into(), ..Gold::default() }
}

fn quote(page: u32, text: &str) -> Vec<Quote> {
    vec![Quote { document: "input/policy.pdf".into(), page: Some(page), passage: Some(7), text: text.into() }]
}

fn found(gold: &[Gold], requirements: Vec<Vec<Quote>>) -> Evaluation {
    let run = Run { name: "r".into(), requirements, tokens: 1000, cost_usd: 0.5 };
    evaluate(gold, &run, false)
}

const RULE: &str = "The operator shall keep a log of all deliveries for ten years.";

#[test]
fn a_line_is_found_by_a_quote_that_contains_it_lies_in_it_or_shares_its_words() {
    let is_found = |text: &str| found(&[line(1, None, RULE)], vec![quote(1, text)]).found == 1;
    for text in [
        RULE,
        "Moreover: the OPERATOR shall keep a log of all deliver-\nies for ten years. The end of it is far away, and a day will come.",
        // It contains 8 of 12 words.
        "keep a log of all deliveries for ten",
        "The operator keeps a log of all deliveries for ten years",
    ] {
        assert!(is_found(text), "{text}");
    }
    for text in ["shall keep a log", "The owner may sell a log of wood for ten euros.", "", "…"] {
        assert!(!is_found(text), "{text}");
    }
}

#[test]
fn only_quotes_of_the_document_count() {
    let of = |document: &str| vec![Quote { document: document.into(), ..quote(1, RULE)[0].clone() }];
    for (document, expected) in
        [("policy.pdf", 1), ("input/policy.pdf", 1), ("input/other.pdf", 0), ("a/policy.pdf", 0)]
    {
        assert_eq!(found(&[line(1, None, RULE)], vec![of(document)]).found, expected, "{document}");
    }
}

#[test]
fn each_requirement_serves_one_line_the_best_first() {
    let gold = [line(1, None, "Keep a log of deliveries."), line(2, None, "Keep a log of deliveries and returns.")];
    let one = found(&gold, vec![quote(1, "Keep a log of deliveries and returns.")]);
    assert_eq!((one.found, one.missed[0].line, one.precision), (1, 1, Some(1.0)));
    let both =
        found(&gold, vec![quote(1, "Keep a log of deliveries and returns."), quote(1, "Keep a log of deliveries.")]);
    assert_eq!((both.found, both.matched, both.items), (2, 2, 2));
    // One requirement with two quotes is one requirement.
    let two = [quote(1, "Keep a log of deliveries and returns."), quote(1, "Keep a log of deliveries.")].concat();
    assert_eq!(found(&gold, vec![two]).found, 1);
}

#[test]
fn places_are_exact_or_not_and_lines_without_one_are_neither() {
    let passage = Gold { passage: Some(7), ..line(1, None, RULE) };
    for (gold, expected) in
        [(line(1, Some(3), RULE), 1), (line(1, Some(4), RULE), 0), (line(1, None, RULE), 0), (passage, 1)]
    {
        let found = found(std::slice::from_ref(&gold), vec![quote(3, RULE)]);
        assert_eq!((found.found, found.place_exact), (1, expected), "{gold:?}");
    }
}

#[test]
fn tenths_say_where_lines_are_lost() {
    let texts: Vec<String> = (0..20).map(|n| format!("rule{n} concerns thing{n} alone{n}")).collect();
    let gold: Vec<Gold> = texts.iter().zip(1..).map(|(text, n)| line(n, Some(n as u32), text)).collect();
    let requirements = texts.iter().take(9).map(|text| quote(1, text)).collect();
    let found = found(&gold, requirements);
    let tenths: Vec<(usize, usize, usize)> =
        found.by_tenth.iter().map(|tenth| (tenth.tenth, tenth.gold, tenth.found)).collect();
    assert_eq!(tenths[..6], [(1, 2, 2), (2, 2, 2), (3, 2, 2), (4, 2, 2), (5, 2, 1), (6, 2, 0)]);
    assert_eq!((found.recall, found.missed.len(), found.missed[0].page), (Some(0.45), 11, Some(10)));
}

#[test]
fn rates_are_none_where_they_would_divide_by_zero() {
    let nothing = found(&[], Vec::new());
    assert_eq!((nothing.recall, nothing.precision, nothing.cost_per_found_usd), (None, None, None));
    let missed = found(&[line(1, None, RULE)], vec![quote(1, "nothing of it")]);
    assert_eq!((missed.recall, missed.precision, missed.cost_per_found_usd), (Some(0.0), Some(0.0), None));
    let run = Run { requirements: vec![quote(1, RULE)], cost_usd: 0.5, ..Run::default() };
    let recall_only = evaluate(&[line(1, None, RULE)], &run, true);
    assert_eq!(
        (recall_only.recall, recall_only.precision, recall_only.cost_per_found_usd),
        (Some(1.0), None, Some(0.5))
    );
}

#[test]
fn a_list_is_read_line_by_line() {
    let list = "{\"document\": \"a.md\", \"text\": \"One.\", \"id\": \"x\"}\n\n{\"document\": \"a.md\", \"page\": 2, \"text\": \"Two.\"}\n";
    let lines = Gold::read(list).expect("a list");
    assert_eq!(lines.iter().map(|line| (line.line, line.page)).collect::<Vec<_>>(), [(1, None), (3, Some(2))]);
    let wrong = |list: &str| Gold::read(list).expect_err("it is none").to_string();
    assert!(wrong("\n{\"document\": \"a.md\"}").starts_with("line 2 is no line of a gold list (missing field `text`"));
    assert!(wrong("{\"document\": \"a.md\", \"text\": \" \"}").contains("its `text` is empty"));
}
