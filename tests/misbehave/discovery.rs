//! Tools on demand, through the real worker: named in the prompt, executed without being loaded, bound from the turn
//! after the search, and the prefix changes once for it.

use crate::script::{Script, Seen, calls};
use plumbline_system_tests::{PgPool, World, jobs::NewJob};
use serde_json::{Value, json};
use sqlx::Row;

/// The tool that is not bound at the start.
const ON_DEMAND: &str = "query_similar_requirements";

/// The turn in which the model tries it too early, the one in which it searches for it, and the one in which it uses it.
const TRIES: u64 = 7;
const SEARCHES: u64 = 9;
const USES: u64 = 10;

/// The first tactical phase begins in the fourth turn and has more than enough todos for this.
fn aside(seen: &Seen) -> Option<Value> {
    let query = (ON_DEMAND, json!({"text": "Invoices must be kept for ten years."}));
    match seen.turns {
        TRIES => Some(calls(TRIES, &[query])),
        SEARCHES => Some(calls(SEARCHES, &[("search_tools", json!({"query": "similar requirements"})), query])),
        USES => Some(calls(USES, &[query])),
        _ => None,
    }
}

#[sqlx::test(migrations = false)]
async fn a_tool_on_demand_is_bound_from_the_turn_after_the_search_on(pool: PgPool) {
    let world = World::new(pool).await;
    world.import("policy.md", "Invoices must be kept for ten years.\n".repeat(400));
    let script = Script::with(40, aside).await;
    world.let_rows_set(&["llm.base_url"], &[&script.base_url()]);
    world.let_passages_be();
    let config = json!({
        "llm": {"base_url": script.base_url()},
        "tools": {"domain": ["add_requirement"], "deferred": ["add_note", ON_DEMAND]},
    });
    let job = world.insert(&NewJob { config: Some(config), ..NewJob::with_path("policy.md") }).await;
    world.work_until_idle().await;
    let ended = world.job(job).await;
    assert_eq!((ended.status.as_str(), ended.error.as_deref()), ("completed", None), "{ended:?}");
    let results = "SELECT tool_calls, (SELECT array_agg(r.content ORDER BY r.seq) FROM messages r
                     WHERE r.job_id = m.job_id AND r.tool_call_id IN
                       (SELECT c->>'id' FROM json_array_elements(m.tool_calls) c)) AS results
                   FROM messages m WHERE job_id = $1 AND tool_calls::text LIKE $2 ORDER BY seq";
    let rows = sqlx::query(results).bind(job).bind(format!("%{ON_DEMAND}%")).fetch_all(&world.pool).await;
    let given: Vec<Vec<String>> = rows.expect("messages can be read").iter().map(|row| row.get("results")).collect();
    let [early, search, late] = &given[..] else { panic!("three answers call it: {given:?}") };
    assert!(!early[0].starts_with("Error"), "{early:?}");
    assert!(search[0].starts_with("Loaded; they can be called from your next answer on:"), "{search:?}");
    assert!(!search[1].starts_with("Error"), "{search:?}");
    assert!(!late[0].starts_with("Error"), "{late:?}");
    hold(&script.seen());
    world.finish().await;
}

fn hold(seen: &Seen) {
    let bound = |turn: u64| seen.tools[turn as usize - 1].iter().any(|name| name == ON_DEMAND);
    assert!((1..=SEARCHES).all(|turn| !bound(turn)), "it is not bound before it is searched for");
    let tactical = |turn: &u64| !seen.tools[*turn as usize - 1].iter().any(|name| name == "todo_write");
    assert!((USES..=seen.turns).filter(tactical).all(bound), "it stays bound for the rest of the job");
    assert_eq!(seen.moved, [USES], "the prefix moves once, with the request that binds it");
}
