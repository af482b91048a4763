//! `plumbline enqueue`: one document goes into the row; several are put under the import root as a folder.

use crate::{arguments::EnqueueArguments, environment, failure::Failure, output};
use plumbline_store::{NewJob, Store};
use serde_json::Value;
use std::path::{Path, PathBuf};
use uuid::Uuid;

pub(crate) async fn run(arguments: EnqueueArguments) -> Result<u8, Failure> {
    let mut job = NewJob::new(arguments.prompt);
    job.job_type = arguments.job_type;
    job.priority = arguments.priority;
    job.run_at = arguments.run_at;
    job.idempotency_key = arguments.key;
    if let Some(context) = &arguments.context {
        job.context = read_context(context)?;
    }
    attach(&mut job, &arguments.documents, &environment::workspace_dir())?;
    let store = environment::store().await?;
    let id = insert(&store, &job).await?;
    output::print(&id.to_string())?;
    Ok(0)
}

/// Inserts the job.
pub(crate) async fn insert(store: &Store, job: &NewJob) -> Result<Uuid, Failure> {
    Ok(store.enqueue(job).await?)
}

fn read_context(text: &str) -> Result<Value, Failure> {
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => Ok(Value::Object(map)),
        Ok(_) => Err(Failure::usage("--context must be a JSON object such as '{\"customer\": \"ACME\"}'")),
        Err(error) => Err(Failure::usage(format!("--context is not valid JSON ({error}); quote it for your shell"))),
    }
}

/// Puts the documents where the worker finds them.
pub(crate) fn attach(job: &mut NewJob, documents: &[PathBuf], workspace_dir: &Path) -> Result<(), Failure> {
    match documents {
        [] => Ok(()),
        [one] if one.is_file() => {
            job.document_name = Some(file_name(one)?);
            job.document_content = Some(read(one)?);
            Ok(())
        }
        several => {
            let folder = format!("upload-{}", Uuid::now_v7());
            let target = workspace_dir.join("import").join(&folder);
            put(several, &target).inspect_err(|_| {
                // What is told is why it failed; a folder that could not be removed either only takes its room.
                let _ = std::fs::remove_dir_all(&target);
            })?;
            job.document_path = Some(folder);
            Ok(())
        }
    }
}

/// Copies documents into a new folder.
fn put(documents: &[PathBuf], folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    for document in documents {
        let path = folder.join(file_name(document)?);
        if path.exists() {
            let name = path.display();
            return Err(Failure::usage(format!("two documents are named {name}; rename one of them")));
        }
        std::fs::write(&path, read(document)?).map_err(|error| unwritable(&path, &error))?;
    }
    Ok(())
}

fn file_name(path: &Path) -> Result<String, Failure> {
    let name = path.file_name().and_then(|name| name.to_str());
    name.map(str::to_string)
        .ok_or_else(|| Failure::usage(format!("{} is not a file name that can be used", path.display())))
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| {
        Failure::new(format!("the document {} could not be read ({error}); check its path", path.display()))
    })
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!(
        "{} could not be written ({error}); set PLUMBLINE_WORKSPACE_DIR to the worker's workspace folder",
        path.display()
    ))
}
