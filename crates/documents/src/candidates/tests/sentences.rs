//! Sentences with the layout of titles, and similar notations.

use super::*;

#[test]
fn a_numbered_instruction_that_is_set_like_a_heading_is_one_sentence() {
    check(
        "#### 3.1.1 Limit system access to users, processes acting on behalf of users, and\n\ndevices (including other systems).\n\n#### DISCUSSION\n\n\
         #### 3.1.3 Control the flow of data.\n\n### 3.1.4 Monitor security alerts and take action in response.\n\n## 3.2 Access control\n\n## Use cases of the system\n\nAC-5 Separate the duties of individuals.\n",
        &[
            (
                0,
                "3.1.1 Limit system access to users, processes acting on behalf of users, and devices (including other systems).",
                Some("instruction"),
            ),
            (0, "DISCUSSION", None),
            (0, "3.1.3 Control the flow of data.", Some("instruction")),
            (0, "3.1.4 Monitor security alerts and take action in response.", Some("instruction")),
            (0, "3.2 Access control", None),
            (0, "Use cases of the system", None),
            (0, "AC-5 Separate the duties of individuals.", Some("instruction")),
        ],
    );
}

#[test]
fn letters_that_look_alike_read_alike() {
    let scan = Scan::default();
    for sentence in [
        "Belege mu\u{308}ssen zehn Jahre aufbewahrt werden.",
        "The clerk \u{ff4d}\u{ff55}\u{ff53}\u{ff54} sign.",
        "The clerk m\u{443}st not sign; it sh\u{430}ll be closed.",
        "Der Pr\u{fc}fer darf nichts l\u{f6}schen.",
        "Der Pr\u{fc}fer darf keinerlei Belege l\u{f6}schen.",
        "It can\u{2019}t be changed.",
        "> The clerk must sign.",
    ] {
        assert!(scan.judge(sentence).is_some(), "{sentence}");
    }
}

#[test]
fn duties_that_look_like_an_aim_a_guess_or_a_phrase() {
    let scan = Scan::default();
    for sentence in [
        "The carrier has to ensure that the crates are sealed.",
        "Carriers need to ensure that the crates are sealed.",
        "Insured persons are to ensure that the form is complete.",
        "The label must clearly name the importer.",
        "A foreign pilot must already hold a licence.",
        "The terms must be agreed in writing.",
        "Visitors are to follow the green line.",
        "The seller has to offer a second date.",
        "The caretaker is to come at once.",
        "The guard should help the passengers.",
        "The site should have documented exits.",
        "The agency mandates full disclosure.",
        "The regulator expects small life insurers to publish it.",
        "An entry requires payment of the toll.",
        "Carriers such as ferries and barges are required to carry a raft.",
        "Such loans are subject to the capital requirements of the chapter.",
        "A keeper may, if the vet agrees, in writing and beforehand, move a herd only if each animal is healthy.",
        "Die Aufstellung ben\u{f6}tigt die Erlaubnis der Gemeinde.",
        "Der Aush\u{e4}nger braucht eine Genehmigung.",
    ] {
        assert!(scan.judge(sentence).is_some(), "{sentence}");
    }
    for sentence in [
        "The aim of the seal is to ensure that the crate is not opened.",
        "The seal serves to ensure a tight fit.",
        "The carrier does not have to ensure that the crates are sealed.",
        "It must certainly be a mistake.",
        "She must already have left.",
        "The term shall mean each of them.",
        "The board cannot tell what is to come.",
        "The worst is yet to come, and more is to follow.",
        "That is all that the town has to offer.",
        "You should see the green line.",
        "He should have asked him.",
        "If a signed written form is required, it is enclosed.",
    ] {
        assert_eq!(scan.judge(sentence), None, "{sentence}");
    }
}

#[test]
fn what_users_of_a_product_can_do_is_a_function_of_it() {
    let scan = Scan::default();
    for sentence in
        ["Users can export the list.", "The application can send reminders.", "Each user can choose a colour."]
    {
        assert_eq!(scan.judge(sentence), Some("function"), "{sentence}");
    }
    for sentence in ["You can export the list.", "The owner can apply for a refund.", "Users can be tired."] {
        assert_eq!(scan.judge(sentence), None, "{sentence}");
    }
}

