//! Finding the PostgreSQL server programs.

use std::path::{Path, PathBuf};

use super::error::Error;
use super::install;

/// The oldest major version that the schema is tested with.
const OLDEST: u32 = 15;

/// Names the folder of the server programs, before any search.
const VARIABLE: &str = "PLUMBLINE_PG_BIN";

/// Where packages put the server programs when not on the `PATH`; `*` stands for anything, usually a version.
const USUAL_FOLDERS: [&str; 9] = [
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/usr/lib/postgresql*/bin",
    "/usr/libexec/postgresql*",
    "/opt/homebrew/opt/postgresql*/bin",
    "/usr/local/opt/postgresql*/bin",
    "/home/linuxbrew/.linuxbrew/opt/postgresql*/bin",
    "/Applications/Postgres.app/Contents/Versions/*/bin",
    "/usr/local/pgsql/bin",
];

/// A folder with all the programs that are needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Binaries {
    /// The folder.
    pub(crate) bin_dir: PathBuf,
    major: u32,
}

impl Binaries {
    /// The programs in the folder that was asked for, by option or environment, or else the first found on the `PATH`
    /// or the newest in the usual folders; installed when there are none. A cluster that exists in `data` decides the
    /// version.
    pub(crate) async fn find_or_install(asked: Option<&Path>, data: &Path) -> Result<Self, Error> {
        let asked = asked.map(Path::to_path_buf).or_else(|| std::env::var_os(VARIABLE).map(PathBuf::from));
        if let Some(dir) = asked {
            return Self::examine(&dir).and_then(|found| found.require_version_of(data));
        }
        let mut found = search();
        if found.is_empty() {
            install::postgres().await?;
            found = search();
        }
        choose(found, data)
    }

    /// The full path of one program.
    pub(crate) fn path(&self, program: &str) -> String {
        self.bin_dir.join(program).display().to_string()
    }

    fn examine(dir: &Path) -> Result<Self, Error> {
        let unusable = |reason: String| Error::Unusable { dir: dir.to_path_buf(), reason };
        for program in ["initdb", "postgres", "psql", "createdb"] {
            if !dir.join(program).is_file() {
                return Err(unusable(format!("{program} is missing")));
            }
        }
        let answer = std::process::Command::new(dir.join("postgres")).arg("--version").output();
        let answer = answer.map_err(|error| unusable(format!("postgres --version: {error}")))?;
        let text = String::from_utf8_lossy(&answer.stdout).into_owned();
        let major = major_version(&text).ok_or_else(|| unusable(format!("unknown version '{}'", text.trim())))?;
        if major < OLDEST {
            return Err(unusable(format!("it is version {major}; install PostgreSQL {OLDEST} or later")));
        }
        let bin_dir = dir.canonicalize().map_err(Error::file("resolve", dir))?;
        Ok(Self { bin_dir, major })
    }

    fn require_version_of(self, data: &Path) -> Result<Self, Error> {
        match cluster_version(data) {
            Some(made_by) if made_by != self.major => Err(other_version(data, made_by, &self)),
            _ => Ok(self),
        }
    }
}

/// All usable programs, in the order of preference.
fn search() -> Vec<Binaries> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).filter_map(|dir| Binaries::examine(&dir).ok());
    let mut usual: Vec<Binaries> = USUAL_FOLDERS
        .iter()
        .flat_map(|pattern| expand(pattern))
        .filter_map(|dir| Binaries::examine(&dir).ok())
        .collect();
    usual.sort_by_key(|found| std::cmp::Reverse(found.major));
    on_path.chain(usual).collect()
}

fn choose(found: Vec<Binaries>, data: &Path) -> Result<Binaries, Error> {
    let Some(first) = found.first().cloned() else {
        return Err(Error::Missing {
            reason: "installing did not bring them".to_owned(),
            advice: format!("install PostgreSQL {OLDEST} or later, or set {VARIABLE} to the folder with initdb"),
        });
    };
    match cluster_version(data) {
        None => Ok(first),
        Some(made_by) => {
            let same = found.into_iter().find(|programs| programs.major == made_by);
            same.ok_or_else(|| other_version(data, made_by, &first))
        }
    }
}

fn other_version(data: &Path, made_by: u32, programs: &Binaries) -> Error {
    Error::ClusterDir {
        path: data.to_path_buf(),
        reason: format!(
            "its cluster was made by PostgreSQL {made_by}, but only version {} was found in {}; run `make clean-demo` \
             to begin anew, or set {VARIABLE} to the programs of version {made_by}",
            programs.major,
            programs.bin_dir.display()
        ),
    }
}

/// The major version of the cluster in a data folder; `None` when there is none.
fn cluster_version(data: &Path) -> Option<u32> {
    std::fs::read_to_string(data.join("PG_VERSION")).ok()?.trim().parse().ok()
}

/// The first number in `postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)` or `postgres (PostgreSQL) 18beta1`.
fn major_version(text: &str) -> Option<u32> {
    let word = text.split_whitespace().find(|word| word.starts_with(|first: char| first.is_ascii_digit()))?;
    let digits = word.split(|character: char| !character.is_ascii_digit()).next()?;
    digits.parse().ok()
}

/// The folders that match a pattern with at most one `*`, which stands for part of one folder's name.
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
    fn a_star_stands_for_part_of_a_name() {
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
        let data = tempfile::tempdir().unwrap();
        let programs = |major| Binaries { bin_dir: PathBuf::from(format!("/pg/{major}")), major };
        std::fs::write(data.path().join("PG_VERSION"), "15\n").unwrap();
        assert_eq!(choose(vec![programs(17), programs(15)], data.path()).unwrap().major, 15);
        let refused = choose(vec![programs(17)], data.path()).unwrap_err().to_string();
        assert!(refused.contains("made by PostgreSQL 15") && refused.contains("clean-demo"), "{refused}");
    }

    #[test]
    fn a_folder_without_the_programs_is_refused_by_name() {
        let empty = tempfile::tempdir().unwrap();
        let refused = Binaries::examine(empty.path()).unwrap_err().to_string();
        assert!(refused.contains("initdb is missing"), "{refused}");
    }
}
