//! `plumbline roles`.

use crate::{environment, error::Failure, output};
use plumbline_store::{AddressSource, ROLES};

pub(crate) async fn run(database: Option<String>, print: bool) -> Result<u8, Failure> {
    if print {
        output::print(ROLES.trim_end())?;
        return Ok(0);
    }
    let store = match database {
        Some(url) => environment::connect_from(&url, AddressSource::Flag).await?,
        None => environment::connect(&environment::database_url()?).await?,
    };
    let left_out = store.apply_roles().await?;
    // Printed as an SQL comment, so that passing it to psql is harmless.
    output::print(match left_out {
        0 => "-- the roles and their privileges are set up",
        _ => "-- the roles are set up, but tables are missing: run this again after `plumbline migrate` or a restore",
    })?;
    Ok(0)
}
