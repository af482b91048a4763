//! Numbers of texts and of their quotes.

use super::check;

#[test]
fn numbers_are_compared_by_value() {
    check(&[
        ("Report within 72 hours.", "Report within 72² hours.", ""),
        ("Report within 72 hours.", "Report within 722 hours.", "n"),
        ("The area is 20 m².", "The area is 20 m2.", ""),
        ("It must follow the law.", "It must follow the law⁵.", ""),
        ("Invoices must be kept for 10 years.", "Invoices must be kept for ten years.", ""),
        ("Invoices must be kept for ten years.", "Invoices must be kept for 10 years.", ""),
        ("Invoices must be kept for 6 years.", "Invoices must be kept for 10 years.", "n"),
        ("Invoices must be kept for six years.", "Invoices must be kept for ten years.", "n"),
        ("Invoices must be kept for years.", "Invoices must be kept for 10 years.", "o"),
        ("The limit must be 10,000 euro.", "The limit must be 10.000 euro.", ""),
        ("The limit must be 10 000 euro.", "The limit must be 10,000 euro.", ""),
        ("The limit must be 10 euro.", "The limit must be 10,000 euro.", "n"),
        ("The limit must be 2 million euro.", "The limit must be EUR 2,000,000 euro.", ""),
        ("Der Anteil muss 1,5 Prozent betragen.", "Der Anteil muss 1.5 Prozent betragen.", ""),
        ("Der Anteil muss 2,5 % betragen.", "Der Anteil muss 1,5 % betragen.", "n"),
        ("Belege müssen zehn Jahre aufbewahrt werden.", "Belege müssen 10 Jahre aufbewahrt werden.", ""),
        ("Reports must be sent within twenty-five days.", "Reports must be sent within 25 days.", ""),
        ("A 24-hour notice must be given.", "Notice must be given 24 hours before.", ""),
        ("The report must be made by the 3rd working day.", "The report must be made by the third working day.", ""),
        ("Die Meldung muss am 3. Werktag erfolgen.", "Die Meldung muss am dritten Werktag erfolgen.", ""),
    ]);
}

#[test]
fn dates_are_compared_by_their_parts() {
    check(&[
        ("The fund must report by 31 December 2024.", "The fund must report by 31.12.2024.", ""),
        ("The fund must report by 2024-12-31.", "The fund must report by December 31, 2024.", ""),
        ("The fund must report by 31 March.", "The fund must report by 31 May.", "n"),
        ("The fund must report by 31 March 2025.", "The fund must report by 31.05.2025.", "n"),
        ("The fund must report by the 1st of March.", "The fund must report by March 1st.", ""),
        ("Der Fonds muss bis zum 31. März melden.", "Der Fonds muss bis zum 31. Mai melden.", "n"),
        ("The fund must report by 5 may.", "The fund must report by 5.5. at noon.", ""),
        ("The fund must report by 30 December 2024.", "The fund must report by 31.12.2024.", "n"),
        ("Die Meldung muss bis zum 31. Mai 2025 erfolgen.", "Die Meldung muss bis zum 31.05.2025 erfolgen.", ""),
        ("Die Meldung muss bis zum 31.05.2026 erfolgen.", "Die Meldung muss bis zum 31. Mai 2025 erfolgen.", "n"),
    ]);
}

#[test]
fn marks_and_names_are_no_numbers() {
    check(&[
        ("The fund must keep records.", "1. The fund must keep records.", ""),
        ("The fund must keep records.", "(2) The fund must keep records.", ""),
        ("The fund must keep records.", "4.2.1 The fund must keep records.", ""),
        ("The fund must keep records.", "5 The fund must keep records.", ""),
        ("The fund must keep records.", "The fund must keep records.12", ""),
        ("The fund must keep records.", "The fund must keep records [12].", ""),
        (
            "The fund must keep records under the rules.",
            "The fund must keep records under Rule 4.2 and 4.3 of the rules.",
            "",
        ),
        ("The fund must keep records under Rule 7.1.", "The fund must keep records.", ""),
        ("The fund must follow the regulation.", "The fund must follow Regulation No 1234/2008.", ""),
        ("The fund must follow the regulation.", "The fund must follow Regulation (EU) 2016/679.", ""),
        ("The fund must follow Articles 5 to 7.", "The fund must follow the articles.", ""),
        (
            "Der Fonds muss Belege nach dem Gesetz aufbewahren.",
            "Der Fonds muss Belege nach § 147 Abs. 1 Nr. 5 des Gesetzes aufbewahren.",
            "",
        ),
        ("Der Fonds muss Belege nach §§ 5 und 6 aufbewahren.", "Der Fonds muss Belege aufbewahren.", ""),
        ("The system must follow ISO 27001 and AC-5.", "The system must follow the standards.", ""),
        ("The manager must (1) keep and (2) sign it.", "The manager must keep and sign it.", ""),
        ("The fund must keep logs; or a ledger.", "The fund must keep logs; or 2. a ledger.", ""),
        ("The fund must keep logs; and report it.", "The fund must keep logs; and 2 days later report it.", "o"),
        ("The fund must report in 3 days.", "3. The fund must report in ten days.", "n"),
        ("The fund must report in 10 days.", "| 3 | The fund must report, days | 10 |", ""),
        ("Records must be kept.", "| 3 | Records must be kept | yes |", ""),
        ("Belege sind 10 Jahre aufzubewahren.", "10 Jahre sind Belege aufzubewahren.", ""),
        ("Belege sind 6 Jahre aufzubewahren.", "10 Jahre sind Belege aufzubewahren.", "n"),
    ]);
}

