//! Planted documents: the extraction preserves and the scan finds the generator's obligations.

use plumbline_system_tests::{
    PgPool, World,
    planted::{self, Gold, Options, trial},
};
use serde_json::Value;
use std::fs;

async fn sentences(world: &World, options: Options) -> (Vec<Gold>, Vec<Value>) {
    let planted = planted::make(options).expect("there is room");
    let file = world.folder().join(format!("planted-{}.pdf", options.seed));
    fs::write(&file, &planted.pdf).expect("the world's folder can be written");
    let ended = world.run(&["candidates", &file.display().to_string(), "--json"]).await;
    assert_eq!(ended.code, Some(0), "{options:?}: {}", ended.stderr);
    let lines = ended.stdout.lines().map(|line| serde_json::from_str(line).expect("a JSON object a line"));
    (planted.gold, lines.collect())
}

/// The sentence that has the gold's words, on its page, as a candidate: nothing of an obligation is lost on the way.
fn is_found(gold: &Gold, sentences: &[Value]) -> bool {
    let text = |line: &Value| line["text"].as_str().unwrap_or_default().to_owned();
    let with_token: Vec<&Value> = sentences.iter().filter(|line| text(line).contains(&gold.id)).collect();
    matches!(with_token.as_slice(), [line] if text(line).contains(&gold.text) && line["page"] == gold.page && line["candidate"] == true)
}

#[sqlx::test(migrations = false)]
async fn every_planted_obligation_is_extracted_on_its_page_and_a_candidate(pool: PgPool) {
    let world = World::new(pool).await;
    for options in [
        Options::default(),
        Options { seed: 2, pages: 12, ..Options::default() },
        Options { seed: 3, pages: 40, ..Options::default() },
        Options { seed: 4, pages: 40, lists: 5, ..Options::default() },
    ] {
        let (gold, sentences) = sentences(&world, options).await;
        let missed: Vec<&Gold> = gold.iter().filter(|gold| !is_found(gold, &sentences)).collect();
        let least = 60 + 5 * options.lists as usize;
        assert!(gold.len() >= least && missed.is_empty(), "{options:?}: {missed:?}");
        let others: Vec<&Value> = sentences
            .iter()
            .filter(|line| !gold.iter().any(|gold| line["text"].as_str().is_some_and(|text| text.contains(&gold.id))))
            .collect();
        let flagged = others.iter().filter(|line| line["candidate"] == true).count();
        assert!(
            flagged * 4 <= others.len(),
            "{flagged} of {} sentences that oblige nobody are candidates",
            others.len()
        );
    }
    world.finish().await;
}

/// `make planted`, small: a healthy model finds everything, one whose records are refused reports the rest, and killed
/// workers do not change either result.
#[tokio::test]
async fn what_is_planted_is_found_or_named() {
    let options = Options { seed: 6, pages: 12, ..Options::default() };
    let planted = planted::make(options).expect("there is room");
    let kinds = ["healthy", "invented_quote"].map(|name| plumbline_rehearsal::misbehave::find(name).expect("a kind"));
    let outcome = trial::run(&trial::Trial { options, jobs: 2, kinds: kinds.to_vec(), kills: 2 }, &planted).await;
    assert!(outcome.holds() && outcome.whole > 0, "{outcome:?}");
}

/// A model whose records are often ill-formed, one that forgets the passage in which a list began, and one that closes todos
/// without work: each records all of it in the end.
#[tokio::test]
async fn what_is_refused_or_forgotten_is_done_again() {
    let of = |seed, sentences, lists| Options { seed, pages: 12, sentences, lists };
    for (kind, jobs, options) in [
        ("unknown_arguments", 4, of(8, 60, 0)),
        ("overflow_vllm", 4, of(3, 20, 2)),
        ("closes_without_work", 6, of(8, 60, 0)),
    ] {
        let planted = planted::make(options).expect("there is room");
        let kinds = vec![plumbline_rehearsal::misbehave::find(kind).expect("a kind")];
        let outcome = trial::run(&trial::Trial { options, jobs, kinds, kills: 0 }, &planted).await;
        assert!(outcome.holds() && outcome.whole == jobs as usize, "{kind}: {outcome:?}");
    }
}

/// Definitions alone, no duty at all, a language without rules, and requirements in the model's own words: an honest job is
/// complete or with a person.
#[tokio::test]
async fn honest_jobs_are_complete_or_with_a_person() {
    let options = Options { seed: 7, pages: 12, ..Options::default() };
    let ended = planted::honest::run(options, 1).await.expect("there is room");
    assert!(ended.iter().all(planted::honest::Ended::holds), "{ended:#?}");
}
