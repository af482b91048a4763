//! A row that would cost more than a job may fails alone, and takes no memory with it.

use plumbline_system_tests::{PgPool, World, jobs::NewJob};
use serde_json::{Map, Value, json};

/// Maximum memory of a worker for any row, in MiB; a debug build with one running job takes half of it.
const MOST_MIB: u64 = 512;

/// Configurations that took a worker's memory or a line of work for ever: what their jobs' errors say, and they.
fn costly() -> Vec<([&'static str; 2], Value)> {
    let schemas = schemas().into_iter().map(|(says, schema)| {
        (["json_schema", says], json!({"deliverables": [{"path": "output/a.json", "json_schema": schema}]}))
    });
    let patterns: Vec<_> = (0..100).map(|n| format!("a[ab ]{{900}}{n}")).collect();
    let others = [
        (["coverage_settings.patterns", "together"], json!({"coverage_settings": {"patterns": patterns}})),
        (["record_defaults.gobd", "together"], json!({"record_defaults": {"gobd": patterns}})),
        (["record_defaults.gdpr", "together"], json!({"record_defaults": {"gdpr": [r"\pL{1000}"]}})),
    ];
    schemas.chain(others).collect()
}

fn schemas() -> Vec<(&'static str, Value)> {
    let patterns = |n: usize, pattern: &str| -> Value {
        (0..n).map(|n| (format!("p{n}"), json!({"pattern": format!("{pattern}{n}")}))).collect::<Map<_, _>>().into()
    };
    let doubled = |keyword: &str, target: &str| -> Value {
        let to = |n: usize| json!({"$ref": format!("#/{target}/d{n}")});
        let mut defs = Map::from_iter([("d0".to_owned(), json!({"type": "object"}))]);
        defs.extend((1..=44).map(|n| (format!("d{n}"), json!({keyword: [to(n - 1), to(n - 1)]}))));
        json!({target: defs, "$ref": format!("#/{target}/d44")})
    };
    let unevaluated = (0..20).fold(json!({}), |inner, _| json!({"unevaluatedProperties": false, "anyOf": [inner]}));
    vec![
        ("subschemas", unevaluated),
        ("patterns", json!({"properties": patterns(120, r"\pL{100}x")})),
        ("KiB", json!({"properties": patterns(16_000, r"[\w0]{30}\pL{30}0")})),
        ("KiB once", json!({"patternProperties": {r"(\pL{1,60}){1,60}": {"type": "integer"}}})),
        ("subschemas", doubled("allOf", "$defs")),
        ("subschemas", doubled("oneOf", "definitions")),
        ("at the same value", json!({"anyOf": [{"$ref": "#"}]})),
        ("KiB", json!({"enum": (0..40_000).map(|n| n.to_string()).collect::<Vec<_>>()})),
    ]
}

#[sqlx::test(migrations = false)]
async fn a_costly_configuration_of_a_row_fails_alone(pool: PgPool) {
    let world = World::new(pool).await;
    let worker = world.worker();
    let text = "# Archive\n\nInvoices must be kept for ten years.\n";
    let mut rows = Vec::new();
    for (says, config) in costly() {
        let row = NewJob { config: Some(config), ..NewJob::with_content("archive.md", text.as_bytes()) };
        rows.push((says, world.insert(&row).await));
    }
    let bystander = world.insert(&NewJob::with_content("archive.md", text.as_bytes())).await;
    for (says, row) in rows {
        let failed = world.becomes(row, "failed").await;
        let said = failed.error.unwrap_or_default();
        assert!(says.iter().all(|word| said.contains(word)), "{says:?}: {said}");
    }
    world.becomes(bystander, "completed").await;
    let peak = worker.peak_memory_mib();
    assert!(peak < MOST_MIB, "the worker took {peak} MiB");
    worker.stop().await;
    world.finish().await;
}
