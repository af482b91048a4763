use super::{are_other_words, remarks};

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
        ("The clerk shall sign it each week.", "The clerk shall sign it each day.", "`each week`"),
        ("It must be kept for ten months.", "It must be kept for ten years.", "`ten months`"),
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
        ("The fee must be 5 percent.", "The fee must be 5 euro.", "`percent`"),
        ("The fee must be $500.", "The fee must be €500.", "`dollar`"),
        ("The load must not exceed 5kg.", "The load must not exceed 5 t.", "`kg`"),
        ("The room must stay below 18 °F.", "The room must stay below 18 °C.", "`fahrenheit`"),
        ("Answers are due in 5 calendar days.", "Answers are due in 5 working days.", "`calendar`"),
        (
            "Die Antwort muss in 5 Kalendertagen erfolgen.",
            "Die Antwort muss in 5 Werktagen erfolgen.",
            "`kalendertagen`",
        ),
        ("The report must be filed by 8 a.m.", "The report must be filed by 8 p.m.", "`am`"),
        ("It must be filed on Monday.", "It must be filed on Friday.", "`monday`"),
        ("The audit must be held in March.", "The audit must be held in June.", "`march`"),
        ("It is due in the third quarter.", "It is due in the second quarter.", "`third`"),
        ("Some records must be kept.", "All records must be kept.", "`some`"),
        ("Alle Belege müssen geprüft werden.", "Einige Belege müssen geprüft werden.", "`alle`"),
        ("It must be sent after 5 days.", "It must be sent within 5 days.", "`after`"),
        ("Sie muss nach 5 Tagen erfolgen.", "Sie muss innerhalb von 5 Tagen erfolgen.", "`nach`"),
        ("Fees over 5 euro must be shown.", "Fees under 5 euro must be shown.", "`over`"),
        ("The clerk must sign the log unless busy.", "The clerk must sign the log.", "`unless busy`"),
        ("The clerk must sign the log if possible.", "The clerk must sign the log.", "`if possible`"),
        ("The clerk must sign the log where convenient.", "The clerk must sign the log.", "`where convenient`"),
        ("Der Prüfer muss melden, außer im Sommer.", "Der Prüfer muss melden.", "`außer im sommer`"),
        ("Der Prüfer muss nach Möglichkeit melden.", "Der Prüfer muss melden.", "`nach möglichkeit"),
        ("The log must be signed.", "The log must be signed except by the board.", "`except by the board`"),
        ("Der Prüfer muss melden.", "Der Prüfer muss melden, es sei denn, der Leiter verzichtet.", "`sei denn"),
        ("Clerks must leave the log unsigned.", "Clerks must sign the log.", "`unsigned`"),
        ("The room must be at -18 degrees.", "The room must be at 18 degrees.", "`-18`"),
        ("It must be at 5 degrees.", "It must be at minus 5 degrees.", "`5`"),
        ("It must be sent without the annex.", "It must be sent with an annex.", "`without annex`"),
        ("Sie muss mit Anlage gesendet werden.", "Sie muss ohne Anlage gesendet werden.", "`mit anlage`"),
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
        ("It must be at 5 degrees below zero.", "It must be at -5 degrees."),
        ("Send it within 5 -10 days.", "Send it within 5-10 days."),
        ("The board must instruct the clerk.", "The board must tell the clerk its structure."),
        ("The fee must be 500 €.", "The fee must be EUR 500."),
        ("The fee must be five per cent.", "The fee must be 5 %."),
        ("The wall must be 5 mm thick.", "The wall must be 5 millimetres thick."),
        ("It is due in 5 business days.", "It is due in 5 working days."),
        ("It must be sent 5 days after receipt at the latest.", "It must be sent within 5 days of receipt."),
        ("Each of the several records must be kept.", "All of the several records must be kept."),
        ("If a key is lost, it must be reported.", "A lost key must be reported."),
        ("Records must be kept.", "Except as provided in Rule 4, records must be kept."),
        ("The test must be repeated if it fails.", "A failed test must be repeated."),
        ("Records must be kept as required.", "Records must be kept."),
        ("The board may meet if it wishes.", "The board may meet."),
        ("A visitor must come with a guide.", "Visitors must not enter without a guide."),
        ("Links ought to be as short as possible.", "Links should be as short as possible."),
        ("Each tool must call the script as appropriate.", "Every tool must call the script as appropriate."),
        (
            "Copies without a seal must be burnt.",
            "Copies without a seal must be burnt, and those with a seal must be kept.",
        ),
        (
            "Where the list may be long, programs must support paging.",
            "Programs must support paging where the list may be long.",
        ),
        ("Scripts must rely on the tool.", "Scripts must avoid noise and must rely on the tool."),
    ] {
        assert_eq!(said(text, quote), "", "{text} / {quote}");
    }
}

