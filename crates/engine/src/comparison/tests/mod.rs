//! Texts and their quotes, and the reasons for a look.

use super::*;

mod honest;
mod numbers;

fn of(text: &str, quotes: &[&str]) -> Compared {
    Compared {
        text: text.to_owned(),
        quotes: quotes.iter().map(|quote| (*quote).to_owned()).collect(),
        has_sources: true,
        ..Compared::default()
    }
}

/// The kinds of reasons: `w`ords, `n`umber, number left `o`ut, negation (`-`), negation left out (`+`), `p`ermission.
fn kinds(compared: &Compared) -> String {
    let kind = |reason: Reason| match reason {
        Reason::NoQuote => 'c',
        Reason::Words { .. } => 'w',
        Reason::Number(_) => 'n',
        Reason::NumberLeftOut(_) => 'o',
        Reason::Negation => '-',
        Reason::NegationLeftOut => '+',
        Reason::Permission => 'p',
    };
    compared.reasons().into_iter().map(kind).collect()
}

#[track_caller]
fn check(cases: &[(&str, &str, &str)]) {
    for (text, quote, expected) in cases {
        let compared = of(text, &[quote]);
        assert_eq!(kinds(&compared), *expected, "{text:?} beside {quote:?}: {:?}", compared.reasons());
        // The space behind it keeps it from being taken for its quote at once.
        assert_eq!(kinds(&of(&format!("{quote} "), &[quote])), "", "a quote says what it says: {quote:?}");
    }
}

#[test]
fn words_are_compared_by_their_beginnings() {
    check(&[
        ("Invoices must be retained for ten years.", "Invoices shall be kept for ten years.", ""),
        ("Everybody must comply with these Rules.", "The Fund Manager must notify the Regulator of any change.", "w"),
        ("Keep all invoices.", "Every invoice must be kept in a safe place.", ""),
        ("Guard the premises.", "Every invoice must be kept in a safe place.", "w"),
        (
            "Die Aufbewahrungsfrist für Rechnungen muss eingehalten werden.",
            "Rechnungen müssen zur Aufbewahrung gegeben werden.",
            "",
        ),
        ("Belege müssen unveränderbar gespeichert sein.", "Der Fonds zahlt Gebühren an den Verwalter.", "w"),
        ("A fund must file a log.", "Funds must file logs.", ""),
        ("— — — — — — — — — — — —", "Funds must file logs.", "w"),
    ]);
}

#[test]
fn words_may_come_from_leads_neighbours_and_headings() {
    let text = "The Fund Manager must ensure that the prospectus contains the investment objective.";
    let mut entry = of(text, &["the investment objective;"]);
    assert_eq!(kinds(&entry), "w");
    entry.leads = vec!["The Fund Manager must ensure that the prospectus contains:".to_owned()];
    assert_eq!(kinds(&entry), "");
    (entry.near, entry.leads) = (std::mem::take(&mut entry.leads), Vec::new());
    assert_eq!(kinds(&entry), "");
    (entry.headings, entry.near) = (std::mem::take(&mut entry.near), Vec::new());
    assert_eq!(kinds(&entry), "");
}

#[test]
fn a_text_in_another_language_is_held_to_numbers_and_negations_alone() {
    let quote = "Belege sind zehn Jahre aufzubewahren und dürfen nicht gelöscht werden.";
    let english = |text: &str| Compared { translated: true, ..of(text, &[quote]) };
    assert_eq!(kinds(&english("Receipts must be kept for 10 years and must not be deleted.")), "");
    assert_eq!(kinds(&english("Receipts must be kept for 6 years and must not be deleted.")), "n");
    assert_eq!(kinds(&english("Receipts must be kept for ten years and must be deleted.")), "+");
    let french = Compared {
        without_rules: true,
        ..of("Invoices must never be deleted within ten years.", &["Les factures ne doivent pas être supprimées."])
    };
    assert_eq!(kinds(&Compared { translated: true, ..french }), "", "what a language without rules says is not known");
}

