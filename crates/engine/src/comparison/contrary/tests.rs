use super::remarks;

fn said(text: &str, quote: &str) -> String {
    remarks(text, &[quote]).join("; ")
}

#[test]
fn a_text_with_the_words_of_its_quote_that_says_something_else_is_remarked() {
    for (text, quote, expected) in [
        ("Everyone may delete entries.", "Only the manager may delete entries.", "`only`"),
        ("The manager may delete entries.", "Only the manager may delete entries.", "`only`"),
        ("Der Leiter darf Einträge löschen.", "Nur der Leiter darf Einträge löschen.", "`nur`"),
        ("The manager must log each access.", "The operator must log each access.", "binds `manager`"),
        (
            "Der Leiter muss jeden Zugriff protokollieren.",
            "Der Betreiber muss jeden Zugriff protokollieren.",
            "`leiter`",
        ),
        ("The manager must inform the operator.", "The operator must inform the manager.", "binds `manager`"),
        ("The clerk shall sign it each week.", "The clerk shall sign it each day.", "`week`"),
        ("It must be kept for ten months.", "It must be kept for ten years.", "`months`"),
        ("Die Prüfung erfolgt monatlich.", "Die Prüfung erfolgt jährlich.", "`monatlich`"),
        ("Exports are approved after they leave.", "Exports are approved before they leave.", "`after`"),
        ("At most two clerks must be there.", "At least two clerks must be there.", "`most`"),
        ("Höchstens zwei Personen müssen da sein.", "Mindestens zwei Personen müssen da sein.", "`höchstens`"),
        ("Keys are due by the beginning of the day.", "Keys are due by the end of the day.", "`beginning`"),
        ("The operator shall decrypt all backups.", "The operator shall encrypt all backups.", "`decrypt`"),
        ("Doors must be unlocked at night.", "Doors must be locked at night.", "`unlocked`"),
        ("Visitors must not enter with a guide.", "Visitors must not enter without a guide.", "`without a guide`"),
        (
            "The log shall be signed.",
            "The log shall be signed unless the board waives it.",
            "`unless the board waives it`",
        ),
        ("The manager must be informed.", "If a key is lost, the manager must be informed.", "`if a key is lost`"),
        (
            "Der Leiter ist zu informieren.",
            "Wenn ein Schlüssel fehlt, ist der Leiter zu informieren.",
            "`wenn ein schlüssel fehlt`",
        ),
        ("The guide must carry a key.", "The guide may carry a key.", "`may`"),
    ] {
        assert!(said(text, quote).contains(expected), "{text} / {quote}: {:?}", said(text, quote));
    }
}

#[test]
fn a_paraphrase_is_not() {
    for (text, quote) in [
        ("Entries may be deleted only by the manager.", "Only the manager may delete entries."),
        ("Deleting entries is reserved to the manager.", "Only the manager may delete entries."),
        ("Nobody but the manager may delete entries.", "Only the manager may delete entries."),
        ("Each access must be logged by the operator.", "The operator must log each access."),
        ("Jeden Zugriff muss der Betreiber protokollieren.", "Der Betreiber muss jeden Zugriff protokollieren."),
        ("It must log each access.", "The operator must log each access."),
        ("Operators shall log every access.", "The operator must log each access."),
        ("The operator logs each access.", "The operator must log each access."),
        ("The register must be signed daily.", "Every clerk shall sign the register each day."),
        ("Keep invoices for ten years.", "Invoices must be archived for ten years after the end of the fiscal year."),
        ("Exports must not leave before they are approved.", "Exports may leave only after they were approved."),
        ("Exports must be approved before they leave.", "Exports may leave only after they were approved."),
        ("A door must not be left unlocked.", "Doors must be locked."),
        ("Access by unauthorised persons is forbidden.", "Only authorised persons may have access."),
        ("Visitors must be accompanied by a guide.", "Visitors must not enter without a guide."),
        ("Goods must not be shipped before they are tested.", "Goods must not be shipped without a test."),
        ("The operator must report at once.", "The operator must report without delay."),
        ("A lost key must be reported to the manager.", "If a key is lost, the manager must be informed."),
        ("The manager must be informed.", "If necessary, the manager must be informed."),
        ("The log must be signed.", "The log must be signed. If it is long, a copy may be kept."),
        ("At least 5 must be there.", "No fewer than 5 must be there."),
        ("The key must be kept; it may be copied.", "The key must be kept and may be copied."),
        ("Records must be deleted only by the manager.", "Records may be deleted by the manager only."),
        ("The clerk must, once a year, check the keys.", "The clerk must check the keys annually."),
        ("The archive must: log each access;", "log each access;"),
        ("Backups must be tested.", "Invoices must be kept for ten years."),
    ] {
        assert_eq!(said(text, quote), "", "{text} / {quote}");
    }
}