#[test]
fn another_duration_share_count_or_place_is_remarked() {
    for (text, quote, expected) in [
        ("It must be sent within a week.", "It must be sent within a fortnight.", "`a week`"),
        ("It must be sent within a month.", "It must be sent within a fortnight.", "`a month`"),
        ("The audit must be held every six months.", "The audit must be held quarterly.", "`six months`"),
        ("It must be kept for 30 months.", "It must be kept for one and a half years.", "`30 months`"),
        ("Die Prüfung erfolgt alle drei Monate.", "Die Prüfung erfolgt halbjährlich.", "`drei monate`"),
        ("The log must be read thrice a day.", "The log must be read twice a day.", "`thrice a day`"),
        ("The log must be read twice a day.", "The log must be read three times a day.", "`twice a day`"),
        ("Es ist dreimal täglich zu lesen.", "Es ist zweimal täglich zu lesen.", "`dreimal täglich`"),
        ("The clerk must verify the dose three times.", "The clerk must verify the dose twice.", "`three times`"),
        ("It is due on the fifth working day.", "It is due on the third working day.", "`fifth`"),
        ("It is due on the twenty-first day.", "It is due on the twenty-second day.", "`twenty first`"),
        ("Die Meldung ist am zwölften Werktag fällig.", "Die Meldung ist am zehnten Werktag fällig.", "`zwölften`"),
        ("One third of the members must agree.", "Two-thirds of the members must agree.", "`one third`"),
        ("Half of the members must agree.", "A quarter of the members must agree.", "`half`"),
        ("Ein Viertel der Mitglieder muss zustimmen.", "Ein Drittel der Mitglieder muss zustimmen.", "`ein viertel`"),
        ("Die Hälfte muss zustimmen.", "Eine Zweidrittelmehrheit muss zustimmen.", "`hälfte`"),
    ] {
        assert!(said(text, quote).contains(expected), "{text} / {quote}: {:?}", said(text, quote));
    }
}

#[test]
fn the_same_duration_share_count_or_place_is_not() {
    for (text, quote) in [
        ("It must be sent within 14 days.", "It must be sent within a fortnight."),
        ("The audit must be held four times a year.", "The audit must be held quarterly."),
        ("The audit must be held twice a year.", "The audit must be held every six months."),
        ("It must be kept for 30 months.", "It must be kept for two and a half years."),
        ("Die Prüfung erfolgt zweimal jährlich.", "Die Prüfung erfolgt halbjährlich."),
        ("Die Daten sind 18 Monate zu halten.", "Die Daten sind anderthalb Jahre zu halten."),
        ("Die Frist von 3 Monaten muss gelten.", "Die Dreimonatsfrist muss gelten."),
        ("It must be kept for half a year.", "It must be kept for six months."),
        ("Es ist ein halbes Jahr zu halten.", "Es ist 6 Monate zu halten."),
        ("The annual audit must be done.", "The audit must be done every 12 months."),
        ("The log must be read two times a day.", "The log must be read twice a day."),
        ("75 % of the members must agree.", "Three quarters of the members must agree."),
        ("1/3 der Mitglieder muss zustimmen.", "Ein Drittel der Mitglieder muss zustimmen."),
        ("The report is due on the 21st day.", "The report is due on the twenty-first day."),
        ("Keep 3 18446744073709551615ths of it.", "Keep 3 18446744073709551615ths of it. It may be copied."),
        ("Third parties must sign the first page.", "Any third party must sign the first page."),
        ("The operator must log it daily for 5 years.", "The operator must log it daily."),
    ] {
        assert_eq!(said(text, quote), "", "{text} / {quote}");
    }
}

