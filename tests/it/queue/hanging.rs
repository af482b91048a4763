//! A process that is asked to stop ends, even if part of it hangs.

use plumbline_system_tests::{PgPool, World, eventually};
use rustix::fs::{FileType, Mode, OFlags, mknodat, open};
use std::fs;

/// Work on a blocking thread cannot be stopped: reading a configuration file that is a pipe without a writer never
/// ends.
#[sqlx::test(migrations = false)]
async fn a_worker_ends_though_a_read_never_does(pool: PgPool) {
    let world = World::new(pool).await;
    let folder = world.folder().join("files").join("endless");
    fs::create_dir_all(&folder).expect("the world's folder can be written");
    let file = folder.join("config.json");
    fs::write(&file, r#"{"$extends": "creator"}"#).expect("the world's folder can be written");
    let mut command = world.command(&["worker"]);
    command.env("PLUMBLINE_CONFIG_DIR", world.folder().join("files"));
    let worker = world.start(command);
    eventually("the worker to be there", async || worker.stderr().contains("worker started").then_some(())).await;
    fs::remove_file(&file).expect("it is there");
    mknodat(rustix::fs::CWD, &file, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe can be made");
    // It can be opened for writing as soon as it has a reader.
    let writer = eventually("the worker to read the pipe", async || {
        open(&file, OFlags::WRONLY | OFlags::NONBLOCK, Mode::empty()).ok()
    })
    .await;
    worker.stop().await;
    drop(writer);
    world.finish().await;
}
