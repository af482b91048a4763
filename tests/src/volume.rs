//! Volumes that become full, read-only or stuck: a test's own file systems, mounted where it needs them.
//!
//! Mounting needs a privilege. Without it, a test says so and ends: see [`Volume::small`].

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// A mounted file system; unmounted when dropped.
#[derive(Debug)]
pub struct Volume {
    place: PathBuf,
    /// The file that holds it, unless it is in memory.
    image: Option<PathBuf>,
}

impl Volume {
    /// A volume in memory of this size, as for `mount`, e.g. `256k`. `None`, with a printed line, if this process may
    /// not mount.
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

    /// Makes it read-only.
    ///
    /// # Panics
    /// When it cannot be remounted.
    pub fn read_only(&self) {
        assert!(run("mount", &["-o", "remount,ro", &shown(&self.place)]), "a volume can be made read-only");
    }

    /// The opposite.
    ///
    /// # Panics
    /// When it cannot be remounted.
    pub fn writable(&self) {
        assert!(run("mount", &["-o", "remount,rw", &shown(&self.place)]), "a volume can be made writable");
    }

    /// Fills it to the last byte with a file next to the jobs' folders; removing the file makes room again.
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

    /// Blocks all writes until [`Volume::thaw`].
    ///
    /// # Panics
    /// When the volume cannot be frozen.
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
            // Only a failed test leaves it frozen; otherwise the command is refused.
            run("fsfreeze", &["-u", &shown(&self.place)]);
        }
        // Lazily: a worker left behind by a failed test may still have a file open.
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
