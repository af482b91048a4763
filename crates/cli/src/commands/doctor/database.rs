//! The database: whether it is reachable, the right one, suitable, and served by workers.

use super::finding::Finding;
use crate::environment;
use chrono::Utc;
use plumbline_store::{ConnectOptions, Error, Health, QueueCounts, READ_ONLY, Store};

/// Larger clock differences confuse people who compare times; leases use only the database's clock.
const CLOCK_SKEW_S: i64 = 5;
/// Oldest Postgres with all features of the schema, in the server's numbering.
const LEAST_POSTGRES: i32 = 150_000;

pub(super) async fn check() -> Vec<Finding> {
    let Ok(url) = environment::database_url() else {
        return vec![Finding::fail(
            "database",
            "DATABASE_URL is not set; set it to your Postgres, e.g. postgres://user:password@localhost/plumbline",
        )];
    };
    let options = ConnectOptions { application_name: "plumbline doctor".into(), ..ConnectOptions::default() };
    let store = match Store::connect(&url, options).await {
        Ok(store) => store,
        Err(error) => return vec![Finding::fail("database", unreachable(&error))],
    };
    if let Err(error) = store.check_pooler().await {
        return vec![Finding::fail("database", error.to_string())];
    }
    let mut findings = vec![match store.health().await {
        Ok(health) => server(&health),
        Err(error) => Finding::fail("database", error.to_string()),
    }];
    findings.push(match store.check_schema().await {
        Ok(()) => Finding::ok("schema", "up to date"),
        Err(error) => Finding::fail("schema", error.to_string()),
    });
    for checked in [store.check_row_security().await, store.check_connections().await] {
        findings.extend(checked.err().map(|error| Finding::fail("database", error.to_string())));
    }
    findings.extend(store.queue_counts(None).await.ok().map(queue));
    findings
}

/// Why there is no connection, with the remedy for the most common mistakes.
fn unreachable(error: &Error) -> String {
    if error.is_of_the_address() {
        return error.to_string();
    }
    let code = match error {
        Error::Database { source, .. } => source.as_database_error().and_then(|error| error.code()),
        _ => None,
    };
    let remedy = match code.as_deref() {
        Some("28P01") => "the password is wrong; correct it in DATABASE_URL (percent-encode special characters)",
        Some("28000") => {
            "the user is unknown or may not connect from here; see DATABASE_URL and the server's pg_hba.conf"
        }
        Some("3D000") => "the database does not exist; create it with `createdb` or correct its name in DATABASE_URL",
        Some("42501") => "the user may not connect to this database; GRANT CONNECT, or see deploy/roles.sql",
        Some("53300") => "the server has no free connection; raise max_connections or put a pooler in front of it",
        Some("57P03") => "the server is still starting; wait a moment",
        _ => "check host and port in DATABASE_URL, and that the server is running",
    };
    format!("{error}: {remedy}")
}

fn server(health: &Health) -> Finding {
    let Health { server_version, server_version_num, server_time, read_only } = health;
    if *server_version_num < LEAST_POSTGRES {
        return Finding::fail("database", format!("PostgreSQL {server_version} is too old, 15 or newer is needed"));
    }
    if *read_only {
        return Finding::fail("database", READ_ONLY);
    }
    let skew = (*server_time - Utc::now()).num_seconds();
    match skew.abs() > CLOCK_SKEW_S {
        true => Finding::note("database", clocks(skew)),
        false => Finding::ok("database", format!("PostgreSQL {server_version}")),
    }
}

fn clocks(skew: i64) -> String {
    let side = if skew > 0 { "ahead of" } else { "behind" };
    format!(
        "its clock is {} s {side} this machine's; leases use only the database's clock, but timestamps in logs will \
         not match: synchronize both clocks",
        skew.abs()
    )
}

fn queue(counts: QueueCounts) -> Finding {
    let QueueCounts { runnable, later, running, live_workers, .. } = counts;
    let text = format!("{runnable} runnable, {later} later, {running} running, {live_workers} live workers");
    match runnable > 0 && live_workers == 0 {
        true => Finding::note("queue", format!("{text}; no worker is running, start one with `plumbline worker`")),
        false => Finding::ok("queue", text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::finding::Verdict;
    use chrono::TimeDelta;

    fn health(skew: i64) -> Health {
        Health {
            server_version: "15.9".into(),
            server_version_num: 150_009,
            server_time: Utc::now() + TimeDelta::seconds(skew),
            read_only: false,
        }
    }

    #[test]
    fn a_server_that_is_old_read_only_or_elsewhere_in_time_is_named() {
        assert_eq!(server(&health(0)).verdict, Verdict::Ok);
        let old = server(&Health { server_version_num: 140_012, server_version: "14.12".into(), ..health(0) });
        assert!(old.verdict == Verdict::Fail && old.text.contains("14.12"), "{old:?}");
        let standby = server(&Health { read_only: true, ..health(0) });
        assert!(standby.verdict == Verdict::Fail && standby.text.contains("primary"), "{standby:?}");
        for (skew, side) in [(600, "ahead of"), (-600, "behind")] {
            let skewed = server(&health(skew));
            assert!(skewed.verdict == Verdict::Note && skewed.text.contains(side), "{skewed:?}");
        }
    }

    #[test]
    fn waiting_jobs_without_a_worker_are_named() {
        let counts = QueueCounts { runnable: 2, later: 0, running: 0, live_workers: 0, oldest_wait_secs: 9 };
        let finding = queue(counts);
        assert!(finding.verdict == Verdict::Note && finding.text.contains("`plumbline worker`"), "{finding:?}");
        assert_eq!(queue(QueueCounts { live_workers: 1, ..counts }).verdict, Verdict::Ok);
    }
}