#[test]
fn one_negation_is_as_good_as_another() {
    check(&[
        ("Records must never be deleted.", "Records must not be deleted.", ""),
        ("Records must not be deleted.", "No record may be deleted.", ""),
        ("The fund need not notify the Regulator.", "The fund must notify the Regulator.", "-p"),
        ("Records can't be deleted.", "Deleting records is prohibited.", ""),
        ("Records must be deleted.", "Records must not be deleted.", "+"),
        ("Belege dürfen nie gelöscht werden.", "Kein Beleg darf gelöscht werden.", ""),
        ("Belege dürfen nicht gelöscht werden.", "Belege müssen gelöscht werden.", "-"),
        ("Belege müssen gelöscht werden.", "Belege dürfen nicht gelöscht werden.", "+"),
        ("The report must be sent no later than Friday.", "The report must be sent by Friday.", ""),
        ("The report must be sent by Friday.", "The report must be sent not later than Friday.", ""),
        ("Die Meldung muss bis Freitag erfolgen.", "Die Meldung muss nicht später als Freitag erfolgen.", ""),
        ("The fund must follow the regulation.", "The fund must follow Regulation No 5.", ""),
        ("Fees must be shown, whether or not paid.", "Fees must be shown.", ""),
        ("The fund cannot but file the report.", "The fund must file the report.", ""),
        ("The fund shall not fail to file the report.", "The fund must file the report.", ""),
        ("Der Fonds kommt nicht umhin, den Bericht zu melden.", "Der Fonds muss den Bericht melden.", ""),
        ("Not only the fund but also the manager must sign.", "The fund and the manager must sign.", ""),
    ]);
}

#[test]
fn hidden_characters_hide_no_word() {
    check(&[
        ("Records must n\u{200b}ot be deleted.", "Records must be deleted.", "-"),
        ("Records must be deleted.", "Records must no\u{ad}t be deleted.", "+"),
        ("The fund m\u{2060}ay report.", "The fund must report.", "p"),
        ("Records are kept for 1\u{200d}0 years.", "Records are kept for 10 years.", ""),
        ("Records must n\u{43e}t be deleted.", "Records must be deleted.", "-"),
        ("Records must be deleted.", "Records must n\u{43e}t be deleted.", "+"),
        ("Records are kept for \u{ff19}\u{ff19} years.", "Records are kept for ten years.", "n"),
        ("Records are kept for \u{ff11}\u{ff10} years.", "Records are kept for ten years.", ""),
        ("Re\u{ad}gis\u{ad}ters are kept.", "The register is kept.", ""),
    ]);
}

#[test]
fn a_ban_that_a_text_turns_round_is_left_out() {
    check(&[
        ("Records must be deleted.", "Deleting records is prohibited.", "+"),
        ("Records must be deleted.", "It is unlawful to delete records.", "+"),
        ("Visitors must smoke in the hall.", "Smoking in the hall is forbidden to visitors.", "+"),
        ("Belege müssen gelöscht werden.", "Das Löschen von Belegen ist untersagt.", "+"),
        ("Belege müssen gelöscht werden.", "Keinerlei Belege dürfen gelöscht werden.", "+"),
        ("Prüfer und Leiter müssen Belege löschen.", "Weder Prüfer noch Leiter dürfen Belege löschen.", "+"),
        ("Der Leiter muss die Belege zeigen.", "Der Leiter darf die Belege niemandem zeigen.", "+"),
        ("Records must not be deleted.", "Deleting records is prohibited.", ""),
        ("Deleting records is unlawful.", "Records must not be deleted.", ""),
        ("Records must be kept without deleting any.", "Deleting records is prohibited.", ""),
        ("Only the owner must delete records.", "Deleting records is prohibited to all but the owner.", ""),
        ("Belege dürfen nicht gelöscht werden.", "Keinerlei Belege dürfen gelöscht werden.", ""),
        ("Der Prüfer darf keinerlei Belege löschen.", "Das Löschen von Belegen durch Prüfer ist verboten.", ""),
        ("Niemand darf Belege löschen.", "Das Löschen von Belegen ist verboten.", ""),
        ("No record may be deleted.", "Records must not be deleted.", ""),
        ("Neither party may delete records.", "Deleting records is prohibited to both parties.", ""),
        ("Of no use otherwise, records may be deleted.", "Records must not be deleted otherwise.", "p"),
    ]);
}

#[test]
fn a_permission_for_some_alone_is_one() {
    check(&[
        ("Only systems in the register may hold records.", "Records may only be held in systems of the register.", ""),
        ("Only members may report.", "Only members must report.", "p"),
        ("Only records may be moved.", "Records must not be moved without a permit.", "+p"),
    ]);
}

#[test]
fn what_must_not_exceed_a_bound_is_denied() {
    check(&[
        ("The share must never exceed 5 %.", "In no case shall the share exceed 5 %.", ""),
        ("Der Anteil darf in keinem Fall 5 % sein.", "Der Anteil darf in keinem Fall 5 % sein.", ""),
        ("In no case shall the share exceed 5 %.", "The share must not exceed 5 %.", ""),
        ("The share must exceed 5 %.", "In no case shall the share exceed 5 %.", "+"),
        (
            "Belege dürfen vor dem Ablauf der Frist nicht gelöscht werden.",
            "Belege vor dem Ablauf der Frist zu löschen ist unzulässig.",
            "",
        ),
    ]);
}

