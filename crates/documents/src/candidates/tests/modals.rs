//! Obligations without a modal verb of their own, and labels and nouns that only look like one.

use super::*;

#[test]
fn numbers_and_abbreviations_do_not_separate_a_verb_from_its_infinitive() {
    let scan = Scan::default();
    let missed: Vec<_> = [
        "Bei Ausfall ist gemäß Nr. 5 der Anlage i.S.d. § 3 Abs. 2 zu verfahren.",
        "Er hat gem. Ziff. 3.2 u. a. folgende Punkte zu beachten:",
        "Der Abstand hat 1,5 m zu betragen.",
        "Das Tor ist um 18:00 Uhr zu schließen.",
        "Der Nachweis ist nach DIN EN ISO 9001:2015 zu führen.",
        "Der Betrag ist bis zum 31.12.2025 zu zahlen.",
    ]
    .into_iter()
    .filter(|sentence| scan.judge(sentence).is_none())
    .collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn constructions_in_place_of_a_modal_verb_bind() {
    let scan = Scan::default();
    let missed: Vec<_> = [
        "The deposit can only be returned after the inspection.",
        "Access can only be restored after a review by the security team.",
        "You can only submit the form after the training is finished.",
        "The tenant has no right to sublet the flat.",
        "Suppliers have no right to use our logo.",
        "Employees have no authority to sign contracts.",
        "The processor has no entitlement to charge for this.",
        "Harassment will not be tolerated.",
        "Late filings will not be accepted.",
        "Violations are not tolerated.",
        "Retaliation is never tolerated.",
        "Late deliveries will be rejected.",
        "Payments can only be released upon approval.",
        "Only after the audit can the account be closed.",
        "We have zero tolerance for harassment.",
        "No employee has the right to access the vault alone.",
        "Personenbezogene Daten gehören gelöscht.",
        "Der Zugang gehört gesperrt.",
        "Alte Akten gehören vernichtet, sobald die Frist endet.",
        "Verstöße werden nicht geduldet.",
        "Verspätete Anträge werden nicht angenommen.",
        "Der Mieter hat kein Recht, die Wohnung unterzuvermieten.",
        "Der Auftragnehmer hat kein Recht auf Untervergabe.",
        "Die Kaution kann erst nach der Prüfung zurückgezahlt werden.",
        "Der Zugang kann nur nach Prüfung wiederhergestellt werden.",
        "Mitarbeiter haben keine Befugnis, Verträge zu unterzeichnen.",
        "Belästigung wird nicht toleriert.",
        "Verspätete Rechnungen werden zurückgewiesen.",
        "Unvollständige Anträge werden nicht berücksichtigt.",
        "The contractor is in no way entitled to a refund.",
        "Ein solcher Vertrag gehört schriftlich festgehalten.",
        "Mandatory hand washing before entry.",
        "Required: a valid permit.",
        "Die Kosten sollen unter dem Soll bleiben.",
    ]
    .into_iter()
    .filter(|sentence| scan.judge(sentence).is_none())
    .collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn labels_and_nouns_and_stories_do_not() {
    let scan = Scan::default();
    let wrong: Vec<_> = [
        "Required reading for this course is listed below.",
        "Required reading",
        "Required reading list for new staff",
        "Mandatory reading for week two: chapter four.",
        "Required skills and experience:",
        "Mandatory fields of the form",
        "Compulsory education in Germany began in 1717.",
        "Required equipment for the hike.",
        "I can only say that after the war things were different.",
        "We can only guess what happened after the meeting.",
        "You can only see the mountain after sunrise in winter.",
        "He has no right to complain about the weather.",
        "The word has no right-hand side.",
        "The question will not be considered here.",
        "It will not be easy.",
        "The proof will not be repeated here.",
        "Soll und Haben sind die beiden Seiten eines Kontos.",
        "Soll und Haben",
        "Im Soll stehen die Ausgaben, im Haben die Einnahmen.",
        "Der Soll-Ist-Vergleich steht in Tabelle 3.",
        "Das Plan-Soll wurde erreicht.",
        "Soll-Zustand und Ist-Zustand",
        "Sollzinsen und Habenzinsen",
        "Die Insel gehört zu Dänemark.",
        "Das Haus gehört dem verstorbenen Bruder.",
        "Die Bücher gehören geliebten Menschen.",
        "Zu den Aufgaben gehört, dass alles ordnungsgemäß erfolgt.",
        "Berlin gehört seit 1990 wieder vereinigt zu Deutschland.",
        "Er hat kein Recht, sich zu beschweren.",
        "Die Frage wird hier nicht behandelt.",
        "Der Antrag wurde nicht angenommen.",
        "Pflichtlektüre für das Seminar",
        "Das ist kein Muss.",
        "Ein Muss für jeden Fan.",
        "The deposit can only be estimated after the war.",
    ]
    .into_iter()
    .filter_map(|sentence| Some((sentence, scan.judge(sentence)?)))
    .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
