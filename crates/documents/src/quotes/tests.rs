use super::*;

const SOURCE: &str = "[page 3]\n\n# 2.1 Records\n\nThe controller shall keep docu-\nments for ten\nyears. A well-known\n\
rule: “re-\ncords” are \u{fb01}led – always – by the con\u{ad}troller. Pre- and post-audit checks count. The duty runs\n\n\
[page 4]\n\nover the page and con-\n\n[page 5]\n\ntinues here. The controller shall keep documents for ten years.\n";

/// Where a quote is, as far as its pages go.
#[derive(Debug, PartialEq)]
enum Place {
    On(Option<u32>),
    NotThereBut(Option<u32>),
    Nowhere,
}

fn place(answer: &Match) -> Place {
    match answer {
        Match::Found(found) => Place::On(found.page),
        Match::OnOtherPage(found) => Place::NotThereBut(found.page),
        Match::NotFound { .. } | Match::TooShort => Place::Nowhere,
    }
}

fn found(page: u32) -> Place {
    Place::On(Some(page))
}

#[track_caller]
fn check(quote: &str, page: Option<u32>, expected: Place) {
    assert_eq!(place(&SourceText::new(SOURCE).find(quote, page)), expected, "{quote}");
}

#[test]
fn a_quote_is_given_as_the_source_has_it() {
    for (quote, text, pages) in [
        (
            "rule: \"records\" are filed - always",
            "rule: \u{201c}records\u{201d} are \u{fb01}led \u{2013} always",
            (3, 3),
        ),
        ("shall keep documents for ten years", "shall keep documents for ten years", (3, 3)),
        ("Pre- and post-audit checks", "Pre- and post-audit checks", (3, 3)),
        ("A well-known rule", "A well-known rule", (3, 3)),
        ("The duty runs over the page and continues here.", "The duty runs over the page and continues here.", (3, 5)),
        ("documents for ten years.", "documents for ten years.", (3, 3)),
        ("2.1 Records The controller", "2.1 Records The controller", (3, 3)),
    ] {
        let Match::Found(found) = SourceText::new(SOURCE).find(quote, None) else { panic!("{quote} is there") };
        assert_eq!((found.text.as_str(), found.page, found.page_to), (text, Some(pages.0), Some(pages.1)), "{quote}");
        let again = SourceText::new(SOURCE).find(&found.text, None);
        assert!(matches!(&again, Match::Found(same) if *same == found), "{quote}: {again:?}");
    }
}

#[test]
fn the_sentences_around_a_quote_come_with_it() {
    let source = SourceText::new(
        "[page 1]\n\nOne comes first. Two is\nbefore it. The records must be kept. Four\nfollows. Five is far.\n",
    );
    let Match::Found(found) = source.find("The records must be kept.", None) else { panic!("it is there") };
    assert_eq!((found.before.as_str(), found.after.as_str()), ("Two is before it.", "Four follows."));
    let Match::Found(first) = source.find("One comes first.", None) else { panic!("it is there") };
    assert_eq!((first.before.as_str(), first.after.as_str()), ("", "Two is before it."));
}

#[test]
fn typesetting_is_forgiven() {
    for quote in [
        "shall keep documents for ten years",
        "shall  keep\n docu-\nments for\tten years",
        "A well-known rule",
        "A well-\nknown rule",
        "rule: \"records\" are filed - always - by the controller",
        "rule: \u{ab}re-cords\u{bb} are filed",
        "\u{fb01}led \u{2014} always",
        "Pre- and post-audit checks",
        "2.1 Records The controller",
    ] {
        check(quote, None, found(3));
    }
}

#[test]
fn nothing_else_is_forgiven() {
    for quote in [
        "The Controller shall keep",
        "shall keep document for ten",
        "shall keep documents for two years",
        "A wellknown rule",
        "A well known rule",
        "hall keep documents",
        "are filed - alwa",
        "shall keep documents for ten years!",
        "postaudit checks count",
    ] {
        let answer = SourceText::new(SOURCE).find(quote, None);
        assert!(matches!(answer, Match::NotFound { .. }), "{quote}: {answer:?}");
    }
}

#[test]
fn a_parted_word_is_written_as_the_text_has_it_elsewhere() {
    let source = SourceText::new("A non-\nexclusive licence, a docu-\nment. Each non-exclusive right.");
    for quote in ["A non-exclusive licence", "A nonexclusive licence"] {
        let Match::Found(found) = source.find(quote, None) else { panic!("{quote} is there") };
        assert_eq!((found.text.as_str(), found.after.as_str()), ("A non-exclusive licence", ", a document."));
    }
    assert!(matches!(source.find("Each nonexclusive right", None), Match::NotFound { .. }), "no line ends there");
}

