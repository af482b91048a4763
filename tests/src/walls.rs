//! How much of a type is reached from everywhere: its methods, the functions that may change all of it, and its fields
//! that other modules read. The sources are formatted, so lines suffice.

use std::{fs, io, path::Path};

/// The counts of a type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Walls {
    /// Functions in its `impl` blocks, without those of traits.
    pub methods: usize,
    /// Other functions with a parameter `&mut Type`.
    pub changed_by: usize,
    /// Other functions with a parameter `&Type`.
    pub read_by: usize,
    /// Fields that other modules see.
    pub open_fields: usize,
}

impl Walls {
    /// The counts of the type of this name in the sources below a folder.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn of(name: &str, src: &Path) -> io::Result<Self> {
        let mut walls = Self::default();
        walls.add(name, src)?;
        Ok(walls)
    }

    fn add(&mut self, name: &str, folder: &Path) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let is_test = path.file_stem().is_some_and(|stem| stem == "tests");
            if path.is_dir() && !is_test {
                self.add(name, &path)?;
            } else if path.extension().is_some_and(|extension| extension == "rs") && !is_test {
                self.count(name, &fs::read_to_string(&path)?);
            }
        }
        Ok(())
    }

    fn count(&mut self, name: &str, text: &str) {
        let (begins, defines) = (format!("impl {name} {{"), format!("pub struct {name} {{"));
        let mut item = "";
        let lines: Vec<&str> = text.lines().take_while(|line| *line != "#[cfg(test)]").collect();
        for (at, line) in lines.iter().enumerate() {
            match *line {
                "}" => item = "",
                _ if !line.is_empty() && !line.starts_with([' ', '}', ')']) => item = line,
                _ => {}
            }
            let is_direct = line.starts_with("    ") && !line.starts_with("     ");
            self.open_fields += usize::from(item == defines && is_direct && line.trim_start().starts_with("pub"));
            let Some((before, _)) = line.split_once("fn ") else { continue };
            if before.split_whitespace().any(|word| !word.starts_with("pub") && !matches!(word, "async" | "const")) {
                continue;
            }
            if item == begins && is_direct {
                self.methods += 1;
                continue;
            }
            let signature = signature(&lines[at..]);
            self.changed_by += usize::from(has(&signature, &format!("&mut {name}")));
            self.read_by += usize::from(has(&signature, &format!("&{name}")));
        }
    }
}

/// The lines of a function up to its body.
fn signature(lines: &[&str]) -> String {
    let body = lines.iter().position(|line| line.ends_with(['{', ';', '}'])).unwrap_or_default();
    lines[..=body].join(" ")
}

/// Whether a text has these words, not as the beginning of a longer name.
fn has(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, _)| !text[at + words.len()..].starts_with(|c: char| c.is_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::Walls;

    #[test]
    fn methods_functions_and_fields_are_counted_by_what_they_reach() {
        let mut walls = Walls::default();
        walls.count(
            "Run",
            "pub struct Run {\n    pub(crate) a: u8,\n    b: u8,\n}\n\nimpl Run {\n    pub fn one(&self) {\n        fn inner() {}\n    }\n\
             \n    async fn two() {}\n}\n\nimpl Clone for Run {\n    fn clone(&self) {}\n}\n\nfn three(run: &mut Run) {}\n\nfn four(\n    run: &Run,\n\
             ) {\n}\n\nfn five(run: &mut Runner) {}\n\n#[cfg(test)]\nfn six(run: &Run) {}\n",
        );
        assert_eq!(walls, Walls { methods: 2, changed_by: 1, read_by: 1, open_fields: 1 });
    }
}