#[test]
fn a_reference_to_another_part_is_remarked() {
    for (text, quote, expected) in [
        ("The form in Annex V must be used.", "The form in Annex IV must be used.", "`annex V`"),
        ("The form in Annex B must be used.", "The form in Annex C must be used.", "`annex B`"),
        ("Chapter XI must be followed.", "Chapter XII must be followed.", "`chapter XI`"),
        ("Anhang 5 ist zu verwenden.", "Anhang IV ist zu verwenden.", "`anhang 5`"),
        ("It must comply with Rule 4.3.", "It must comply with Rule 4.2.", "`rule 4.3`"),
        ("Der Betreiber muss § 6 beachten.", "Der Betreiber muss § 5 beachten.", "`§ 6`"),
        ("The operator must follow section 12.", "The operator must follow sections 13 to 15.", "`section 12`"),
        ("The system must follow ISO 27002.", "The system must follow ISO 27001.", "`iso 27002`"),
    ] {
        assert!(said(text, quote).contains(expected), "{text} / {quote}: {:?}", said(text, quote));
    }
    for (text, quote) in [
        ("The form in Annex 4 must be used.", "The form in Annex IV must be used."),
        ("The form in the annex must be used.", "The form in Annex IV must be used."),
        ("It must comply with Rule 4.", "It must comply with Rule 4.2."),
        ("It must comply with Rules 4.2 and 4.3.", "It must comply with Rule 4.2 and Rule 4.3."),
        ("The operator must follow Annex IV.", "The operator must follow Annexes III, IV and V."),
        ("Der Betreiber muss § 148 beachten.", "Der Betreiber muss § 147 Abs. 1 Nr. 5 und § 148 beachten."),
        ("Under Rule 4 the operator must: file Form 5.", "file Form 5."),
    ] {
        assert_eq!(said(text, quote), "", "{text} / {quote}");
    }
}

#[test]
fn an_entry_left_out_of_an_enumeration_is_remarked() {
    let quote = "The report, the log and the plan must be kept.";
    for (text, quote, expected) in [
        ("The report and the plan must be kept.", quote, "`the log`"),
        ("The log and the plan must be kept.", quote, "`the report`"),
        ("The report and the log must be kept.", quote, "`plan`"),
        ("Visitors must show name, firm and host.", "Visitors must show name, firm, purpose, and host.", "`purpose`"),
        ("The clerk must sign and file the form.", "The clerk must sign, date and file the form.", "`date`"),
        (
            "Bericht und Plan sind aufzubewahren.",
            "Der Bericht, das Protokoll und der Plan sind aufzubewahren.",
            "`das protokoll`",
        ),
    ] {
        assert!(said(text, quote).contains(expected), "{text} / {quote}: {:?}", said(text, quote));
    }
    for (text, quote) in [
        ("The report must be kept.", quote),
        ("The plan, log and report must be kept.", quote),
        ("Laptops, mobiles and tablets must be locked.", "Laptops, phones and tablets must be locked."),
        ("The manager and the clerk must sign.", "The manager, if present, and the clerk must sign."),
        ("The manager and the clerk must sign.", "The manager, who is in charge, and the clerk must sign."),
        ("Targets of links must not be changed.", "Names of files, targets of links and owners must not be changed."),
        ("The report and the log must be kept.", "In such cases, the report and the log must be kept."),
    ] {
        assert_eq!(said(text, quote), "", "{text} / {quote}");
    }
}

#[test]
fn another_actor_in_the_passive_is_remarked() {
    let quote = "The log of each archive must be signed by the operator.";
    for (text, quote, expected) in [
        ("The log of each archive must be signed by the manager.", quote, "`manager`"),
        ("The manager must sign the log of each archive.", quote, "`manager`"),
        ("The log must be kept by the controller.", "The processor must keep the log.", "`controller`"),
        ("Es muss vom Leiter unterschrieben werden.", "Es muss vom Prüfer unterschrieben werden.", "`leiter`"),
    ] {
        assert!(said(text, quote).contains(expected), "{text} / {quote}: {:?}", said(text, quote));
    }
    for (text, quote) in [
        ("The operator must sign the log of each archive.", quote),
        ("The log must be kept by the processor.", "The processor must keep the log."),
        ("The log must be filed by the deadline.", "The clerk must file the log in time."),
        ("The log must be kept by him.", "The processor must keep the log."),
        ("Es muss vom Prüfer unterschrieben werden.", "Der Prüfer muss es unterschreiben."),
    ] {
        assert_eq!(said(text, quote), "", "{text} / {quote}");
    }
}

#[test]
fn a_text_that_says_what_another_sentence_says_has_other_words() {
    for (text, quote) in [
        ("The clerk must lock the door.", "The clerk must sign the log."),
        ("Backups must be tested.", "Invoices must be kept for ten years."),
        ("Der Prüfer muss die Tür abschließen.", "Der Prüfer muss das Protokoll unterschreiben."),
    ] {
        assert!(are_other_words(text, &[quote]), "{text} / {quote}");
    }
    for (text, quote) in [
        ("It must log each access.", "The operator must log each access."),
        ("Access is logged.", "The operator must log each access to the archive and keep the log for the auditor."),
        ("The operator must keep a register of: staff", "staff"),
        ("The operator must sign the log.", "sign the log;"),
    ] {
        assert!(!are_other_words(text, &[quote]), "{text} / {quote}");
    }
}
