//! The mirror's volume full, read-only, missing, removed or stuck: the job continues unaffected, the condition is
//! reported, and the folder equals the rows once the volume works again. And files that people put there.

use plumbline_system_tests::{
    Answer, PgPool, Uuid, World, documents, eventually, jobs::NewJob, mirror, probe::Probed, volume::Volume,
};
use rustix::process::Signal;
use std::{
    fs,
    path::PathBuf,
    time::{Duration, SystemTime},
};

/// The log line of a worker when a folder is incomplete.
const BEHIND: &str = "mirror is incomplete";
/// Memory of a worker that is shown a file which it could not hold.
const MOST_MEMORY_MIB: u64 = 600;
/// The text of `/healthz` if no folder is incomplete.
const WELL: &str = "shows everything";

async fn worker(world: &World) -> Probed {
    Probed::start(world, world.command(&["worker"])).await
}

async fn insert(world: &World) -> Uuid {
    let policy = documents::policy(2);
    world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await
}

/// Inserts a job and waits until its fifth model call is held: it has files by then, and more to come.
async fn in_the_middle(world: &World) -> Uuid {
    world.model.hold_from(5);
    let job = insert(world).await;
    world.model.arrived(5).await;
    job
}

/// A worker with a job in its middle, and the volume of both, which takes nothing any more; none where none can be had.
async fn under_a_stuck_volume(world: &World) -> Option<(Volume, Probed, Uuid)> {
    let volume = Volume::freezable(&world.workspace(), &world.folder().join("volume"))?;
    let worker = worker(world).await;
    let job = in_the_middle(world).await;
    volume.freeze();
    world.model.answers(Answer::Work);
    Some((volume, worker, job))
}

/// The job ends normally, and the error of its folder was reported once.
async fn completes_with_trouble(world: &World, worker: &Probed, job: Uuid, what: &str) {
    let row = world.becomes(job, "completed").await;
    assert_eq!((row.attempt, row.claims), (1, 1), "{what} cost an attempt");
    eventually("the probe to show it", async || worker.mirror().await.starts_with("1 folders").then_some(())).await;
    let said = worker.program.stderr().matches(BEHIND).count();
    assert_eq!(said, 1, "{what} is told once a job, not at every step:\n{}", worker.program.stderr());
    assert_eq!(worker.ask("/readyz").await.0, 200, "{what} keeps no worker from working");
}

/// The folder is repaired automatically, and the worker reports it.
async fn is_put_right(world: &World, worker: Probed, job: Uuid) {
    let folder = world.workspace().join(format!("job_{job}"));
    eventually("the folder to equal the rows", async || {
        (mirror::folder(&folder) == mirror::rows(&world.pool, job).await).then_some(())
    })
    .await;
    eventually("the probe to say so", async || (worker.mirror().await == WELL).then_some(())).await;
    worker.program.stop().await;
}

