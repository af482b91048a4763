#[allow(dead_code, reason = "the ledger is held against it")]
mod model;
pub(crate) mod walk;

use super::*;
use crate::Todo;

const TEXT: &str = "<!-- source: input/policy.pdf | pages: 3-4 -->\n[page 3]\n\nInvoices must be kept for ten years, in order. \
                    The controller keeps a list of them and shows it to the auditor on demand.\n[page 4]\nIt is signed.";

fn passage(number: i32, text: &str, candidates: &[&str]) -> Passage {
    let candidate =
        |(sentence, text): (i32, &&str)| Candidate { sentence, text: (*text).into(), ..Candidate::default() };
    Passage {
        pages: Some((3, 4)),
        sha256: {
            let mut hash = [0; 32];
            hash[..8].copy_from_slice(&blocks(text).first().map_or(0, |block| block.hash).to_be_bytes());
            hash
        },
        chunk_path: Some(format!("chunks/chunk_{number:03}.md")),
        blocks: blocks(text),
        unseen: blocks(text),
        candidates: (1..).zip(candidates).map(candidate).collect(),
        ..Passage::unread(number, "input/policy.pdf", number)
    }
}

fn ledger(passages: Vec<Passage>) -> Ledger {
    let mut ledger = Ledger::default();
    ledger.cut(CutDocument { document: "input/policy.pdf".into(), passages }, 1);
    ledger.take_changes();
    ledger
}

fn state(ledger: &Ledger, number: i32) -> (PassageState, Option<AnsweredPassage>) {
    let passage = ledger.get(number).expect("it is there");
    (passage.state, passage.answered_by)
}

#[test]
fn a_passage_is_read_when_results_have_shown_all_of_it_in_whatever_parts() {
    let mut ledger = ledger(vec![passage(1, TEXT, &["Invoices must be kept for ten years, in order."])]);
    let half = TEXT.find("keeps a list").expect("it is in the text");
    // Other line breaks, sentence numbers, another first line: the same text.
    let first = format!("[chunks/policy.md: lines 1-3]\n[1] {}", TEXT[47..half + 40].replace(' ', "\n"));
    ledger.shown(&first, 5);
    assert_eq!(state(&ledger, 1), (PassageState::Unread, None), "half of it is not all of it");
    ledger.shown(&TEXT[half - 20..TEXT.len() - 8], 6);
    assert_eq!(state(&ledger, 1), (PassageState::Unread, None), "the last words were cut off");
    ledger.shown(&TEXT[half - 20..], 7);
    assert_eq!(state(&ledger, 1), (PassageState::Read, None));
    assert_eq!(ledger.get(1).expect("it is there").read_step, Some(7));
}

#[test]
fn a_passage_is_answered_only_after_it_was_read() {
    let mut ledger = ledger(vec![passage(1, TEXT, &["Invoices must be kept.", "The controller keeps a list."])]);
    ledger.delivered(&[Touched { passage: 1, from: 1, to: 2 }], 3);
    assert_eq!(state(&ledger, 1), (PassageState::Unread, None), "a quote alone does not say that it was read");
    assert!(ledger.close(1, "it only defines words", 4).expect_err("it was not read").contains("chunks/chunk_001.md"));
    ledger.shown(TEXT, 5);
    assert_eq!(state(&ledger, 1), (PassageState::Answered, Some(AnsweredPassage::Citation)));
}

#[test]
fn one_quote_of_a_passage_with_two_candidates_does_not_answer_it() {
    let mut ledger = ledger(vec![passage(1, TEXT, &["Invoices must be kept.", "The controller keeps a list."])]);
    ledger.shown(TEXT, 2);
    ledger.delivered(&[Touched { passage: 1, from: 1, to: 1 }], 3);
    assert_eq!(state(&ledger, 1), (PassageState::Read, None));
    ledger.close(1, "the second only repeats the first", 4).expect("it was read");
    assert_eq!(state(&ledger, 1), (PassageState::Answered, Some(AnsweredPassage::Closed)));
    assert_eq!(ledger.get(1).expect("it is there").reason.as_deref(), Some("the second only repeats the first"));
}

