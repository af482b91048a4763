//! `plumbline files`, `plumbline cat`, `plumbline export`: the files of a job, from SQL.

use crate::{error::Failure, job_ref::JobRef, output};
use plumbline_store::{SeenFile, Store};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use uuid::Uuid;

/// Lists the files whose paths begin with `prefix`: size in bytes and path, one line each.
pub(crate) async fn list(job: &JobRef, prefix: &str) -> Result<u8, Failure> {
    let (store, job) = job.open().await?;
    let files = of_job(&store, job, prefix).await?;
    let width = files.iter().map(|file| file.size.to_string().len()).max().unwrap_or_default();
    let lines: Vec<String> = files.iter().map(|file| format!("{:>width$}  {}", file.size, file.path)).collect();
    // No files are no line.
    if !lines.is_empty() {
        output::print(&lines.join("\n"))?;
    }
    Ok(0)
}

/// Writes one file to stdout, byte for byte; on a terminal, control sequences are shown as text.
pub(crate) async fn cat(job: &JobRef, path: &str) -> Result<u8, Failure> {
    let (store, job) = job.open().await?;
    let Some(content) = store.file_seen(job, path).await? else {
        of_job(&store, job, "").await?;
        return Err(Failure::new(format!("job {job} has no file {path}; `plumbline files {job}` lists them")));
    };
    if io::stdout().is_terminal() {
        return output::print(String::from_utf8_lossy(&content).trim_end_matches('\n')).map(|()| 0);
    }
    match io::stdout().lock().write_all(&content) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("the output could not be written: {error}")))
        }
        _ => Ok(0),
    }
}

/// Writes the files whose paths begin with `prefix` to a new or empty folder.
pub(crate) async fn export(job: &JobRef, dir: &Path, prefix: &str) -> Result<u8, Failure> {
    let (store, job) = job.open().await?;
    let mut files = Vec::new();
    for SeenFile { path, .. } in of_job(&store, job, prefix).await? {
        if let Some(content) = store.file_seen(job, &path).await? {
            files.push((path, content));
        }
    }
    let count = plumbline_mirror::export(dir, files).await.map_err(|error| Failure::new(error.to_string()))?;
    output::print(&format!("{count} files written to {}", dir.display()))?;
    Ok(0)
}

/// The files of an existing job; with a prefix, at least one.
async fn of_job(store: &Store, job: Uuid, prefix: &str) -> Result<Vec<SeenFile>, Failure> {
    JobRef::must_exist(store, job).await?;
    let files = store.files_seen(job, prefix).await?;
    if files.is_empty() && !prefix.is_empty() {
        return Err(Failure::new(format!(
            "job {job} has no file whose path begins with {prefix}; `plumbline files {job}` lists them all"
        )));
    }
    Ok(files)
}