#[sqlx::test(migrations = false)]
async fn a_full_volume_keeps_no_job_from_its_end(pool: PgPool) {
    let world = World::new(pool).await;
    let Some(volume) = Volume::small(&world.workspace(), "1m") else { return world.finish().await };
    let worker = worker(&world).await;
    let job = in_the_middle(&world).await;
    let filler = volume.fill();
    world.model.answers(Answer::Work);
    completes_with_trouble(&world, &worker, job, "a full volume").await;
    fs::remove_file(filler).expect("the filler can be removed");
    is_put_right(&world, worker, job).await;
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_read_only_volume_keeps_no_job_from_its_end(pool: PgPool) {
    let world = World::new(pool).await;
    let Some(volume) = Volume::small(&world.workspace(), "4m") else { return world.finish().await };
    volume.read_only();
    let worker = worker(&world).await;
    let job = insert(&world).await;
    completes_with_trouble(&world, &worker, job, "a read-only volume").await;
    let doctor = world.run(&["doctor"]).await;
    assert!(doctor.stdout.contains("note  workspace: "), "{}", doctor.stdout);
    volume.writable();
    is_put_right(&world, worker, job).await;
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_missing_workspace_keeps_no_job_from_its_end(pool: PgPool) {
    let world = World::new(pool).await;
    fs::remove_dir_all(world.workspace()).expect("the workspace can be removed");
    fs::write(world.workspace(), "a file where the volume should be").expect("a file can be written");
    let worker = worker(&world).await;
    let job = insert(&world).await;
    completes_with_trouble(&world, &worker, job, "a missing workspace").await;
    fs::remove_file(world.workspace()).expect("the file can be removed");
    is_put_right(&world, worker, job).await;
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_stuck_volume_holds_no_job_up(pool: PgPool) {
    let world = World::new(pool).await;
    let Some((volume, worker, job)) = under_a_stuck_volume(&world).await else { return world.finish().await };
    let row = world.becomes(job, "completed").await;
    assert_eq!((row.attempt, row.claims), (1, 1));
    // The slot is free again although the folder is not written yet.
    let next = world.insert(&NewJob { prompt: "Say what records are", ..NewJob::default() }).await;
    world.becomes(next, "completed").await;
    volume.thaw();
    is_put_right(&world, worker, job).await;
    world.finish().await;
}

/// Only the ending process knows of a folder that it has not written; another would have to find it.
#[sqlx::test(migrations = false)]
async fn a_worker_that_drains_waits_for_a_folder_that_is_late(pool: PgPool) {
    let world = World::new(pool).await;
    let Some((volume, worker, job)) = under_a_stuck_volume(&world).await else { return world.finish().await };
    completes_with_trouble(&world, &worker, job, "a stuck volume").await;
    worker.program.signal(Signal::TERM);
    eventually("the worker to drain", async || (worker.ask("/readyz").await.0 == 503).then_some(())).await;
    volume.thaw();
    let ended = worker.program.ended().await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let folder = world.workspace().join(format!("job_{job}"));
    assert_eq!(mirror::folder(&folder), mirror::rows(&world.pool, job).await);
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_folder_that_is_removed_or_changed_under_a_job_comes_back(pool: PgPool) {
    let world = World::new(pool).await;
    let worker = worker(&world).await;
    let job = in_the_middle(&world).await;
    let folder = world.workspace().join(format!("job_{job}"));
    eventually("the folder to be shown", async || folder.join("workspace.md").exists().then_some(())).await;
    // The worker may be writing into it at this moment.
    eventually("the folder to be removed", async || fs::remove_dir_all(&folder).ok()).await;
    world.model.answers(Answer::Work);
    world.becomes(job, "completed").await;
    eventually("the folder to come back", async || {
        (mirror::folder(&folder) == mirror::rows(&world.pool, job).await).then_some(())
    })
    .await;
    worker.program.stop().await;
    world.finish().await;
}

/// A person puts a file into the job's `input/`.
async fn put_annex(world: &World, job: Uuid) -> PathBuf {
    let input = world.workspace().join(format!("job_{job}/input"));
    eventually("the folder to be shown", async || input.is_dir().then_some(())).await;
    let annex = input.join("annex.md");
    fs::write(&annex, "# Annex\n\nThe annex must be kept for nine years.\n").expect("a person may write there");
    // As if it had been there for a while: a file that has just changed may be half copied.
    let long_since = SystemTime::now() - Duration::from_secs(60);
    fs::File::options().write(true).open(&annex).and_then(|file| file.set_modified(long_since)).expect("a time is set");
    annex
}

/// Whether the worker has imported the file and told the model of it.
async fn knows_annex(world: &World, job: Uuid) -> bool {
    let known = "SELECT EXISTS (SELECT FROM sources WHERE job_id = $1 AND path = 'input/annex.md')
                    AND EXISTS (SELECT FROM workspace_files WHERE job_id = $1 AND path = 'input/annex.md')
                    AND EXISTS (SELECT FROM messages WHERE job_id = $1 AND content LIKE '%input/annex.md%')";
    sqlx::query_scalar(known).bind(job).fetch_one(&world.pool).await.expect("rows can be read")
}

#[sqlx::test(migrations = false)]
async fn a_file_that_a_person_puts_into_input_of_a_paused_job_is_in_the_next_request(pool: PgPool) {
    let world = World::new(pool).await;
    let worker = worker(&world).await;
    let job = in_the_middle(&world).await;
    world.call("SELECT pause_job($1)", job).await.expect("it runs");
    world.becomes(job, "paused").await;
    put_annex(&world, job).await;
    world.call("SELECT resume_job($1)", job).await.expect("it is paused");
    world.model.arrived(6).await;
    assert!(knows_annex(&world, job).await, "the step after the pause takes it in");
    world.model.answers(Answer::Work);
    world.becomes(job, "completed").await;
    worker.program.stop().await;
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_file_that_a_person_puts_into_input_is_taken_in(pool: PgPool) {
    let world = World::new(pool).await;
    let worker = worker(&world).await;
    let job = in_the_middle(&world).await;
    let annex = put_annex(&world, job).await;
    world.model.answers(Answer::Slowly(Duration::from_millis(500)));
    eventually("the annex to be taken in and told to the model", async || knows_annex(&world, job).await.then_some(()))
        .await;
    world.model.answers(Answer::Work);
    world.becomes(job, "completed").await;
    worker.program.stop().await;
    assert!(annex.is_file(), "it stays where it was put");
    world.finish().await;
}

/// The job will never be claimed again, and its worker is dead: any other worker must repair the folder.
#[sqlx::test(migrations = false)]
async fn a_folder_that_was_removed_before_its_worker_died_is_repaired_by_another(pool: PgPool) {
    let world = World::new(pool).await;
    let mut command = world.command(&["worker"]);
    command.env("PLUMBLINE_FAIL_POINTS", "before_mirror/completion=delay:600000");
    let dying = world.start(command);
    let job = insert(&world).await;
    world.becomes(job, "completed").await;
    let folder = world.workspace().join(format!("job_{job}"));
    fs::remove_dir_all(folder.join(".plumbline")).expect("its marker can be removed");
    fs::remove_file(folder.join("workspace.md")).expect("a file can be removed");
    dying.kill().await;
    world.age_workers().await;
    // Folders written within a lease may belong to a live worker.
    let mut command = world.command(&["worker"]);
    command.env("PLUMBLINE_LEASE_SECS", "2").env("PLUMBLINE_HEARTBEAT_SECS", "1");
    let other = world.start(command);
    eventually("the folder to equal the rows", async || {
        (mirror::folder(&folder) == mirror::rows(&world.pool, job).await).then_some(())
    })
    .await;
    other.stop().await;
    world.finish().await;
}

/// More than one scan imports, and a file that is too large: it is left alone, the others are imported in parts.
#[sqlx::test(migrations = false)]
async fn very_many_and_very_large_files_keep_no_job_from_its_end(pool: PgPool) {
    let world = World::new(pool).await;
    let worker = worker(&world).await;
    let job = in_the_middle(&world).await;
    let input = world.workspace().join(format!("job_{job}/input"));
    eventually("the folder to be shown", async || input.is_dir().then_some(())).await;
    let long_since = SystemTime::now() - Duration::from_secs(60);
    let put = |name: &str, bytes: u64| {
        let file = fs::File::create(input.join(name)).expect("a person may write there");
        file.set_len(bytes).and_then(|()| file.set_modified(long_since)).expect("a file can be made");
    };
    // A sparse file without data on disk.
    put("0-disk.img", 3 << 30);
    for number in 0..300 {
        put(&format!("note-{number}.txt"), 20);
    }
    fs::create_dir_all((0..200).fold(input.join("deep"), |path, _| path.join("d"))).expect("folders can be made");
    world.model.answers(Answer::Slowly(Duration::from_secs(1)));
    let taken_in = "SELECT EXISTS (SELECT FROM workspace_files WHERE job_id = $1 AND path LIKE 'input/note-%')";
    eventually("some of it to be taken in", async || {
        sqlx::query_scalar(taken_in).bind(job).fetch_one(&world.pool).await.ok().filter(|there: &bool| *there)
    })
    .await;
    world.model.answers(Answer::Work);
    // Files without text count as unread, and the job names them; the required share applies to those with text.
    let row = world.becomes(job, "completed").await;
    assert_eq!((row.attempt, row.claims), (1, 1));
    let result = row.result.expect("a completed job has a result");
    assert!(result["coverage"].as_f64().is_some_and(|share| share < 0.1), "{result}");
    assert!(result["undelivered"].as_array().is_some_and(|named| !named.is_empty()), "{result}");
    let peak = worker.program.peak_memory_mib();
    assert!(peak < MOST_MEMORY_MIB, "{peak} MiB");
    worker.program.stop().await;
    // Files that were not imported stay with the person, and are in no row.
    let known = mirror::rows(&world.pool, job).await;
    for entry in fs::read_dir(&input).expect("a person may look there") {
        let name = entry.expect("a person may look there").file_name().into_string().expect("names are plain");
        if !name.starts_with("deep") && !known.contains_key(&format!("input/{name}")) {
            fs::remove_file(input.join(name)).expect("a person may remove it");
        }
    }
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_zombies_last_write_to_the_folder_is_refused(pool: PgPool) {
    let world = World::new(pool).await;
    let trace = world.folder().join("trace");
    let mut command = world.command(&["worker"]);
    command.env("PLUMBLINE_FAIL_POINTS", "before_mirror/tactical=delay:8000").env("PLUMBLINE_FAIL_POINT_TRACE", &trace);
    let zombie = world.start(command);
    let job = insert(&world).await;
    let traced =
        |place: &str| fs::read_to_string(&trace).unwrap_or_default().lines().filter(|line| *line == place).count();
    eventually("a step to wait for the folder", async || (traced("before_mirror/tactical") >= 1).then_some(())).await;
    // Its next model call is held, so that it commits nothing more itself; the successor's are answered.
    zombie.signal(plumbline_system_tests::Signal::STOP);
    world.age_workers().await;
    let successor = world.worker();
    world.becomes(job, "completed").await;
    let (folder, rows) = (world.workspace().join(format!("job_{job}")), mirror::rows(&world.pool, job).await);
    // The folder follows the rows; from here on only the zombie could change it.
    eventually("the folder to show the job", async || (mirror::folder(&folder) == rows).then_some(())).await;
    zombie.signal(plumbline_system_tests::Signal::CONT);
    eventually("the zombie to have tried", async || (traced("after_mirror/tactical") >= 1).then_some(())).await;
    assert_eq!(mirror::folder(&folder), rows, "a zombie's write is seen");
    zombie.stop().await;
    successor.stop().await;
    world.finish().await;
}