#[test]
fn places_that_differ_in_hyphens_alone_are_named_with_the_words_in_question() {
    let source =
        SourceText::new("[page 1]\n\nA well-known nonexclusive rule.\n\n[page 2]\n\nA wellknown non-exclusive rule.\n");
    let places = source.find_but_for_hyphens("A well-known non-exclusive rule.", Some(2));
    let words = |left: &str, right: &str| (left.to_owned(), right.to_owned());
    let known: Vec<_> = places.iter().map(|place| (place.pages, place.words.clone())).collect();
    assert_eq!(known, [(Some((2, 2)), vec![words("well", "known")]), (Some((1, 1)), vec![words("non", "exclusive")])]);
    assert!(matches!((&places[0].answer, &places[1].answer), (Match::Found(_), Match::OnOtherPage(_))));
    for other in ["A well known nonexclusive rule.", "A well-known exclusive rule.", "ell-known nonexclusive rule."] {
        assert_eq!(source.find_but_for_hyphens(other, None), [], "{other}");
    }
    let lines = SourceText::new("[page 1]\n\nA non-\nexclusive rule, well-known.");
    assert!(lines.parts(&words("non", "exclusive")) && !lines.parts(&words("well", "known")));
}

#[test]
fn a_quote_may_run_over_the_end_of_a_page() {
    check("The duty runs over the page", None, found(3));
    check("The duty runs over the page", Some(4), found(3));
    check("the page and continues here", Some(5), found(4));
    check("The duty runs over the page", Some(5), Place::NotThereBut(Some(3)));
}

#[test]
fn the_page_named_decides_between_occurrences() {
    let quote = "The controller shall keep documents for ten years.";
    check(quote, None, found(3));
    check(quote, Some(3), found(3));
    check(quote, Some(5), found(5));
    check(quote, Some(4), Place::NotThereBut(Some(3)));
}

#[test]
fn a_source_without_pages_has_no_pages_to_be_wrong_about() {
    let source = SourceText::new("Records shall be kept.");
    assert_eq!(place(&source.find("Records shall be", Some(7))), Place::On(None));
}

#[test]
fn short_quotes_are_refused() {
    for quote in ["", "   \n", "records", "a \n  b  \t c"] {
        assert_eq!(SourceText::new(SOURCE).find(quote, None), Match::TooShort, "{quote}");
    }
}

#[test]
fn a_refusal_names_the_nearest_passage_and_quoting_that_succeeds() {
    let source = SourceText::new(SOURCE);
    let Match::NotFound { nearest: Some(passage) } =
        source.find("The controller must keep all documents for six years", None)
    else {
        panic!("a passage is near");
    };
    assert_eq!((passage.page, passage.text.as_str()), (Some(3), "The controller shall keep documents for ten years."));
    assert!(passage.similarity > 0.6 && passage.similarity < 1.0, "{}", passage.similarity);
    assert_eq!(place(&source.find(&passage.text, passage.page)), found(3));
    let unlike = source.find("Completely unrelated gibberish about penguins", None);
    assert_eq!(unlike, Match::NotFound { nearest: None });
    assert_eq!(SourceText::new("").find("anything at all", None), Match::NotFound { nearest: None });
}

#[test]
fn case_alone_is_shown_as_alike() {
    let Match::NotFound { nearest: Some(passage) } = SourceText::new(SOURCE).find("a WELL-KNOWN rule:", None) else {
        panic!("only the case differs");
    };
    assert_eq!(passage.text, "A well-known rule:");
    assert!((passage.similarity - 1.0).abs() < 1e-9);
}

#[test]
fn a_place_is_given_in_the_bytes_of_the_text() {
    let source = SourceText::new(SOURCE);
    let at = |quote: &str, page: Option<u32>| source.place(quote, page).map(|range| &SOURCE[range]);
    let keep = "The controller shall keep documents for ten years.";
    assert_eq!(at(keep, None), Some("The controller shall keep docu-\nments for ten\nyears."));
    assert_eq!(at(keep, Some(5)), Some(keep), "the page named decides");
    assert_eq!(at(keep, Some(4)), None);
    assert_eq!(at("rule: \"records\" are filed", Some(3)), Some("rule: “re-\ncords” are \u{fb01}led"));
    let over = at("The duty runs over the page and continues here.", Some(3)).expect("it begins there");
    assert!(over.starts_with("The duty runs\n\n[page 4]") && over.ends_with("[page 5]\n\ntinues here."), "{over}");
    assert_eq!((at("", None), at("never said", None)), (None, None));
}

#[test]
fn a_place_in_a_line_without_end_is_found() {
    let line = "Nobody minds this sen-tence. ".repeat(2_000) + "Records shall be kept - always.";
    let source = SourceText::new(&line);
    let place = source.place("Records shall be kept \u{2013} always.", None).expect("it is there");
    assert_eq!(&line[place], "Records shall be kept - always.");
}

#[test]
fn composed_and_decomposed_letters_are_the_same() {
    let source = SourceText::new("Belege mu\u{308}ssen zehn Jahre aufbewahrt werden.");
    for quote in ["Belege m\u{fc}ssen zehn Jahre", "Belege mu\u{308}ssen zehn Jahre"] {
        assert!(matches!(source.find(quote, None), Match::Found(_)), "{quote}");
        assert!(source.contains(quote) && source.place(quote, None).is_some());
    }
    assert_eq!(comparable("mu\u{308}ssen"), comparable("m\u{fc}ssen"));
}