#[test]
fn duties_without_a_word_of_duty() {
    let scan = Scan::default();
    for (sentence, reason) in [
        ("The supplier will deliver the spare parts from Ulm.", "undertaking"),
        ("The fee is payable by the applicant.", "undertaking"),
        ("Access to the archive is restricted to two clerks.", "only"),
        ("The licence does not permit resale.", "prohibition"),
        ("The manager ensures that each visitor signs the book.", "duty stated"),
        ("Die Geb\u{fc}hr ist sofort f\u{e4}llig.", "erforderlich"),
    ] {
        assert_eq!(scan.judge(sentence), Some(reason), "{sentence}");
    }
    for sentence in ["It will rain tomorrow.", "We will see what comes of it.", "The chapter will show how it works."] {
        assert_eq!(scan.judge(sentence), None, "{sentence}");
    }
}

#[test]
fn statutes_in_german_bind_by_the_infinitive_and_by_what_they_deny() {
    let scan = Scan::default();
    for (sentence, reason) in [
        ("Der Halter hat den Verkauf binnen einer Woche anzumelden (Ummeldung).", "hat zu"),
        ("Sinken die Kosten, so ist die Gebühr herabzusetzen.", "ist zu"),
        ("Die Kündigung ist dem Käufer schriftlich zu erklären.", "ist zu"),
        ("Der Händler hat das Gerät dem Kunden zu überlassen und es ein Jahr lang zu warten.", "hat zu"),
        ("Wird eine nicht angemeldete Reparatur nötig, so hat der Halter sie anzuzeigen.", "erforderlich"),
        ("Ist die Ware vor dieser Zeit bezahlt worden, so hat der Händler den Preis zurückzuzahlen.", "hat zu"),
        ("Der Fahrer ist nicht befugt, das Siegel zu öffnen.", "darf nicht"),
        ("Der Käufer kann Ersatz nicht verlangen, wenn er den Mangel kannte.", "darf nicht"),
        ("Auf dieses Recht kann nicht verzichtet werden.", "darf nicht"),
    ] {
        assert_eq!(scan.judge(sentence), Some(reason), "{sentence}");
    }
    for sentence in [
        "Der Fahrer ist befugt, das Siegel zu öffnen.",
        "Den Parteien bleibt es überlassen, einen Ort zu wählen.",
        "Der Unterschied ist durch die Temperatur zu erklären.",
        "Die Maschine kann die Datei nicht öffnen.",
    ] {
        assert_eq!(scan.judge(sentence), None, "{sentence}");
    }
}

#[test]
fn specifications_leave_out_the_part_that_acts() {
    let scan = Scan::default();
    for (sentence, reason) in [
        ("Provides a search over all orders.", "function"),
        ("Automatically rejects orders without a date.", "function"),
        ("The minimum length of a password is 12 characters.", "function"),
        ("Visitors are permitted to take photographs with the prior consent of the warden.", "only"),
    ] {
        assert_eq!(scan.judge(sentence), Some(reason), "{sentence}");
    }
    for sentence in
        ["Updates of the past year", "The maximum temperature was 30 degrees.", "Visitors may take photographs."]
    {
        assert_eq!(scan.judge(sentence), None, "{sentence}");
    }
}

#[test]
fn the_future_binds_those_who_can_owe_something() {
    let scan = Scan::default();
    for sentence in [
        "Company will pay the invoice.",
        "The publisher and its affiliates will not alter the text.",
        "The payment terminal will print a receipt.",
    ] {
        assert_eq!(scan.judge(sentence), Some("undertaking"), "{sentence}");
    }
    for sentence in [
        "Most packages will simply use both fields.",
        "Higher values will make the search slower.",
        "The leading space will usually be stripped off.",
        "Using it will save effort.",
        "These marks will not appear in the list.",
    ] {
        assert_eq!(scan.judge(sentence), None, "{sentence}");
    }
}

