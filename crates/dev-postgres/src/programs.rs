//! Finds the PostgreSQL server programs.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::install;

/// The oldest major version that the schema is tested with.
const OLDEST: u32 = 15;

/// Names the folder of the server programs, before any search.
const VARIABLE: &str = "PLUMBLINE_PG_BIN";

/// Required programs of a server folder.
const NEEDED: [&str; 3] = ["initdb", "postgres", "pg_ctl"];

/// Where packages put the server programs when not on the `PATH`; `*` matches part of one folder's name, usually a version.
const USUAL_FOLDERS: [&str; 8] = [
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/usr/lib/postgresql*/bin",
    "/usr/libexec/postgresql*",
    "/opt/homebrew/opt/postgresql*/bin",
    "/usr/local/opt/postgresql*/bin",
    "/Applications/Postgres.app/Contents/Versions/*/bin",
    "/usr/local/pgsql/bin",
];

/// A folder with all the programs that are needed.
#[derive(Debug, Clone)]
pub(crate) struct Programs {
    /// The folder.
    pub(crate) folder: PathBuf,
    major: u32,
}

impl Programs {
    /// The programs in the folder named by the environment, or else the first found on the `PATH` or the newest in the
    /// usual folders; installed if there are none. An existing cluster in `data` determines the version.
    pub(crate) async fn find_or_install(data: Option<&Path>) -> Result<Self, Error> {
        let made_by = data.and_then(cluster_version);
        if let Some(folder) = std::env::var_os(VARIABLE) {
            return choose(vec![Self::examine(Path::new(&folder))?], made_by);
        }
        let mut found = search();
        if found.is_empty() {
            install::postgres().await?;
            found = search();
        }
        choose(found, made_by)
    }

    /// The full path of one program.
    pub(crate) fn path(&self, program: &str) -> PathBuf {
        self.folder.join(program)
    }

    fn examine(folder: &Path) -> Result<Self, Error> {
        let unusable = |reason: String| Error::Folder { path: folder.to_path_buf(), reason };
        if let Some(missing) = NEEDED.into_iter().find(|program| !folder.join(program).is_file()) {
            return Err(unusable(format!("{missing} is missing")));
        }
        let answer = std::process::Command::new(folder.join("postgres")).arg("--version").output();
        let answer = answer.map_err(|error| unusable(format!("postgres --version: {error}")))?;
        let text = String::from_utf8_lossy(&answer.stdout).into_owned();
        match major_version(&text) {
            Some(major) if major >= OLDEST => {
                let folder = folder.canonicalize().map_err(Error::file("resolve", folder))?;
                Ok(Self { folder, major })
            }
            _ => Err(unusable(format!("it has '{}'; install PostgreSQL {OLDEST} or later", text.trim()))),
        }
    }
}

/// All usable programs, in the order of preference.
fn search() -> Vec<Programs> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).filter_map(|folder| Programs::examine(&folder).ok());
    let usual = USUAL_FOLDERS.iter().flat_map(|pattern| expand(pattern));
    let mut usual: Vec<Programs> = usual.filter_map(|folder| Programs::examine(&folder).ok()).collect();
    usual.sort_by_key(|found| Reverse(found.major));
    on_path.chain(usual).collect()
}

fn choose(found: Vec<Programs>, made_by: Option<u32>) -> Result<Programs, Error> {
    let versions: Vec<u32> = found.iter().map(|programs| programs.major).collect();
    let fits = |programs: &Programs| made_by.is_none_or(|made_by| programs.major == made_by);
    found.into_iter().find(fits).ok_or_else(|| match made_by {
        Some(made_by) => Error::Missing {
            reason: format!("its cluster was made by PostgreSQL {made_by}, but only {versions:?} was found"),
            advice: format!(
                "run `make clean-demo` to start over, or set {VARIABLE} to the programs of version {made_by}"
            ),
        },
        None => Error::Missing {
            reason: "the installed packages do not contain initdb and postgres".to_owned(),
            advice: format!("install PostgreSQL {OLDEST} or later, or set {VARIABLE} to the folder with initdb"),
        },
    })
}

/// The major version of the cluster in a data folder; `None` when there is none.
fn cluster_version(data: &Path) -> Option<u32> {
    std::fs::read_to_string(data.join("PG_VERSION")).ok()?.trim().parse().ok()
}

/// The first number in `postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)` or `postgres (PostgreSQL) 18beta1`.
fn major_version(text: &str) -> Option<u32> {
    let word = text.split_whitespace().find(|word| word.starts_with(|first: char| first.is_ascii_digit()))?;
    word.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
}

/// The folders that match a pattern with at most one `*`.
fn expand(pattern: &str) -> Vec<PathBuf> {
    let Some((before, after)) = pattern.split_once('*') else { return vec![PathBuf::from(pattern)] };
    let Some((parent, prefix)) = before.rsplit_once('/') else { return Vec::new() };
    let Ok(entries) = std::fs::read_dir(Path::new("/").join(parent)) else { return Vec::new() };
    let names = entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
    names.map(|entry| entry.path().join(after.trim_start_matches('/'))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_what_the_server_prints() {
        assert_eq!(major_version("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n"), Some(15));
        assert_eq!(major_version("postgres (PostgreSQL) 18beta1"), Some(18));
        assert_eq!(major_version("postgres (PostgreSQL)"), None);
    }

    #[test]
    fn a_star_matches_part_of_a_name() {
        let root = tempfile::tempdir().unwrap();
        for name in ["postgresql@15", "postgresql@16", "mysql"] {
            std::fs::create_dir_all(root.path().join(name).join("bin")).unwrap();
        }
        let mut found = expand(&format!("{}/postgresql*/bin", root.path().display()));
        found.sort();
        let expected = ["postgresql@15", "postgresql@16"].map(|name| root.path().join(name).join("bin"));
        assert_eq!(found, expected);
    }

    #[test]
    fn the_version_that_made_the_cluster_wins_over_a_newer_one() {
        let programs = |major| Programs { folder: PathBuf::from(format!("/pg/{major}")), major };
        assert_eq!(choose(vec![programs(17), programs(15)], Some(15)).unwrap().major, 15);
        let refused = choose(vec![programs(17)], Some(15)).unwrap_err().to_string();
        assert!(refused.contains("made by PostgreSQL 15") && refused.contains("clean-demo"), "{refused}");
    }
}
