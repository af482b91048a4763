mod data;
mod idioms;
mod inline;
mod leads;
mod lists;
mod modals;
mod nominal;
mod requirements;
mod sentences;
mod tables;

use super::*;

/// Candidates among labelled sentences, one a line: `obligation` or `plain`, a tab, the sentence.
const LABELLED: &str = include_str!("../../../tests/fixtures/obligations.tsv");

#[test]
fn obligations_are_found_and_plain_sentences_are_left_alone() {
    let scan = Scan::default();
    let (mut missed, mut wrong, mut obligations, mut plain) = (Vec::new(), Vec::new(), 0, 0);
    for line in LABELLED.lines().filter(|line| !line.starts_with('#')) {
        let (label, sentence) = line.split_once('\t').expect("a label and a sentence");
        let found = scan.judge(sentence).is_some();
        match label {
            "obligation" => {
                (
                    obligations += 1,
                    if !found {
                        missed.push(sentence)
                    },
                )
                    .1
            }
            "plain" => {
                (
                    plain += 1,
                    if found {
                        wrong.push(sentence)
                    },
                )
                    .1
            }
            other => panic!("{other} is no label"),
        }
    }
    assert!(obligations > 200 && plain > 200, "{obligations} obligations, {plain} plain");
    let recall = 1.0 - missed.len() as f64 / f64::from(obligations);
    let false_rate = wrong.len() as f64 / f64::from(plain);
    assert!(recall >= 0.95, "recall {recall}, missed: {missed:#?}");
    assert!(false_rate <= 0.25, "false {false_rate}: {wrong:#?}");
}

/// The sentences of a text with page and reason.
fn scanned(text: &str) -> Vec<(Option<u32>, String, Option<&'static str>)> {
    let sentences = Scan::default().sentences(text);
    assert!(sentences.iter().zip(1..).all(|(sentence, number)| sentence.number == number), "numbers without gaps");
    sentences.into_iter().map(|sentence| (sentence.page, sentence.text, sentence.reason)).collect()
}

