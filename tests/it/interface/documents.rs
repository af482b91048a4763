//! The documents of a job: by a path, as bytes, several of them, from the command line of another machine.

use plumbline_system_tests::{PgPool, Program, Uuid, World, eventually};
use sqlx::AssertSqlSafe;
use std::fs;

const TEXT: &str = "The archive must be locked. Records must be kept for ten years.";

async fn insert(world: &World, statement: &str) -> Uuid {
    sqlx::query_scalar(AssertSqlSafe(statement.to_owned())).fetch_one(&world.pool).await.expect("a job can be inserted")
}

/// The files in `input/` after intake, without the context.
async fn taken_in(world: &World, job: Uuid) -> String {
    let files = "SELECT string_agg(path, ' ' ORDER BY path) FROM workspace_files
                 WHERE job_id = $1 AND path LIKE 'input/%' AND path <> 'input/context.json'";
    eventually("the documents to be taken in", async || {
        sqlx::query_scalar::<_, Option<String>>(files).bind(job).fetch_one(&world.pool).await.ok().flatten()
    })
    .await
}

/// A worker whose model does not answer: a job's first step is all that happens.
fn worker(world: &World) -> Program {
    world.model.hold_from(1);
    world.worker()
}

async fn end(world: World, worker: Program, jobs: &[Uuid]) {
    for job in jobs {
        world.call("SELECT cancel_job($1)", *job).await.expect("a job can be cancelled");
    }
    worker.stop().await;
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn one_insert_carries_a_path_bytes_both_or_a_folder(pool: PgPool) {
    let world = World::new(pool).await;
    world.import("policy.md", TEXT);
    fs::create_dir_all(world.workspace().join("import/annex/deep")).expect("a folder");
    world.import("annex/a.md", TEXT);
    world.import("annex/deep/b.md", TEXT);
    let worker = worker(&world);
    let mut jobs = Vec::new();
    for (columns, values, expected) in [
        ("document_path", "'policy.md'", "input/policy.md"),
        ("document_content, context", "'Keep it.', '{\"document_name\": \"own.md\"}'", "input/own.md"),
        (
            "document_path, document_content, context",
            "'policy.md', 'Keep it.', '{\"document_name\": \"own.md\"}'",
            "input/own.md input/policy.md",
        ),
        ("document_path, document_content", "'annex', 'Keep it.'", "input/a.md input/deep/b.md input/document.txt"),
    ] {
        let statement = format!("INSERT INTO jobs (prompt, {columns}) VALUES ('Read', {values}) RETURNING id");
        let job = insert(&world, &statement).await;
        assert_eq!(taken_in(&world, job).await, expected);
        jobs.push(job);
    }
    end(world, worker, &jobs).await;
}

#[sqlx::test(migrations = false)]
async fn enqueue_job_takes_several_documents_and_a_path(pool: PgPool) {
    let world = World::new(pool).await;
    world.import("policy.md", TEXT);
    let worker = worker(&world);
    // "The lock must be closed." and the same again, as base64.
    let job = insert(
        &world,
        "SELECT enqueue_job('Compare', document_path => 'policy.md', documents => jsonb_build_array(
             jsonb_build_object('name', 'a.md', 'content', encode('The lock must be closed.', 'base64')),
             jsonb_build_object('name', 'annex/b', 'content', encode('The lock must be closed.', 'base64'))))",
    )
    .await;
    assert_eq!(taken_in(&world, job).await, "input/a.md input/annex/b.txt input/policy.md");
    let outside = insert(
        &world,
        "SELECT enqueue_job('Compare', documents => jsonb_build_array(
             jsonb_build_object('name', '../b.md', 'content', encode('x', 'base64'))))",
    )
    .await;
    let refused = world.becomes(outside, "failed").await;
    assert!(refused.error.unwrap_or_default().contains("`../b.md` is no name for a document"));
    end(world, worker, &[job]).await;
}

/// The command sends bytes: its own machine need not have the workers' folder.
#[sqlx::test(migrations = false)]
async fn the_command_sends_bytes_and_copies_nothing(pool: PgPool) {
    let world = World::new(pool).await;
    let worker = worker(&world);
    let folder = world.folder().join("contracts");
    fs::create_dir_all(folder.join("annex")).expect("a folder");
    for name in ["one.md", "annex/two.md", ".hidden"] {
        fs::write(folder.join(name), TEXT).expect("a file");
    }
    fs::write(world.folder().join("three.md"), TEXT).expect("a file");
    let enqueue = async |documents: &[&str]| {
        let mut arguments = vec!["enqueue", "--prompt", "Compare"];
        for document in documents {
            arguments.extend(["--document", document]);
        }
        let mut command = world.command(&arguments);
        command.env("PLUMBLINE_WORKSPACE_DIR", world.folder().join("elsewhere"));
        world.start(command).ended().await
    };
    let mut jobs = Vec::new();
    for (documents, expected) in [
        (["three.md"].as_slice(), "input/three.md"),
        (&["three.md", "contracts/one.md"], "input/one.md input/three.md"),
        (&["contracts", "three.md"], "input/annex/two.md input/one.md input/three.md"),
    ] {
        let ended = enqueue(documents).await;
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{documents:?}");
        let job = ended.stdout.trim().parse().expect("the id alone");
        assert_eq!(taken_in(&world, job).await, expected);
        jobs.push(job);
    }
    assert!(!world.folder().join("elsewhere").exists(), "the command writes no folder");
    fs::create_dir(world.folder().join("devices")).expect("a folder");
    std::os::unix::fs::symlink("/dev/null", world.folder().join("devices/null.md")).expect("a link");
    for (documents, words) in [
        (["three.md", "nowhere.md"], "nowhere.md"),
        (["three.md", "three.md"], "two documents are named three.md"),
        (["three.md", "devices"], "devices/null.md is no regular file"),
    ] {
        let refused = enqueue(&documents).await;
        assert!(refused.code != Some(0) && refused.stderr.contains(words), "{refused:?}");
    }
    end(world, worker, &jobs).await;
}
