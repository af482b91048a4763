//! `plumbline candidates`: which sentences of a document are candidates for an obligation, without a database.

use plumbline_system_tests::{Ended, PgPool, World, documents};
use serde_json::{Value, json};
use std::{fs, path::Path};

fn write(world: &World, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = world.folder().join(name);
    fs::create_dir_all(path.parent().expect("it lies in the world's folder"))
        .expect("the world's folder can be written");
    fs::write(&path, content).expect("the world's folder can be written");
    path.display().to_string()
}

async fn run(world: &World, arguments: &[&str]) -> Ended {
    let mut command = world.command(arguments);
    command.env_remove("DATABASE_URL").env("PLUMBLINE_CONFIG_DIR", world.folder().join("types"));
    world.start(command).ended().await
}

async fn lines(world: &World, arguments: &[&str]) -> Vec<Value> {
    let ended = run(world, arguments).await;
    assert_eq!(ended.code, Some(0), "{arguments:?}: {}", ended.stderr);
    ended.stdout.lines().map(|line| serde_json::from_str(line).expect("a JSON object a line")).collect()
}

fn types(world: &World, config: &Value) -> String {
    fs::create_dir_all(world.folder().join("types")).expect("the world's folder can be written");
    write(world, "types/mine/config.json", config.to_string())
}