#[test]
fn a_quote_over_a_whole_passage_answers_for_none_of_it() {
    let candidates: Vec<String> = (1..=12).map(|n| format!("Record {n} must be kept.")).collect();
    let candidates: Vec<&str> = candidates.iter().map(String::as_str).collect();
    let mut ledger = ledger(vec![passage(1, TEXT, &candidates)]);
    ledger.shown(TEXT, 2);
    ledger.delivered(&[Touched { passage: 1, from: 1, to: 1 + LONGEST_QUOTE }], 3);
    assert_eq!(ledger.get(1).expect("it is there").open_candidates().count(), 12);
    ledger.delivered(&[Touched { passage: 1, from: 1, to: LONGEST_QUOTE }], 4);
    assert_eq!(ledger.get(1).expect("it is there").open_candidates().count(), 6);
}

#[test]
fn one_quote_is_no_leave_to_close_the_rest() {
    let candidates = ["One must.", "Two must.", "Three must.", "Four must.", "Five must."];
    let mut ledger = ledger(vec![passage(1, TEXT, &candidates)]);
    ledger.shown(TEXT, 2);
    ledger.delivered(&[Touched { passage: 1, from: 1, to: 1 }], 3);
    let mut enough = ledger.clone();
    enough.delivered(&[Touched { passage: 1, from: 1, to: 2 }], 4);
    for (ledger, share) in [(&mut ledger, 1.0), (&mut enough, 0.0)] {
        ledger.close(1, "the others only repeat it", 5).expect("it was read");
        assert_eq!(ledger.counts().hardly_covered().1, share);
    }
}

#[test]
fn a_citation_alone_says_that_a_sentence_was_seen_and_a_quote_that_is_gone_answers_no_more() {
    let mut ledger = ledger(vec![passage(1, TEXT, &["Invoices must be kept.", "The controller keeps a list."])]);
    let both = [Touched { passage: 1, from: 1, to: 2 }];
    ledger.shown(TEXT, 2);
    let todo = Todo { passages: vec![1], ..Todo::pending(1, "Read it") };
    ledger.cited(&both[..], 3);
    assert_eq!(state(&ledger, 1), (PassageState::Read, None));
    assert_eq!(ledger.open_of(&todo).count(), 0, "no work on it is left for a todo");
    ledger.delivered(&both, 4);
    assert_eq!(state(&ledger, 1), (PassageState::Answered, Some(AnsweredPassage::Citation)));
    ledger.delivered(&[Touched { passage: 1, from: 1, to: 1 }], 5);
    assert_eq!(state(&ledger, 1), (PassageState::Read, None));
    assert_eq!(ledger.counts().answered, 0);
}

#[test]
fn a_passage_without_candidates_is_read_all_the_same_and_one_without_text_is_never_read() {
    let nothing =
        Passage { chunk_path: None, unseen: Vec::new(), reason: Some("no text".into()), ..passage(2, "", &[]) };
    let mut ledger = ledger(vec![passage(1, TEXT, &[]), nothing]);
    assert_eq!(state(&ledger, 1), (PassageState::Unread, None));
    ledger.shown(TEXT, 2);
    assert_eq!(state(&ledger, 1), (PassageState::Answered, Some(AnsweredPassage::Empty)));
    assert_eq!(state(&ledger, 2), (PassageState::Unread, None));
    assert!(ledger.close(2, "it only defines words", 4).expect_err("it has no text").contains("undelivered"));
}

#[test]
fn a_document_cut_again_keeps_the_progress_of_equal_texts() {
    let other = "Nobody else may see them, whatever he is told by whom and for which reason it may be.";
    let mut ledger = ledger(vec![passage(1, TEXT, &[]), passage(2, other, &["Nobody else may see them."])]);
    ledger.shown(TEXT, 2);
    ledger.take_changes();
    let cut = CutDocument { document: "input/policy.pdf".into(), passages: vec![passage(3, TEXT, &[])] };
    ledger.cut(cut, 3);
    assert_eq!(state(&ledger, 3), (PassageState::Answered, Some(AnsweredPassage::Empty)));
    assert_eq!(ledger.get(3).expect("it is there").read_step, Some(2));
    let (put, dropped) = ledger.take_changes();
    assert_eq!((put.len(), dropped), (1, vec![1, 2]));
}