#[test]
fn of_the_row_of_a_table_only_cells_count_that_the_text_takes_words_from() {
    check(&[
        ("The system shall lock an account.", "R-2 | The system shall lock an account | No | June", ""),
        ("Backups must be kept at a second place.", "2 | Backups must be kept at a second place | 7 days", ""),
        ("Backups must be kept.", "2 | Backups must be kept for 7 days | Storage", "o"),
        ("The operator keeps to this: 2 | Backups must be kept | Storage", "2 | Backups must be kept | Storage", ""),
        ("Backups must be kept for 2 days.", "2 | Backups must be kept for 7 days | Storage", "o"),
        ("Backups must be kept for 3 days.", "2 | Backups must be kept for 7 days | Storage", "n"),
        ("Backups must be printed.", "Backups must not be printed | Storage | No", "+"),
        ("Die Sicherung muss erfolgen.", "3 | Die Sicherung muss erfolgen | 90 Tage", ""),
    ]);
}

#[test]
fn what_another_requirement_of_the_sentence_says_is_not_left_out() {
    let quote = "Invoices must be kept for 10 years and must not be changed.";
    let mut first = of("Invoices must be kept.", &[quote]);
    assert_eq!(kinds(&first), "o+");
    first.beside = vec!["Invoices must not be changed.".to_owned(), "Keep invoices for ten years.".to_owned()];
    assert_eq!(kinds(&first), "");
    let of_two = of(
        "The prospectus must name the fees.",
        &["The fund must not sell before 2 steps:", "the prospectus names the fees;"],
    );
    assert_eq!(kinds(&of_two), "", "it is not in all quotes");
}

#[test]
fn a_permission_needs_one_in_its_quotes() {
    check(&[
        ("The fund may notify the Regulator.", "The fund must notify the Regulator.", "p"),
        ("Notice to the Regulator is optional.", "Notice to the Regulator must be given.", "p"),
        ("The fund is free to notify the Regulator.", "The fund must notify the Regulator.", "p"),
        ("The fund may notify the Regulator.", "The fund may notify the Regulator, and must record it.", ""),
        ("The fund may not sell units.", "The fund must not sell units.", ""),
        ("The fund may only sell units to members.", "Units must be sold to members.", ""),
        ("The fund may sell units and must record it.", "The fund must record the units that it sells.", ""),
        ("The fund must report by 5 May 2025.", "The fund must report by 5 May 2025.", ""),
        ("By 5 May 2025 the fund reports.", "By 5 May 2025 the fund reports.", ""),
        ("Der Fonds darf Belege löschen.", "Der Fonds muss Belege löschen.", "p"),
        ("Der Fonds darf Belege nicht löschen.", "Der Fonds muss es unterlassen, Belege zu löschen.", ""),
        ("Der Fonds muss Belege nicht melden.", "Der Fonds muss Belege melden.", "-p"),
        ("Die Leitung muss Fehler nicht später als am Montag melden.", "Die Leitung muss Fehler am Montag melden.", ""),
        (
            "Die Leitung muss, wenn es nicht anders geht, Fehler melden.",
            "Die Leitung muss Fehler melden, wenn es nicht anders geht.",
            "",
        ),
        ("Die Meldung ist freigestellt.", "Die Meldung ist abzugeben.", "p"),
        ("Belege darf nur der Fonds löschen.", "Belege hat der Fonds zu löschen.", ""),
    ]);
}

#[test]
fn without_a_quote_it_needs_one_where_there_is_something_to_quote() {
    assert_eq!(kinds(&of("Invoices must be kept.", &[])), "c");
    assert_eq!(kinds(&Compared { has_sources: false, ..of("Invoices must be kept.", &[]) }), "");
}

#[test]
fn the_tags_of_the_system_are_not_the_models() {
    let given = ["billing", "needs_look", "Translated"].map(str::to_owned);
    assert_eq!(tags_with(&given, false, false), ["billing"]);
    assert_eq!(tags_with(&given, true, true), ["billing", "needs_look", "translated"]);
}

#[test]
fn a_text_that_is_its_quotes_behind_their_leads_is_not_compared() {
    let with_lead = |text: &str| Compared { leads: vec!["The fund must not:".into()], ..of(text, &["pay 5 fees;"]) };
    let is_repeated = |text: &str| with_lead(text).repeats_its_quotes();
    assert!(is_repeated("pay 5 fees;") && is_repeated("The fund must not: pay 5 fees;"));
    assert!(!is_repeated("The fund must: pay 5 fees;") && !is_repeated("pay 6 fees;"));
}
