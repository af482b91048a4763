//! The cluster's password. The server listens on the loopback interface, where every account of the machine can
//! connect, and the one role in it owns everything; so what tells its user from the others is who can read this file.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::cluster_dir::ClusterDir;
use super::error::Error;
use super::os_user::OsUser;

/// In bytes; written as twice as many hexadecimal digits, which a URL takes as they are.
const LENGTH: usize = 24;
const SOURCE: &str = "/dev/urandom";

/// The password of the cluster's owner. It is not shown by `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Password(String);

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

impl Password {
    /// The password itself, of characters that need no escaping in a URL or a statement.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// The cluster's password; `None` when it has none yet.
    pub(crate) fn read(place: &ClusterDir) -> Result<Option<Self>, Error> {
        let path = place.password_file();
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            read => read.map_err(Error::file("read", &path))?,
        };
        let text = text.trim();
        let usable = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        Ok(usable.then(|| Self(text.to_owned())))
    }

    fn random() -> Result<Self, Error> {
        let mut bytes = [0; LENGTH];
        let source = Path::new(SOURCE);
        let read = File::open(source).and_then(|mut file| file.read_exact(&mut bytes));
        read.map_err(Error::file("read", source))?;
        Ok(Self(hex::encode(bytes)))
    }
}

/// A new password, in a file beside the one that counts until the server knows it. A start that is cut short in
/// between leaves no password that does not fit.
#[derive(Debug)]
pub(crate) struct NewPassword {
    password: Password,
    /// Readable by the server's account alone.
    pub(crate) file: PathBuf,
    kept: PathBuf,
}

impl NewPassword {
    /// Thinks one up and writes it.
    pub(crate) fn write(place: &ClusterDir, account: &OsUser) -> Result<Self, Error> {
        let (password, kept) = (Password::random()?, place.password_file());
        let file = kept.with_extension("new");
        match fs::remove_file(&file) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(Error::file("delete", &file)(error)),
            _ => {}
        }
        let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file);
        let written = created.and_then(|mut created| writeln!(created, "{}", password.text()));
        written.map_err(Error::file("write", &file))?;
        account.own(&file)?;
        Ok(Self { password, file, kept })
    }

    /// The password, for telling the server.
    pub(crate) fn text(&self) -> &str {
        self.password.text()
    }

    /// Makes it the one that counts, once the server knows it.
    pub(crate) fn keep(self) -> Result<Password, Error> {
        fs::rename(&self.file, &self.kept).map_err(Error::file("rename", &self.file))?;
        Ok(self.password)
    }
}