#[test]
fn numbers_in_words_are_compared_by_value() {
    check(&[
        ("Reports are due in two hundred days.", "Reports are due in 200 days.", ""),
        ("Reports are due in 200 days.", "Reports are due in two hundred and fifty days.", "n"),
        ("Fines above fifty thousand euro are shown.", "Fines above 50,000 euro are shown.", ""),
        ("Fines above one hundred thousand euro are shown.", "Fines above 100,000 euro are shown.", ""),
        ("Fines above EUR 2m are shown.", "Fines above EUR 2 million are shown.", ""),
        ("Fines above EUR 2 million are shown.", "Fines above EUR 2bn are shown.", "n"),
        ("Fines above 50 million euro are shown.", "Fines above 50 thousand euro are shown.", "n"),
        ("Fines above 50 euro are shown.", "Fines above 50 thousand euro are shown.", "n"),
        ("Die Meldung muss in fünfundzwanzig Tagen erfolgen.", "Die Meldung muss in 25 Tagen erfolgen.", ""),
        ("Die Meldung muss in 25 Tagen erfolgen.", "Die Meldung muss in fünfundzwanzig Tagen erfolgen.", ""),
        ("Die Meldung muss in 26 Tagen erfolgen.", "Die Meldung muss in fünfundzwanzig Tagen erfolgen.", "n"),
        ("Die dreißigtägige Frist muss gelten.", "Die Frist von 30 Tagen muss gelten.", ""),
        ("Strafen über 50.000 Euro sind zu melden.", "Strafen über fünfzigtausend Euro sind zu melden.", ""),
        ("Rechnungen müssen zehn Jahre lang aufbewahrt werden.", "Rechnungen sind 10 Jahre aufzubewahren.", ""),
        ("Strafen über 3 Tsd. Euro sind zu melden.", "Strafen über 3.000 Euro sind zu melden.", ""),
    ]);
}

#[test]
fn the_same_number_in_another_form_is_the_same() {
    check(&[
        ("12 copies must be kept.", "A dozen copies must be kept.", ""),
        ("A dozen copies must be kept.", "12 copies must be kept.", ""),
        ("Two dozen copies must be kept.", "24 copies must be kept.", ""),
        ("Half a dozen copies must be kept.", "Six copies must be kept.", ""),
        ("Zwölf Kopien müssen vorliegen.", "Ein Dutzend Kopien muss vorliegen.", ""),
        ("Sechs Kopien müssen vorliegen.", "Ein halbes Dutzend Kopien muss vorliegen.", ""),
        ("A dozen copies must be kept.", "Ten copies must be kept.", "n"),
        ("Half a dozen copies must be kept.", "A dozen copies must be kept.", "n"),
        ("Ein Dutzend Kopien muss vorliegen.", "Zehn Kopien müssen vorliegen.", "n"),
        ("It must be sent within two weeks.", "It must be sent within a fortnight.", ""),
        ("It must be sent within 3 weeks.", "It must be sent within a fortnight.", "n"),
        ("The audit must be held every three months.", "The audit must be held quarterly.", ""),
        ("The audit must be held every 3 months.", "The audit must be held quarterly.", "n"),
        ("The audit must be held every four months.", "The audit must be held quarterly.", "n"),
        ("The audit must be held yearly.", "The audit must be held every twelve months.", ""),
        ("Die Prüfung erfolgt alle sechs Monate.", "Die Prüfung erfolgt halbjährlich.", ""),
        ("It must be kept for 24 months.", "It must be kept for two years.", "n"),
        ("It must be kept for 24 years.", "It must be kept for two years.", "n"),
        ("It must be sent within 5 days.", "It must be sent within one week.", "n"),
        ("The log must be read three times a day.", "The log must be read thrice a day.", ""),
        ("The report is due on the 12th day.", "The report is due on the twelfth day.", ""),
        ("Die Meldung ist am 21. Werktag fällig.", "Die Meldung ist am einundzwanzigsten Werktag fällig.", ""),
        ("Die Meldung ist am 22. Werktag fällig.", "Die Meldung ist am einundzwanzigsten Werktag fällig.", "n"),
        ("75 % of the members must agree.", "Three quarters of the members must agree.", "n"),
        ("65 % of the members must agree.", "Three quarters of the members must agree.", "n"),
        ("1/3 der Mitglieder muss zustimmen.", "Ein Drittel der Mitglieder muss zustimmen.", ""),
        (
            "Zwei Drittel der Mitglieder müssen zustimmen.",
            "Eine Zweidrittelmehrheit der Mitglieder muss zustimmen.",
            "",
        ),
    ]);
}
