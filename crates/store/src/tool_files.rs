//! The documentation of a job's tools, as files: some forty of them, the same in every job, which nobody needs before
//! the model's first answer. So they are not a part of the step that takes the job in, whose end the first request
//! waits for; they are written right after it, and count as files of it.
//!
//! A worker that dies in between leaves a job without any of them, which its successor sees and mends.

use crate::{Error, Lease, Store, error::During};
use plumbline_engine::{FileWrite, is_placeholder};

impl Store {
    /// Writes these files of the step that took the job in, in one transaction of their own. Nobody else has written or
    /// deleted a file at these paths.
    ///
    /// # Errors
    /// [`Error::LeaseLost`]: nothing was written. [`Error::Database`]; trying again does no harm.
    pub async fn put_tool_files(&self, lease: &Lease, files: &[&FileWrite]) -> Result<(), Error> {
        let paths: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
        let contents: Vec<&[u8]> = files.iter().map(|file| file.content.as_slice()).collect();
        let placeholders: Vec<bool> = files.iter().map(|file| is_placeholder(&file.content)).collect();
        let doing = "write the documentation of the tools";
        let mut connection = self.step_connection().await.during(doing)?;
        let held = sqlx::query_file_scalar!(
            "queries/tool_files.sql",
            lease.job_id,
            lease.epoch,
            &paths,
            &contents as &[&[u8]],
            &placeholders,
        )
        .fetch_one(&mut *connection)
        .await
        .during(doing)?;
        connection.keep();
        if held { Ok(()) } else { Err(Error::LeaseLost(lease.job_id)) }
    }
}
