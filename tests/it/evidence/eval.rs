//! `plumbline eval`: compares runs with a gold list.

use plumbline_system_tests::{Ended, PgPool, World, documents, jobs::NewJob, program};
use serde_json::{Value, json};
use std::{fs, path::Path};

/// In a world without a database.
async fn without_database(world: &World, arguments: &[&str]) -> Ended {
    let mut command = program::command(arguments);
    command.current_dir(world.folder());
    world.start(command).ended().await
}

fn write(world: &World, name: &str, lines: &[Value]) {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(world.folder().join(name), text).expect("the world's folder can be written");
}

#[sqlx::test(migrations = false)]
async fn a_job_and_its_recording_are_held_against_the_gold_side_by_side(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(2);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.work_until_idle().await;
    let done = world.becomes(job, "completed").await;
    let id = job.to_string();
    let exported = world.run(&["trace", &id, "--export", "job.json"]).await;
    assert_eq!((exported.code, exported.stderr.as_str()), (Some(0), ""));

    let missing = json!({"document": "policy.md", "page": 3, "text": "Nobody shall feed the penguins in the archive."});
    let known = policy.sentences.iter().map(|text| json!({"document": "input/policy.md", "text": text, "id": "x"}));
    write(&world, "gold.jsonl", &known.chain([missing.clone()]).collect::<Vec<_>>());
    let both = world.run(&["eval", "gold.jsonl", "--job", &id, "--recording", "job.json", "--json"]).await;
    assert_eq!((both.code, both.stderr.as_str()), (Some(0), ""));
    let both: Value = serde_json::from_str(&both.stdout).expect("one object");
    let runs = both["runs"].as_array().expect("two runs");
    assert_eq!((&runs[0]["run"], &runs[1]["run"]), (&json!(id), &json!("job.json")));
    let mut of_file = runs[1].clone();
    of_file["run"] = json!(id);
    assert_eq!(runs[0], of_file, "rows and recording say the same");

    let run = &runs[0];
    assert_eq!((&run["gold"], &run["found"], &run["recall"]), (&json!(5), &json!(4), &json!(0.8)));
    assert_eq!((&run["items"], &run["matched"], &run["precision"]), (&json!(4), &json!(4), &json!(1.0)));
    assert_eq!(
        (&run["place_exact"], &run["cost_usd"], &run["cost_per_found_usd"]),
        (&json!(0), &json!(0.0), &json!(0.0))
    );
    let tokens: i64 = sqlx::query_scalar("SELECT total_tokens_used FROM jobs WHERE id = $1")
        .bind(job)
        .fetch_one(&world.pool)
        .await
        .expect("the job's row");
    assert!(tokens > 0 && done.requests > 0);
    assert_eq!(run["tokens"], json!(tokens));
    assert_eq!(run["missed"], json!([{"line": 5, "document": "policy.md", "page": 3, "text": missing["text"]}]));
    let tenths = run["by_tenth"].as_array().expect("ten tenths");
    let sum = |key: &str| tenths.iter().filter_map(|tenth| tenth[key].as_u64()).sum::<u64>();
    assert_eq!((tenths.len(), sum("gold"), sum("found")), (10, 5, 4));

    let shown = without_database(&world, &["eval", "gold.jsonl", "--recording", "job.json", "--recall-only"]).await;
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""));
    for words in ["4 of 5", "80.0 %", "job.json missed 1:", "line 5, policy.md, page 3: Nobody shall feed"] {
        assert!(shown.stdout.contains(words), "`{words}` is not in: {}", shown.stdout);
    }
    let precision = shown.stdout.lines().find(|line| line.trim_start().starts_with("precision")).unwrap_or_default();
    assert!(precision.trim_end().ends_with(" -"), "{precision}");
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn what_cannot_be_evaluated_says_why_in_one_sentence(pool: PgPool) {
    let world = World::new(pool).await;
    write(&world, "gold.jsonl", &[json!({"document": "a.md", "text": "Records must be kept."})]);
    write(&world, "wrong.jsonl", &[json!({"document": "a.md", "text": "One."}), json!({"text": "Two."})]);
    let recording = Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings/creator.json").display().to_string();
    for (arguments, code, words) in [
        (&["eval", "gold.jsonl"][..], 2, "--job"),
        (&["eval", "none.jsonl", "--recording", &recording][..], 1, "none.jsonl could not be read"),
        (&["eval", "wrong.jsonl", "--recording", &recording][..], 2, "wrong.jsonl: line 2 is no line of a gold list"),
        (&["eval", "gold.jsonl", "--recording", "gold.jsonl"][..], 1, "it is not a recording"),
        (&["eval", "gold.jsonl", "--job", "01a20fa8-4a22-791f-98b7-80998d56fb14"][..], 2, "DATABASE_URL is not set"),
    ] {
        let refused = without_database(&world, arguments).await;
        assert_eq!((refused.code, refused.stderr.lines().count()), (Some(code), 1), "{arguments:?}: {refused:?}");
        assert!(refused.stderr.contains(words), "{arguments:?}: {}", refused.stderr);
    }
    let found = without_database(&world, &["eval", "gold.jsonl", "--recording", &recording, "--json"]).await;
    let found: Value = serde_json::from_str(&found.stdout).expect("one object");
    assert_eq!((&found["runs"][0]["found"], &found["runs"][0]["cost_per_found_usd"]), (&json!(0), &Value::Null));
    world.finish().await;
}