#[track_caller]
fn check(text: &str, expected: &[(u32, &str, Option<&'static str>)]) {
    let found = scanned(text);
    let found: Vec<_> = found.iter().map(|(page, text, reason)| (page.unwrap_or(0), text.as_str(), *reason)).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_sentence_continues_after_the_end_of_a_page() {
    check(
        "[page 3]\n\n# Duties\n\nThe operator shall keep the docu-\nments for\n\n[page 4]\n\nten years. The log is blue.\n",
        &[
            (3, "Duties", None),
            (3, "The operator shall keep the documents for ten years.", Some("shall")),
            (4, "The log is blue.", None),
        ],
    );
    // German nouns begin with a capital letter.
    check(
        "[page 1]\n\nDer Betreiber hat die\n\n[page 2]\n\nUnterlagen aufzubewahren.\n",
        &[(1, "Der Betreiber hat die Unterlagen aufzubewahren.", Some("hat zu"))],
    );
}

#[test]
fn what_a_footnote_parts_is_a_candidate_on_both_pages() {
    check(
        "[page 1]\n\nThe operator shall keep the\n\n1 Copies must be marked.\n\n[page 2]\n\noriginals for ten years. It rains.\n",
        &[
            (1, "The operator shall keep the", Some("shall")),
            (1, "1 Copies must be marked.", Some("must")),
            (2, "originals for ten years.", Some("continued")),
            (2, "It rains.", None),
        ],
    );
}

#[test]
fn entries_are_under_their_lead() {
    check(
        "The operator shall:\n\n- keep a log;\n- report:\n  - spills;\n  - fires.\n\nThe operator may:\n\n\
         - keep copies;\n- paint the fence.\n\nThe sky is blue:\n\n1. at noon;\n",
        &[
            (0, "The operator shall:", Some("shall")),
            (0, "keep a log;", Some("instruction")),
            (0, "report:", Some("list item")),
            (0, "spills;", Some("list item")),
            (0, "fires.", Some("list item")),
            (0, "The operator may:", None),
            (0, "keep copies;", None),
            (0, "paint the fence.", None),
            (0, "The sky is blue:", None),
            (0, "at noon;", None),
        ],
    );
}

#[test]
fn entries_without_marks_and_lists_marked_in_two_ways_are_entries_too() {
    check(
        "Records must show the following:\n\nthe date of receipt;\n\nthe quantity.\n\nThe page ends.\n",
        &[
            (0, "Records must show the following:", Some("must")),
            (0, "the date of receipt;", Some("list item")),
            (0, "the quantity.", Some("list item")),
            (0, "The page ends.", None),
        ],
    );
    check(
        "Der Halter hat\n\n- den Hund anzumelden;\n\nDer Halter hat:\n\n- den Hund anzumelden;\n- drei Katzen.\n",
        &[
            (0, "Der Halter hat", None),
            (0, "den Hund anzumelden;", Some("list item")),
            (0, "Der Halter hat:", None),
            (0, "den Hund anzumelden;", Some("list item")),
            (0, "drei Katzen.", None),
        ],
    );
    check(
        "Der Antrag muss enthalten:\n1. den Namen,\n2. die folgenden Angaben:\na) Ort,\nb) Zeit,\n3. das Datum.\n",
        &[
            (0, "Der Antrag muss enthalten:", Some("muss")),
            (0, "den Namen,", Some("list item")),
            (0, "die folgenden Angaben:", Some("list item")),
            (0, "Ort,", Some("list item")),
            (0, "Zeit,", Some("list item")),
            (0, "das Datum.", Some("list item")),
        ],
    );
}

#[test]
fn rows_are_known_by_the_names_of_their_columns() {
    check(
        "| No | Requirement | Level |\n| --- | --- | --- |\n| R1 | Signed firmware only | M |\n| R2 | Wall mount with screws | optional |\n\n\
         | Town | Note |\n| --- | --- |\n| Ulm | The spire is very tall |\n| Bonn | Boats must carry lights |\n",
        &[
            (0, "No | Requirement | Level", None),
            (0, "R1 | Signed firmware only | M", Some("table row")),
            (0, "R2 | Wall mount with screws | optional", None),
            (0, "Town | Note", None),
            (0, "Ulm | The spire is very tall", None),
            (0, "Bonn | Boats must carry lights", Some("must")),
        ],
    );
}

#[test]
fn titles_are_no_candidates_and_end_where_the_text_begins() {
    check(
        "RECORDS THAT MUST BE KEPT\nThe operator shall keep a log.\n\nWhat owners must know\n~~~~~~~~~~~~~~~~~~~~~\n\n4.2 Duties of owners\n\n\
         THE OWNER SHALL PAY.\n\n```\nmust = shall\n```\n",
        &[
            (0, "RECORDS THAT MUST BE KEPT", None),
            (0, "The operator shall keep a log.", Some("shall")),
            (0, "What owners must know", None),
            (0, "Duties of owners", None),
            (0, "THE OWNER SHALL PAY.", Some("shall")),
            (0, "must = shall", None),
        ],
    );
}

#[test]
fn ranges_give_the_positions_of_sentences() {
    let text = "[page 1]\n\n- The “first” item.\n  Its rest\n\n[page 2]\n\nends here. Ö.\n";
    let found: Vec<&str> = Scan::default().sentences(text).into_iter().map(|sentence| &text[sentence.range]).collect();
    assert_eq!(found, ["The “first” item.", "Its rest\n\n[page 2]\n\nends here.", "Ö."]);
}

#[test]
fn any_text_is_cut_without_a_panic_and_nothing_is_lost() {
    for text in [
        "",
        "\n\n",
        "|",
        "||",
        "| |\n|---|",
        "- ",
        "#",
        "# #",
        "1.",
        "...",
        "?!",
        "[page 1]",
        "ß-\nß",
        "a-",
        "“”",
        "```",
        "(a)",
    ] {
        Scan::default().sentences(text);
        Scan::default().judge(text);
    }
    let text = "# One\n\nTwo three. Four\nfive!\n\n- six\n\n| seven | eight |\n";
    let words: Vec<String> = scanned(text).into_iter().map(|(_, text, _)| text).collect();
    assert_eq!(words.join(" "), "One Two three. Four five! six seven | eight");
}

#[test]
fn patterns_of_a_configuration_add_to_the_scan() {
    let patterns = |list: &[&str]| {
        Scan::new(&list.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>(), DocumentStyle::Normative)
    };
    let scan = patterns(&[r"\bkindly requested\b"]).expect("a pattern");
    assert_eq!(scan.judge("Guests are Kindly Requested to leave."), Some("pattern"));
    assert_eq!(Scan::default().judge("Guests are kindly requested to leave."), None);
    let refused = |list: &[&str]| patterns(list).map(|_| ()).expect_err("it is refused").to_string();
    assert_eq!(refused(&["a", "("]), "the pattern 2 is none that can be used: unclosed group");
    assert_eq!(
        refused(&["x*"]),
        "the pattern 1 matches an empty text, and so every sentence; say what must stand there"
    );
    assert_eq!(refused(&["a"; 101]), "there are 101 patterns, and 100 is the most; join some of them with |");
    assert_eq!(refused(&[&"a".repeat(1001)]), "the pattern 1 has more than 1000 characters; make two of it");
    for costly in [vec!["(?:a{500}){500}"], vec![r"\w{60}x"; 100], vec!["a[ab ]{900}x"; 100]] {
        let costly = refused(&costly);
        assert!(costly.starts_with("the patterns cannot be used together: "), "{costly}");
    }
    assert_eq!(refused(&["(?:a{500}){500}", "("]), "the pattern 2 is none that can be used: unclosed group");
}

/// Sentences written to measure the scan, not made for it: a set, a label, the sentence.
const SETS: &str = include_str!("../../../tests/fixtures/scan_sets.tsv");

#[test]
fn the_scan_holds_its_targets_on_sets_that_it_was_not_made_for() {
    for (set, style, least, most) in [
        ("regulation", DocumentStyle::Normative, 0.95, 0.25),
        ("specification", DocumentStyle::Normative, 0.78, 0.30),
        ("policy", DocumentStyle::Policy, 0.9, 0.3),
    ] {
        let scan = Scan::new(&[], style).expect("no patterns");
        let of = |label: &str| -> Vec<&str> {
            let lines = SETS.lines().filter_map(|line| line.strip_prefix(set)?.trim_start().strip_prefix(label));
            lines.map(str::trim).collect()
        };
        let marked = |sentences: &[&str]| sentences.iter().filter(|text| scan.judge(text).is_some()).count() as f64;
        let (obligations, plain) = (of("obligation"), of("plain"));
        assert!(obligations.len() >= 20 && plain.len() >= 20, "{set}");
        let found = marked(&obligations) / obligations.len() as f64;
        let wrong = marked(&plain) / plain.len() as f64;
        assert!(found >= least && wrong <= most, "{set}: {found:.3} found, {wrong:.3} of the plain ones marked");
    }
}
