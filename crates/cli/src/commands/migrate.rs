//! `plumbline migrate`.

use crate::{environment, error::Failure, output};

pub(crate) async fn run() -> Result<u8, Failure> {
    let store = environment::connect(&environment::database_url()?).await?;
    store.check_pooler().await?;
    store.migrate().await?;
    if let Some(job_type) = environment::default_job_type() {
        store.set_default_job_type(&job_type).await?;
    }
    let version = store.schema_version().await?.map_or_else(|| "unknown".to_string(), |version| version.to_string());
    output::print(&format!("the database is migrated; schema version {version}"))?;
    Ok(0)
}
