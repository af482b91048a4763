//! Liars of a type that records no requirements, and of a row that takes the recording tools away.

use super::{
    Call, Liars, Lie, PASSAGES, Sentence, Stage, close, excuses,
    lies::{at, duties},
};
use plumbline_system_tests::PgPool;
use serde_json::{Value, json};

fn cites(read: &[Sentence]) -> Vec<Call> {
    duties(read).map(|duty| ("cite", at(duty))).collect()
}

/// A file that quotes duties, a block quote each.
fn quotes<'a>(path: &str, read: impl Iterator<Item = &'a Sentence>) -> Call {
    let quoted: String = read.map(|sentence| format!("> {}\n\nIt is so.\n\n", sentence.words)).collect();
    ("write_file", json!({"path": path, "content": format!("What the rules say:\n\n{quoted}")}))
}

/// Liars of a type whose jobs answer by a report that quotes the document.
const WITHOUT_RECORDER: [(&str, Lie); 6] = [
    ("cites only", cites),
    ("cites, and excuses", |read| cites(read).into_iter().chain(excuses(read)).collect()),
    ("rest alone", excuses),
    ("quotes in a file of its own", |read| {
        [quotes("notes/quotes.md", duties(read))].into_iter().chain(cites(read)).collect()
    }),
    ("a quarter quoted, and excuses", |read| {
        let quarter = quotes("output/report.md", duties(read).step_by(5));
        std::iter::once(quarter).chain(cites(read)).chain(excuses(read)).collect()
    }),
    ("quotes all as one", |read| {
        let words: Vec<&str> = read.iter().map(|sentence| sentence.words.as_str()).collect();
        let content = format!("> {}\n\nAll of it is answered.\n", words.join(" "));
        let report = ("write_file", json!({"path": "output/report.md", "content": content}));
        [report, close(1..=PASSAGES, "The rest of it obliges nobody at all.")].into()
    }),
];

/// One that does its work: each duty is quoted in the report.
const HONEST: [(&str, Lie); 1] = [("quotes each", |read| vec![quotes("output/report.md", duties(read))])];

fn without_recorder() -> Value {
    json!({"tools": {"domain": ["extract_document_text", "chunk_document", "cite"], "deferred": ["add_note", "add_accomplishment", "edit_file", "read_plan", "get_progress"]}})
}

#[sqlx::test(migrations = false)]
async fn a_citation_is_no_answer_where_nothing_is_recorded(pool: PgPool) {
    let liars = Liars::new(&WITHOUT_RECORDER);
    let stage = Stage::new(pool, &liars, without_recorder()).await;
    let jobs = stage.insert(&liars, None).await;
    let ends = stage.ends(&jobs).await;
    let named = ends.iter().filter(|end| end.contains("completed")).count();
    assert_eq!(named, 0, "{ends:#?}");
    stage.world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_report_that_quotes_each_candidate_answers_for_the_document(pool: PgPool) {
    let liars = Liars::new(&HONEST);
    let stage = Stage::new(pool, &liars, without_recorder()).await;
    let [(_, id)] = &stage.insert(&liars, None).await[..] else { panic!("it is one") };
    stage.run(&["worker", "--until-idle"]).await;
    let job = stage.world.job(*id).await;
    let result = job.result.clone().unwrap_or_default();
    assert_eq!((job.status.as_str(), &result["coverage"]), ("completed", &json!(1.0)), "{job:?}");
    let headline = result["headline"].as_str().unwrap_or_default();
    assert!(headline.starts_with("quotes of 24 of 24 candidate sentences"), "{headline}");
    stage.world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_row_that_takes_the_recorders_away_does_not_switch_the_rules_off(pool: PgPool) {
    let liars = Liars::new(&WITHOUT_RECORDER);
    let stage = Stage::new(pool, &liars, json!({})).await;
    let jobs = stage.insert(&liars, Some(without_recorder())).await;
    let ends = stage.ends(&jobs).await;
    let failed = ends.iter().filter(|end| end.contains(r#"failed "nothing_recorded""#)).count();
    assert!(failed >= 4, "{ends:#?}");
    stage.world.finish().await;
}