#[test]
fn blocks_cover_every_word_and_survive_their_storage() {
    let numbers: Vec<String> = (0..19).map(|n| format!("word{n}")).collect();
    for length in [1, 3, 8, 9, 16, 19] {
        let text = numbers[..length].join(" ");
        let all = blocks(&text);
        assert_eq!(Block::from_bytes(&Block::to_bytes(&all)), all);
        let mut ledger = ledger(vec![passage(1, &text, &[])]);
        ledger.shown(&format!("before {} after", numbers[..length - 1].join(", ")), 2);
        assert_eq!(state(&ledger, 1).0, PassageState::Unread, "{length}: the last word is missing");
        ledger.shown(&format!("before {} after", text.to_uppercase()), 3);
        assert_eq!(state(&ledger, 1).0, PassageState::Answered, "{length}");
    }
    assert!(blocks("[page 3]\n\n[12] ").is_empty(), "marks are no words");
}

#[test]
fn a_passage_that_is_not_judged_is_answered_by_a_closing_alone() {
    let text = "Les factures doivent \u{ea}tre conserv\u{e9}es dix ans.";
    let mixed = format!("{text} Invoices must be kept.");
    let not_judged =
        |number, text: &str, candidates: &[&str]| Passage { judged: false, ..passage(number, text, candidates) };
    let mut ledger = ledger(vec![not_judged(1, text, &[]), not_judged(2, &mixed, &["Invoices must be kept."])]);
    ledger.shown(&mixed, 2);
    ledger.delivered(&[Touched { passage: 2, from: 1, to: 1 }], 3);
    assert_eq!(state(&ledger, 1), (PassageState::Read, None));
    assert_eq!(state(&ledger, 2), (PassageState::Read, None));
    assert!(
        worst(&ledger, &Scope::Job)
            .contains("passage 1 (chunks/chunk_001.md, pages 3-4): read, no candidate sentences; close it")
    );
    assert!(document_lines(&ledger).concat().contains("no candidates are looked for in all of 1, 2"));
    ledger.close(1, "French; it was recorded", 4).expect("it was read");
    assert_eq!(state(&ledger, 1), (PassageState::Answered, Some(AnsweredPassage::Closed)));
}

/// A requirement of step 2 with a quote that was placed at this sentence of passage 1.
fn quoting_at(sentence: i32) -> StandingRequirement {
    let places = vec![Touched { passage: 1, from: sentence, to: sentence }];
    let quote = PlacedQuote {
        source: "input/policy.pdf".into(),
        words: "Invoices must be kept.".into(),
        places: places.into(),
    };
    StandingRequirement {
        number: 1,
        candidate_id: "req_1".into(),
        text: "".into(),
        tags: Box::default(),
        quotes: [quote].into(),
        placed_step: 2,
    }
}

#[test]
fn a_quote_touches_its_words_whether_the_document_was_cut_before_or_after_it() {
    let text = "The auditor is shown each record. Invoices must be kept.";
    let cut = passage(1, text, &["The auditor is shown each record.", "Invoices must be kept."]);
    let passages = BTreeMap::from([(1, Passage { cut_step: 2, ..cut })]);
    // After the cut the sentence is the second; before the cut it was the first of the passage.
    for sentence in [2, 1] {
        assert_eq!(*standing::Row::of(quoting_at(sentence), &passages).touched, [(1, 2)]);
    }
}

#[test]
fn a_quote_begins_where_its_words_are_after_a_later_cut() {
    let text = "The auditor is shown each record. Invoices must be kept.";
    let standing = quoting_at(1);
    let passages = [passage(1, "Scope.", &["Scope."]), passage(2, text, &["Invoices must be kept."])];
    let passages = passages.into_iter().map(|passage| (passage.number, Passage { cut_step: 3, ..passage })).collect();
    let row = standing::Row::of(standing, &passages);
    assert_eq!((row.first, row.begun), (Some((2, 1)), [2].into()));
}

#[test]
fn a_passage_that_older_rules_answered_is_known_until_it_is_decided() {
    let mut old = passage(1, TEXT, &["Invoices must be kept for ten years, in order."]);
    // As a retry leaves it; no requirement covers its candidate.
    (old.state, old.read_step, old.unseen) = (PassageState::Read, Some(2), Vec::new());
    (old.carried_from, old.candidates[0].cited_step) = (Some(AnsweredPassage::Citation), Some(3));
    let ledger = Ledger::load(vec![old], Vec::new(), 0, true, 5);
    let mut old = ledger.get(1).expect("it is there").clone();
    assert_eq!((old.state, old.candidates[0].cited_step), (PassageState::Read, None));
    assert_eq!(old.carried_from, Some(AnsweredPassage::Citation), "the opening says that it is worked anew");
    old.answer(AnsweredPassage::Closed, 6);
    assert_eq!(old.carried_from, None);
}
