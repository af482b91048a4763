//! Honest paraphrases, in plain words, the other voice, with a condition in front: none has a reason for a look or a remark.

use super::super::{are_other_words, remarks};
use super::of;

#[test]
fn an_honest_paraphrase_has_neither_a_reason_nor_a_remark() {
    for (text, quote) in PARAPHRASES {
        let reasons = of(text, &[quote]).reasons();
        assert!(reasons.is_empty(), "{text} / {quote}: {reasons:?}");
        assert_eq!(remarks(text, &[quote]), <[String; 0]>::default(), "{text} / {quote}");
        assert!(!are_other_words(text, &[quote]), "{text} / {quote}");
    }
}

const PARAPHRASES: [(&str, &str); 62] = [
    (
        "A contractor must sign up to this policy by contract before getting access to records.",
        "Contractors shall be bound to this policy by contract before they receive access to records.",
    ),
    (
        "If the law is stricter than this policy, the law applies and the Head of Finance must be told of the difference.",
        "Where a provision of law is stricter than this policy, the law must be followed, and the Head of Finance must be informed of the difference.",
    ),
    (
        "The Management Board must review this policy every two years or more often.",
        "It shall review this policy at least once every two years.",
    ),
    (
        "The record schedule in Annex A must be maintained by the Head of Finance.",
        "The Head of Finance shall maintain the record schedule in Annex A.",
    ),
    (
        "By 31 March each year, the Head of Finance must report on record-keeping to the Board.",
        "The Head of Finance must report the state of record-keeping to the Management Board by 31 March of each year.",
    ),
    (
        "A register of all systems that hold records must be kept by the Records Manager.",
        "The Records Manager shall keep a register of all systems in which records are held.",
    ),
    (
        "For every system the register must state the owner, which kinds of records it holds and how long they are retained.",
        "The register must name for each system its owner, the kinds of records in it, and the retention period that applies.",
    ),
    (
        "New staff must be trained by the Records Manager within 6 weeks of starting.",
        "The Records Manager shall train new employees within six weeks of their first day.",
    ),
    (
        "The archive log must be accessible to the Data Protection Officer at all times.",
        "The Data Protection Officer shall have access to the archive log at any time.",
    ),
    (
        "Every head of department must appoint a records coordinator and a deputy.",
        "Each department head shall name a records coordinator and a deputy.",
    ),
    (
        "Once per year, department heads must confirm that their department's records are complete.",
        "Department heads must confirm once a year that the records of their department are complete.",
    ),
    (
        "Annually, each department head must confirm the completeness of the department's records.",
        "Department heads must confirm once a year that the records of their department are complete.",
    ),
    (
        "Business transactions must be recorded in full, correctly, promptly and in an orderly way.",
        "Every business transaction must be recorded completely, correctly, in good time and in order.",
    ),
    (
        "It must be evident from a record who made it, when, and which transaction it belongs to.",
        "A record shall show who made it, when it was made, and to which transaction it belongs.",
    ),
    (
        "No entry may be made in the books without a supporting document.",
        "Entries in the books must not be made without a supporting document.",
    ),
    (
        "An internal voucher signed by two authorised persons must be drawn up if there is no outside document.",
        "Where no outside document exists, an internal voucher shall be drawn up and signed by two authorised persons.",
    ),
    (
        "Two persons must approve invoices above EUR 5,000.",
        "An invoice over 5,000 euros must be approved by two persons.",
    ),
    (
        "Invoices of more than €5000 need the approval of 2 people.",
        "An invoice over 5,000 euros must be approved by two persons.",
    ),
    (
        "The person who orders goods is not allowed to approve the invoice for them.",
        "The person who orders goods must not approve the invoice for them.",
    ),
    (
        "An invoice that lacks particulars must go back to the supplier and must not be paid.",
        "Invoices with missing particulars must be returned to the supplier and may not be paid.",
    ),
    (
        "Converting an electronic invoice is allowed only when the original is also kept.",
        "A conversion into another format is permitted only if the original is kept as well.",
    ),
    (
        "As of 1 January 2027, invoices to domestic business customers must be issued as structured e-invoices.",
        "From 1 January 2027 outgoing invoices to domestic business customers shall be issued as structured electronic invoices.",
    ),
    (
        "Paper belonging to the books must be scanned no later than five working days after receipt.",
        "Paper documents that belong to the books shall be scanned within five working days of their receipt.",
    ),
    (
        "Private e-mail accounts and private messaging services must not be used for business.",
        "Employees shall not use private e-mail accounts or private messaging services for business transactions.",
    ),
    (
        "Records must be kept only in systems listed in the register of section 2.3.",
        "Records may only be kept in systems that are entered in the register of section 2.3.",
    ),
    (
        "Only systems in the register (section 2.3) may hold records.",
        "Records may only be kept in systems that are entered in the register of section 2.3.",
    ),
    (
        "Local working copies must be deleted once the work is done.",
        "Local copies may be used for work in progress but must be deleted when the work is finished.",
    ),
    (
        "Every change must be logged with user, time, and the old and new values.",
        "Systems shall log every change with user, time, old value and new value.",
    ),
    (
        "IT Operations must check the checksums of archived documents four times a year.",
        "IT Operations shall verify the checksums of archived documents every quarter.",
    ),
    (
        "Staff access rights must be reviewed by department heads every six months.",
        "Department heads must review the access rights of their staff twice a year.",
    ),
    (
        "All rights of a leaving employee must be revoked by the last working day.",
        "When an employee leaves, all rights must be withdrawn on the last working day at the latest.",
    ),
    (
        "Administrators must not be able to approve payments.",
        "Administrators may not hold the right to approve payments.",
    ),
    (
        "External auditors and tax inspectors get read-only access.",
        "Access by external auditors and tax inspectors shall be read-only.",
    ),
    (
        "Archives need a daily backup with one copy at the other site.",
        "Archive systems must be backed up daily, and one copy shall be kept at the other site.",
    ),
    (
        "A restore test with 200 random documents must be done every half year or more often.",
        "Restoring shall be tested at least twice a year with a random sample of 200 documents.",
    ),
    (
        "Originals may be taken out of the archive room only against signature, and for at most 10 working days.",
        "They may leave the archive room only against a signature and for no more than ten working days.",
    ),
    (
        "Unless the tax authority permits it in writing, records must not be moved outside the EU.",
        "Records must not be moved to a country outside the European Union without a written permit of the tax authority.",
    ),
    (
        "Warnings must be deleted from the file after 3 years, except if a new incident of the same kind occurred.",
        "Warnings must be removed from the file after three years, unless a new incident of the same kind has occurred.",
    ),
    (
        "Containers for confidential paper must be locked.",
        "Containers for confidential paper must be locked and should be emptied every two weeks.",
    ),
    (
        "Containers for confidential paper should be emptied fortnightly.",
        "Containers for confidential paper must be locked and should be emptied every two weeks.",
    ),
    (
        "The record of destruction must be retained for a decade.",
        "The record of destruction must be kept for ten years.",
    ),
    (
        "Major findings must be remedied by departments within 60 days.",
        "Departments shall remedy major findings within 60 days.",
    ),
    (
        "The Management Board must review the policy every two years.",
        "Management Board | Policy, resources | Review every two years | Annual report",
    ),
    (
        "98 % of invoices must be archived within 5 working days.",
        "Invoices archived within five working days | 98 % | archive statistics",
    ),
    (
        "At least 98 percent of invoices must be in the archive within five working days.",
        "Invoices archived within five working days | 98 % | archive statistics",
    ),
    (
        "Journey 1: the traveller must hand in the receipt within 10 days.",
        "DOC-001 | 05/01/2019 | CITIBANK TRAVEL CARD 1 | The traveller of journey 1 shall hand in the receipt within ten days. | 101.96",
    ),
    (
        "\"Batch\" must be understood as a quantity produced under uniform conditions.",
        "In this Regulation, the term \"batch\" shall mean a quantity produced under uniform conditions.",
    ),
    (
        "Processors must keep a record of all categories of processing that they carry out for a controller.",
        "Each processor shall maintain a record of all categories of processing activities carried out on behalf of a controller.",
    ),
    (
        "Logs under Article 12 must be retained by providers of high-risk systems for at least half a year.",
        "Providers of high-risk systems are to keep the logs referred to in Article 12 for at least six months.",
    ),
    (
        "Products without a type number must not be supplied by importers.",
        "Importers may not supply products which bear no type number.",
    ),
    (
        "The concentration must never exceed 0.1 % by weight.",
        "In no case shall the concentration exceed 0.1 % by weight.",
    ),
    (
        "The declaration must not be altered by the importer or the distributor.",
        "Neither the importer nor the distributor may alter the declaration.",
    ),
    (
        "Bücher und Aufzeichnungen müssen 10 Jahre lang geordnet aufbewahrt werden.",
        "Bücher und Aufzeichnungen sind zehn Jahre geordnet aufzubewahren.",
    ),
    (
        "Kasseneinnahmen und -ausgaben müssen jeden Tag festgehalten werden.",
        "Kasseneinnahmen und Kassenausgaben sind täglich festzuhalten.",
    ),
    (
        "Jede Verletzung muss der Auftragsverarbeiter dem Verantwortlichen sofort melden.",
        "Der Auftragsverarbeiter meldet dem Verantwortlichen jede Verletzung unverzüglich.",
    ),
    (
        "Jede Verletzung muss dem Verantwortlichen vom Auftragsverarbeiter ohne Verzögerung gemeldet werden.",
        "Der Auftragsverarbeiter meldet dem Verantwortlichen jede Verletzung unverzüglich.",
    ),
    (
        "Belege dürfen vor Ablauf der Frist nicht gelöscht werden.",
        "Das Löschen von Belegen vor Ablauf der Frist ist unzulässig.",
    ),
    (
        "Änderungen müssen der zuständigen Stelle sofort mitgeteilt werden.",
        "Änderungen sind der zuständigen Stelle unverzüglich mitzuteilen.",
    ),
    ("Unbefugte dürfen die Anlage nicht betreten.", "Das Betreten der Anlage ist Unbefugten verboten."),
    (
        "Das Gerät muss nach spätestens 5 Sekunden betriebsbereit sein.",
        "Das Gerät muss innerhalb von 5 s betriebsbereit sein.",
    ),
    (
        "Hunde müssen im Wald vom Halter an der Leine geführt werden.",
        "Der Halter muss den Hund im Wald an der Leine führen.",
    ),
    ("Die Anzeige muss bei Sonnenlicht gelesen werden können.", "Die Anzeige hat auch bei Sonnenlicht lesbar zu sein."),
];