#[sqlx::test(migrations = false)]
async fn a_document_is_cut_into_numbered_sentences_with_their_pages(pool: PgPool) {
    let world = World::new(pool).await;
    types(&world, &json!({"$extends": "creator"}));
    let file = write(&world, "policy.pdf", documents::sample("pdf"));
    let found = lines(&world, &["candidates", &file, "--json"]).await;
    let keys: Vec<&String> = found[0].as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["candidate", "page", "reason", "sentence", "text"]);
    let numbers: Vec<Option<u64>> = found.iter().map(|line| line["sentence"].as_u64()).collect();
    assert!(numbers.iter().copied().eq((1..=found.len() as u64).map(Some)), "{numbers:?}");
    let pages: Vec<u64> = found.iter().map(|line| line["page"].as_u64().expect("a PDF has pages")).collect();
    assert!(pages.is_sorted() && pages[0] == 1 && pages[pages.len() - 1] > 1, "{pages:?}");
    let reasons = found.iter().filter(|line| line["candidate"] == true);
    assert!(reasons.clone().count() > 5 && reasons.clone().all(|line| line["reason"].is_string()), "{found:?}");
    assert!(found.iter().filter(|line| line["candidate"] == false).all(|line| line["reason"].is_null()), "{found:?}");

    let shown = run(&world, &["candidates", &file]).await.stdout;
    let last = shown.lines().last().unwrap_or_default();
    assert_eq!(last, format!("{} of {} sentences are candidates", reasons.count(), found.len()));
    assert!(shown.starts_with("page ") && shown.contains(" (shall): "), "{shown}");

    let plain = write(&world, "rule.md", documents::policy(1).markdown);
    let found = lines(&world, &["candidates", &plain, "--json"]).await;
    assert!(found.iter().all(|line| line["page"].is_null()), "{found:?}");
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn losses_and_sentences_that_are_not_judged_are_named_on_stderr(pool: PgPool) {
    let world = World::new(pool).await;
    types(&world, &json!({"$extends": "creator"}));
    let french =
        "<p>Les factures doivent être conservées pendant dix ans.</p><p>The clerk must sign.</p><del>Old rule.</del>";
    let file = write(&world, "fr.html", french);
    let ended = run(&world, &["candidates", &file]).await;
    assert!(ended.stdout.ends_with("1 of 2 sentences are candidates\n"), "{}", ended.stdout);
    let as_json = run(&world, &["candidates", &file, "--json"]).await;
    assert_eq!((as_json.stdout.lines().count(), &as_json.stderr), (2, &ended.stderr));
    let notes = [
        "plumbline: Left out as struck out: \u{ab}Old rule.\u{bb}.",
        "plumbline: 1 of 2 sentences are not judged: the scan has rules for text in English and German; read them",
    ];
    assert_eq!(ended.stderr.lines().collect::<Vec<_>>(), notes);
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn given_sentences_are_judged_line_by_line(pool: PgPool) {
    let world = World::new(pool).await;
    types(&world, &json!({"$extends": "creator"}));
    let given =
        "{\"text\": \"The cat is grey.\"}\n\n{\"text\": \"Records must be kept.\", \"id\": 7}\n{\"text\": \"\"}\n";
    let file = write(&world, "given.jsonl", given);
    assert_eq!(
        lines(&world, &["candidates", "--sentences", &file]).await,
        [
            json!({"line": 1, "candidate": false, "reason": null}),
            json!({"line": 3, "candidate": true, "reason": "must"}),
            json!({"line": 4, "candidate": false, "reason": null}),
        ]
    );
    for (content, words) in [
        ("{\"text\": \"One.\"}\n{\"txt\": 1}\n", "given.jsonl:2 is not a JSON object with `text`"),
        ("One.\n", "given.jsonl:1 is not a JSON object with `text`"),
    ] {
        write(&world, "given.jsonl", content);
        let refused = run(&world, &["candidates", "--sentences", &file]).await;
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
        assert!(refused.stderr.contains(words), "{}", refused.stderr);
    }
    for (arguments, words) in [
        (&["candidates", "/nowhere/a.pdf"][..], "/nowhere/a.pdf could not be read"),
        (&["candidates"][..], "required"),
        (&["candidates", &file, "--type", "nobodys"][..], "nobodys"),
    ] {
        let refused = run(&world, arguments).await;
        assert!(refused.code != Some(0) && refused.stderr.contains(words), "{refused:?}");
        assert_eq!(refused.stderr.lines().count(), 1, "{}", refused.stderr);
    }
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn patterns_of_a_job_type_add_candidates(pool: PgPool) {
    let world = World::new(pool).await;
    let config =
        types(&world, &json!({"$extends": "creator", "coverage_settings": {"patterns": ["kindly requested"]}}));
    let file = write(&world, "house.txt", "Guests are kindly requested to ring.\n\nThe house is old.\n");
    let reasons = async |arguments: &[&str]| -> Vec<Value> {
        lines(&world, arguments).await.into_iter().map(|line| line["reason"].clone()).collect()
    };
    assert_eq!(reasons(&["candidates", &file, "--json"]).await, [Value::Null, Value::Null]);
    assert_eq!(reasons(&["candidates", &file, "--json", "--type", "mine"]).await, [json!("pattern"), Value::Null]);

    fs::write(&config, json!({"$extends": "creator", "coverage_settings": {"patterns": ["("]}}).to_string())
        .expect("the world's folder can be written");
    let refused = run(&world, &["candidates", &file, "--type", "mine"]).await;
    let place = Path::new(&config).display().to_string();
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.stderr.contains(&place)
            && refused.stderr.contains("`coverage_settings.patterns` cannot be used: the pattern 1 is none"),
        "{}",
        refused.stderr
    );
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_job_type_of_policies_takes_the_present_passive(pool: PgPool) {
    let world = World::new(pool).await;
    types(&world, &json!({"$extends": "creator", "coverage_settings": {"style": "policy"}}));
    let text = "Access rights are reviewed every quarter.\n\nThe terms are explained in the annex.\n\n\
                Besucher werden am Empfang abgeholt.\n";
    let file = write(&world, "policy.txt", text);
    let reasons = async |arguments: &[&str]| -> Vec<Value> {
        lines(&world, arguments).await.into_iter().map(|line| line["reason"].clone()).collect()
    };
    let none = Value::Null;
    assert_eq!(reasons(&["candidates", &file, "--json"]).await, [none.clone(), none.clone(), none.clone()]);
    let by_policy = reasons(&["candidates", &file, "--json", "--type", "mine"]).await;
    assert_eq!(by_policy, [json!("policy"), none, json!("policy")]);
    world.finish().await;
}
