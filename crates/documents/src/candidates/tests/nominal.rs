//! Obligations without a modal verb: nouns, participles and signs that bind.

use super::*;

#[test]
fn german_nouns_and_participles_bind() {
    let scan = Scan::default();
    let missed: Vec<_> = [
        "Das Tragen eines Helms ist Pflicht.",
        "Auf dem gesamten Gelände ist das Tragen einer Warnweste Pflicht.",
        "Handschuhe sind im Labor Vorschrift.",
        "Die Teilnahme an der Schulung ist Voraussetzung für den Zutritt.",
        "Eine gültige Versicherung ist Bedingung für die Zulassung.",
        "Voraussetzung für die Freigabe ist ein bestandener Test.",
        "Zwingende Voraussetzung ist die Zustimmung des Vorstands.",
        "Die Angabe der Rechnungsnummer ist zwingend.",
        "Eine Unterweisung ist verpflichtend.",
        "Ein zweiter Schlüssel ist unverzichtbar.",
        "Das Feld Datum ist Pflichtfeld.",
        "Im gesamten Gebäude gilt Rauchverbot.",
        "In der Halle herrscht Helmpflicht.",
        "Es besteht Helmpflicht.",
        "Rauchverbot im gesamten Gebäude.",
        "Rauchverbot",
        "Absolutes Halteverbot vor der Einfahrt!",
        "Maskenpflicht in allen Räumen.",
        "Helmpflicht in Halle 3",
        "Helmpflicht",
        "Ausweispflicht ab 18 Uhr.",
        "Reparaturen in Halle 3 verboten.",
        "Das Betreten der Anlage ist verboten.",
        "Das Betreten des Lagers ist untersagt.",
        "Das Betreten ohne Helm ist unzulässig.",
        "Offenes Feuer im Lager ist tabu.",
        "Eine Übertragung auf Dritte ist in jedem Fall ausgeschlossen.",
        "Kein Zutritt für Unbefugte.",
        "Keine Weitergabe an Dritte.",
        "Kein offenes Feuer!",
        "Zutritt nur mit Ausweis.",
        "Reparaturen nur durch Fachpersonal.",
        "Schutzbrille erforderlich.",
        "Anmeldung im Sekretariat zwingend erforderlich!",
        "Pflicht: Helm und Weste",
        "Die Meldung hat binnen zwei Tagen zu erfolgen.",
        "Belege sind zehn Jahre aufzubewahren.",
        "Die Sicherung der Daten liegt in der Verantwortung des Betreibers.",
        "Verantwortlich für die Prüfung ist die Leitung.",
        "Änderungen unterliegen der Genehmigung durch den Bauherrn.",
    ]
    .into_iter()
    .filter(|sentence| scan.judge(sentence).is_none())
    .collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn german_nouns_that_are_only_spoken_about_do_not_bind() {
    let scan = Scan::default();
    let marked: Vec<_> = [
        "Das Tragen eines Helms ist nicht Pflicht.",
        "Eine Anmeldung ist keine Voraussetzung.",
        "Eine Schulung ist nicht Voraussetzung für den Kauf.",
        "Vertrauen ist eine gute Voraussetzung für den Erfolg.",
        "Nach der Kür ist vor der Pflicht.",
        "Das Rauchverbot ist umstritten.",
        "Die Helmpflicht wurde 2010 aufgehoben.",
        "Keine Abweichungen festgestellt.",
        "Kein Zutritt bekannt.",
        "Die Vorschrift stammt aus dem Jahr 1990.",
        "Meldepflicht bei Verletzungen des Schutzes",
        "Steuerpflicht",
        "Keine Werbung gefunden.",
        "Anmeldung nicht erforderlich.",
        "Es besteht keine Helmpflicht.",
        "Hier herrscht kein Rauchverbot.",
        "Die Voraussetzungen sind in Anhang A beschrieben.",
        "Keine Tiere waren zu sehen.",
        "Der Verkauf stieg nur um zwei Prozent.",
        "Zahlung in Raten, aber nur selten.",
        "Der Betrieb läuft seit gestern nur halbtags.",
        "Der Zutritt zum Garten war früher nur im Sommer möglich.",
    ]
    .into_iter()
    .filter(|sentence| scan.judge(sentence).is_some())
    .collect();
    assert!(marked.is_empty(), "{marked:#?}");
}

#[test]
fn english_nouns_and_signs_bind() {
    let scan = Scan::default();
    let missed: Vec<_> = [
        "Wearing a helmet is mandatory.",
        "Entering the plant is prohibited.",
        "No smoking.",
        "No smoking",
        "No unauthorised persons.",
        "No open flames in the store.",
        "Smoking prohibited.",
        "Photography strictly forbidden in the archive.",
        "Food and drinks not permitted beyond this point.",
        "Attendance is a condition of employment.",
        "A valid licence is a prerequisite for access.",
        "Two signatures are a requirement for each payment.",
        "Compliance with this policy is compulsory.",
        "Compliance with the dress code is not optional.",
        "The roof is off limits.",
        "Hard hats required beyond this point.",
        "Helmets mandatory in all halls.",
        "Authorised personnel only.",
        "Access by appointment only.",
        "For internal use only",
        "Registration required.",
    ]
    .into_iter()
    .filter(|sentence| scan.judge(sentence).is_none())
    .collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn english_nouns_that_are_only_spoken_about_do_not_bind() {
    let scan = Scan::default();
    let marked: Vec<_> = [
        "Attendance is not a condition of employment.",
        "Attendance was a condition of employment.",
        "No photos available.",
        "No deviations were found.",
        "No exceptions were reported.",
        "Registration not required.",
        "Smoking was prohibited in 1990.",
        "Skills required",
        "The condition of the roof is poor.",
        "A helmet is not mandatory.",
        "The only staff are volunteers.",
    ]
    .into_iter()
    .filter(|sentence| scan.judge(sentence).is_some())
    .collect();
    assert!(marked.is_empty(), "{marked:#?}");
}
