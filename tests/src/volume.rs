//! Volumes that get full, read-only or stuck: file systems of a test's own, mounted where it wants them.
//!
//! Mounting needs the right to. Where a test has none it says so and ends: see [`Volume::small`].

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// A mounted file system; unmounted when dropped.
#[derive(Debug)]
pub struct Volume {
    place: PathBuf,
    /// The file that it lies in, where it is no memory.
    image: Option<PathBuf>,
}

impl Volume {
    /// A volume in memory of this size, in the words of `mount`, e.g. `256k`. `None`, and a line that says so, where
    /// this process may not mount.
    pub fn small(place: &Path, size: &str) -> Option<Self> {
        let mounted = run("mount", &["-t", "tmpfs", "-o", &format!("size={size},mode=0777"), "tmpfs", &shown(place)]);
        Self::if_mounted(mounted, place, None)
    }

    /// A volume in a file, which can be frozen. `None` as above.
    pub fn freezable(place: &Path, image: &Path) -> Option<Self> {
        let file = std::fs::File::create(image).expect("a file for the volume can be made");
        file.set_len(32 << 20).expect("a file can be made longer");
        let mounted =
            run("mkfs.ext4", &["-q", &shown(image)]) && run("mount", &["-o", "loop", &shown(image), &shown(place)]);
        Self::if_mounted(mounted, place, Some(image.to_owned()))
    }

    fn if_mounted(mounted: bool, place: &Path, image: Option<PathBuf>) -> Option<Self> {
        if !mounted {
            crate::skipped(
                "no volume may be mounted here",
                "make test as root, in a container with the right to mount",
            );
        }
        mounted.then(|| Self { place: place.to_owned(), image })
    }

    /// Lets nobody write any more.
    ///
    /// # Panics
    /// When it cannot be mounted anew.
    pub fn read_only(&self) {
        assert!(run("mount", &["-o", "remount,ro", &shown(&self.place)]), "a volume can be made read-only");
    }

    /// The opposite.
    ///
    /// # Panics
    /// When it cannot be mounted anew.
    pub fn writable(&self) {
        assert!(run("mount", &["-o", "remount,rw", &shown(&self.place)]), "a volume can be made writable");
    }

    /// Fills it to the last byte with a file beside the jobs' folders; the file's removal makes room again.
    ///
    /// # Panics
    /// When it cannot be written at all.
    pub fn fill(&self) -> PathBuf {
        let path = self.place.join("filler");
        let mut file = std::fs::File::create(&path).expect("a volume with room can be written");
        let block = [0_u8; 4096];
        while std::io::Write::write_all(&mut file, &block).is_ok() {}
        path
    }

    /// Lets nobody's writing come to an end until [`Volume::thaw`].
    ///
    /// # Panics
    /// When it is no volume that can be frozen.
    pub fn freeze(&self) {
        assert!(run("fsfreeze", &["-f", &shown(&self.place)]), "a volume in a file can be frozen");
    }

    /// Ends the freeze.
    ///
    /// # Panics
    /// When it was not frozen.
    pub fn thaw(&self) {
        assert!(run("fsfreeze", &["-u", &shown(&self.place)]), "a frozen volume can be thawed");
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        if self.image.is_some() {
            // Only a test that failed leaves it frozen; the order is refused else.
            run("fsfreeze", &["-u", &shown(&self.place)]);
        }
        // Lazily: a worker that a failed test leaves behind may still have a file open.
        run("umount", &["-l", &shown(&self.place)]);
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn run(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