#[test]
fn policies_bind_by_the_present_passive() {
    let (normative, policy) = (Scan::default(), Scan::new(&[], DocumentStyle::Policy).expect("no patterns"));
    for sentence in [
        "Access rights are reviewed every quarter.",
        "Paper records are shredded.",
        "Vorf\u{e4}lle werden an das Sicherheitsteam gemeldet.",
    ] {
        assert_eq!((normative.judge(sentence), policy.judge(sentence)), (None, Some("policy")), "{sentence}");
    }
    for sentence in [
        "The terms are explained in the annex.",
        "The building was renovated in 2020.",
        "If a device is lost, the finder can call us.",
        "Die Begriffe werden in Anhang A erl\u{e4}utert.",
    ] {
        assert_eq!(policy.judge(sentence), None, "{sentence}");
    }
}

#[test]
fn what_there_are_no_rules_for_is_not_judged() {
    let judged = |text: &str| -> Vec<bool> {
        Scan::default().sentences(text).into_iter().map(|sentence| sentence.judged).collect()
    };
    let text = "The log must be kept. It is blue.\n\nLe responsable doit signer chaque page du registre.\n\n\
                \u{53d1}\u{7968}\u{5fc5}\u{987b}\u{4fdd}\u{5b58}\u{5341}\u{5e74}\u{3002}\n\n```\nkeep = all of it\n```\n\nBelege m\u{fffd}ssen bleiben.\n\nDie Pr\u{fc}fung ist kurz.\n";
    assert_eq!(judged(text), [true, true, false, false, false, false, true]);
    // Lines too short to tell are of the language of the others.
    assert_eq!(judged("Il est interdit de fumer dans la salle.\n\n- signer chaque page\n"), [false, false]);
}

#[test]
fn sentences_are_cut_where_the_scan_finds_them() {
    let text = "[page 1]\n\n# One\n\nTwo is. Three\n\n[page 2]\n\nis too.\n\n| a | b |\n| --- | --- |\n| c. D | e |\n\n- (a) f\n";
    let ranges: Vec<_> = Scan::default().sentences(text).into_iter().map(|sentence| sentence.range).collect();
    assert_eq!(cut(text), ranges);
}

#[test]
fn elements_and_values_are_sentences() {
    let xml = "<rules><rule id=\"1\">Invoices must be kept</rule><rule id=\"2\">Logs are <b>blue</b>.</rule></rules>\n\n\
               <req text=\"The clerk shall sign each page\"/><req text=\"b\"/>\n";
    check(
        xml,
        &[
            (0, "Invoices must be kept", Some("must")),
            (0, "Logs are <b>blue</b>.", None),
            (0, "The clerk shall sign each page", Some("shall")),
        ],
    );
    let json = "[{\"id\": 1, \"text\": \"Invoices must be kept. They are blue.\"}, {\"id\": 2, \"text\": \"Logs shall not be deleted\"}]\n";
    check(
        json,
        &[
            (0, "Invoices must be kept.", Some("must")),
            (0, "They are blue.", None),
            (0, "Logs shall not be deleted", Some("shall")),
        ],
    );
    check(
        "1,\"Invoices must be kept for ten years, always\",Records office of Ulm\n",
        &[(0, "1,\"Invoices must be kept for ten years, always\",Records office of Ulm", Some("must"))],
    );
    assert_eq!(cut(xml).len() + cut(json).len(), 6);
}

#[test]
fn attributes_over_several_lines_and_values_of_keys_are_sentences_each() {
    let duties = ["It shall log in.", "It shall log out."];
    for text in [
        "<req\n    t=\"It shall log in.\"\n    u=\"It shall log out.\"\n/>\n",
        "<req t='It shall log in.' u = \"It shall log out.\"/>\n",
        "a:\n  b: It shall log in.\n  c:\n    d: It shall log out.\n",
    ] {
        let found: Vec<String> = Scan::default()
            .sentences(text)
            .into_iter()
            .filter(|one| one.reason.is_some())
            .map(|one| one.text)
            .collect();
        assert!(
            found.len() == 2 && found.iter().zip(duties).all(|(one, duty)| one.contains(duty)),
            "{text}: {found:?}"
        );
    }
    let prose = "It shall log the entries of the day, and\nkeep: the register, the book.\n";
    assert_eq!(cut(prose).len(), 1);
}

