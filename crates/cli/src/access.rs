//! Which roles of `deploy/roles.sql` may run a command, for the error message. The same as the table in
//! `deploy/README.md`, which a test checks.

use crate::arguments::Command;
use plumbline_store::Error;

/// Data that a login may not read is omitted.
pub(crate) fn if_allowed<T: Default>(read: Result<T, Error>) -> Result<T, Error> {
    match read {
        Err(error) if error.is_forbidden() => Ok(T::default()),
        read => read,
    }
}

/// The error for a login without sufficient rights.
pub(crate) fn missing_rights(command: &Command) -> String {
    let (name, roles) = roles(command);
    let members = match roles {
        [] => String::new(),
        roles => {
            let named: Vec<String> = roles.iter().map(|role| format!("plumbline_{role}")).collect();
            format!("members of {} and for ", named.join(", "))
        }
    };
    let owner = match command {
        Command::Roles { .. } => "the database owner with CREATEROLE",
        _ => "the database owner",
    };
    format!(
        "this login may not run `plumbline {name}`, which is for {members}{owner}; use another login \
         (deploy/README.md lists the rights of each role)"
    )
}

/// A command's name, and the roles that may run it in addition to the owner.
fn roles(command: &Command) -> (&'static str, &'static [&'static str]) {
    match command {
        Command::Enqueue(_) => ("enqueue", &["enqueue", "work"]),
        Command::Status(_) => ("status", &["enqueue", "steer", "approve", "watch", "work"]),
        Command::Watch(_) => ("watch", &["enqueue", "steer", "approve", "watch", "work"]),
        Command::Files { .. } => ("files", &["enqueue", "steer", "approve", "watch", "work"]),
        Command::Cat { .. } => ("cat", &["enqueue", "approve", "watch", "work"]),
        Command::Export { .. } => ("export", &["enqueue", "approve", "watch", "work"]),
        Command::Coverage(_) => ("coverage", &["enqueue", "steer", "approve", "watch", "work"]),
        Command::Report { .. } => ("report", &["watch", "work"]),
        Command::Trace(_) => ("trace", &["watch", "work"]),
        Command::Replay(_) => ("replay", &["watch", "work"]),
        Command::Eval(_) => ("eval", &["watch", "work"]),
        Command::Cancel(_) => ("cancel", &["steer", "work"]),
        Command::Pause(_) => ("pause", &["steer", "work"]),
        Command::Resume(_) => ("resume", &["steer", "work"]),
        Command::Retry(_) => ("retry", &["steer", "work"]),
        Command::Approve(_) => ("approve", &["steer", "approve", "work"]),
        Command::Approvals(_) => ("approvals", &["enqueue", "steer", "approve", "watch", "work"]),
        Command::ApproveCall { .. } => ("approve-call", &["approve"]),
        Command::RejectCall { .. } => ("reject-call", &["approve"]),
        Command::EditCall { .. } => ("edit-call", &["approve"]),
        Command::GrantCalls { .. } => ("grant-calls", &["approve"]),
        Command::Feedback(_) => ("feedback", &["steer", "approve", "work"]),
        Command::Worker(_) => ("worker", &["work"]),
        Command::Doctor(_) => ("doctor", &["watch", "work"]),
        Command::Fork { .. } => ("fork", &["work"]),
        Command::Prune(_) => ("prune", &[]),
        Command::Migrate => ("migrate", &[]),
        Command::Roles { .. } => ("roles", &[]),
        // These need no rights in a database.
        Command::Candidates(_) => ("candidates", &[]),
        Command::Config(_) => ("config", &[]),
        Command::Models(_) => ("models", &[]),
        Command::Init(_) => ("init", &[]),
        Command::Dev(_) => ("dev", &[]),
        Command::Rehearse(_) => ("rehearse", &[]),
        Command::Completions { .. } => ("completions", &[]),
        Command::Manual { .. } => ("manual", &[]),
        Command::Probe => ("__probe", &[]),
        Command::WithPostgres(_) => ("__with-postgres", &[]),
    }
}
