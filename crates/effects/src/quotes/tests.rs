use super::*;

const SOURCE: &str = "[page 3]\n\n# 2.1 Records\n\nThe controller shall keep docu-\nments for ten\nyears. A well-known\n\
rule: “re-\ncords” are \u{fb01}led – always – by the con\u{ad}troller. Pre- and post-audit checks count. The duty runs\n\n\
[page 4]\n\nover the page and con-\n\n[page 5]\n\ntinues here. The controller shall keep documents for ten years.\n";

fn found(page: u32) -> Match {
    Match::Found { page: Some(page) }
}

#[track_caller]
fn check(quote: &str, page: Option<u32>, expected: Match) {
    assert_eq!(SourceText::new(SOURCE).find(quote, page), expected, "{quote}");
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
fn a_quote_may_run_over_the_end_of_a_page() {
    check("The duty runs over the page", None, found(3));
    check("The duty runs over the page", Some(4), found(3));
    check("the page and continues here", Some(5), found(4));
    check("The duty runs over the page", Some(5), Match::OnOtherPage { page: 3 });
}

#[test]
fn the_page_named_decides_between_occurrences() {
    let quote = "The controller shall keep documents for ten years.";
    check(quote, None, found(3));
    check(quote, Some(3), found(3));
    check(quote, Some(5), found(5));
    check(quote, Some(4), Match::OnOtherPage { page: 3 });
}

#[test]
fn a_source_without_pages_has_no_pages_to_be_wrong_about() {
    let source = SourceText::new("Records shall be kept.");
    assert_eq!(source.find("Records shall be", Some(7)), Match::Found { page: None });
}

#[test]
fn short_quotes_are_refused() {
    for quote in ["", "   \n", "records", "a \n  b  \t c"] {
        check(quote, None, Match::TooShort);
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
    assert_eq!(source.find(&passage.text, passage.page), found(3));
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