#[test]
fn values_of_json_with_markup_and_texts_of_yaml_keys_are_sentences_each() {
    let duties = ["It shall log in.", "It shall log out.", "It shall wait here.", "It shall log off."];
    for text in [
        r#"{"a": "It shall log in.", "b": ["<p>It shall log out.</p><p>It shall wait here.</p>"], "c": "It shall log off."}"#,
        "\"a\": \"It shall log in.\",\n\"b\": \"<p>It shall log out.</p><p>It shall wait here.</p>\", \"c\": \"It shall log off.\"",
        "a: >\n  It shall\n  log in.\nb: |-\n  It shall log out.\nc: It shall wait here.\n- d: |\n    It shall\n    log off.\n",
        "a: |\n  It shall log in\nb: |\n  It shall log out\nc: |\n  It shall wait here\nd: |\n  It shall log off\n",
        "- a: >\n    It shall log in\n  b: >+\n    It shall log out\n  c: It shall wait here.\n  d: It shall log off.\n",
    ] {
        let found = Scan::default().sentences(text).into_iter().filter(|one| one.reason.is_some());
        let found: Vec<String> = found.map(|one| one.text).collect();
        let says = |(one, duty): (&String, &str)| one.contains(duty.trim_end_matches('.'));
        assert!(found.len() == 4 && found.iter().zip(duties).all(says), "{text}: {found:?}");
    }
    assert_eq!(cut("The clerk shall keep\nnote: |x| is a number.\n").len(), 1);
}

#[test]
fn quoted_lines_and_lines_ended_by_a_backslash_are_text() {
    let expected =
        [(0, "The clerk must sign it within a day.", Some("must")), (0, "The guard must wait.", Some("must"))];
    for quoted in ["> ", ">> ", "> > ", ">>> "] {
        let text = format!("> The clerk must sign it\n> within a day.\n{quoted}The guard\n{quoted}must wait.\n");
        check(&text, &expected);
    }
    check(
        "The clerk must sign it.\\\nThe guard must wait.\n",
        &[(0, "The clerk must sign it.\\", Some("must")), (0, "The guard must wait.", Some("must"))],
    );
}

#[test]
fn contracted_verbs_bind_and_free_as_in_full() {
    let scan = Scan::default();
    for sentence in [
        "It's required that the clerk signs.",
        "It\u{2019}s mandatory to wear a badge.",
        "It's forbidden to smoke.",
        "You're required to sign the form.",
        "You\u{2019}re not allowed to smoke here.",
        "They're obliged to sign.",
        "We're expected to answer within a day.",
        "Everybody's responsible for the keys.",
        "Records shan't be altered.",
        "The clerk oughtn't to sign alone.",
        "You've got to sign.",
        "The ledger has got to be kept for a year.",
        "Every key has, within ten days, to be returned.",
        "The form is, at the latest by noon, to be signed.",
    ] {
        assert!(scan.judge(sentence).is_some(), "{sentence}");
    }
    for sentence in [
        "It's not required to sign.",
        "You're not obliged to wait.",
        "They're a company of three hundred people.",
        "It's a small house with a garden.",
        "We've seen the sea.",
        "She's got to the end of the road.",
        "There's much to see in the town.",
        "The house is, as we came to see, old.",
    ] {
        assert!(scan.judge(sentence).is_none(), "{sentence}");
    }
}

#[test]
fn lines_of_a_json_string_and_items_of_latex_are_sentences() {
    check(
        "{\"rules\":\"The clerk must sign.\\nThe guard must wait.\"}",
        &[(0, "The clerk must sign.", Some("must")), (0, "The guard must wait.", Some("must"))],
    );
    check(
        "\\item The clerk must sign.\n\\item[b] The guard must wait.\n",
        &[(0, "The clerk must sign.", Some("must")), (0, "The guard must wait.", Some("must"))],
    );
}
