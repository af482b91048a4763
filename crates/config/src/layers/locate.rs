//! The lines of keys, so that an error points at the place to fix.

use std::collections::BTreeMap;

/// Lines of keys by dotted path, e.g. `limits.max_iterations` → 12.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    lines: BTreeMap<String, usize>,
    twice: Option<(String, usize)>,
}

impl Lines {
    /// Adds a key or an entry of a list.
    pub(crate) fn insert(&mut self, path: &str, line: usize) {
        if self.lines.insert(path.to_owned(), line).is_some() {
            self.twice = Some((path.to_owned(), line));
        }
    }

    /// A duplicate key of an object, with the line of the second.
    pub(crate) fn twice(&self) -> Option<(&str, usize)> {
        self.twice.as_ref().map(|(path, line)| (path.as_str(), *line))
    }

    /// The line of the key at `path`, or of the nearest enclosing key.
    pub(crate) fn of(&self, path: &str) -> Option<usize> {
        let mut path = path;
        loop {
            if let Some(line) = self.lines.get(path) {
                return Some(*line);
            }
            path = path.rsplit_once('.')?.0;
        }
    }
}

/// `parent.key`.
pub(crate) fn child(parent: &str, key: &str) -> String {
    if parent.is_empty() { key.to_owned() } else { format!("{parent}.{key}") }
}

/// `parent` of `parent.key`; empty for a key without one.
pub(crate) fn above(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(parent, _)| parent)
}

#[cfg(test)]
mod tests {
    use crate::layers::yaml::{lines_of_json, parse_value};

    #[test]
    fn keys_of_the_same_name_in_other_sections_are_distinguished() {
        let json = "{\n  \"a\": {\n    \"x\": \"}, \\\"x\\\": 1\",\n    \"l\": [1,\n 2]\n  },\n  \"b\": { \"x\": -1.5e3,\n \"y\": null }\n}";
        let lines = lines_of_json(json);
        for (path, line) in [("a", 2), ("a.x", 3), ("a.l.1", 5), ("b", 7), ("b.x", 7), ("b.y", 8), ("b.x.deeper", 7)] {
            assert_eq!(lines.of(path), Some(line), "{path}");
        }
        assert_eq!(lines.of("c"), None);
    }

    #[test]
    fn keys_of_yaml_are_found_in_blocks_and_braces() {
        let yaml =
            "# x: no\na:\n  x: 1\n  deep:\n    y: http://host:80\nb:\n  x: 2\n  \"y\": [1, 2]\nc: {d: 1,\n e: 2}\n";
        let (_, lines) = parse_value(yaml).unwrap();
        for (path, line) in [("a.x", 3), ("a.deep.y", 5), ("b", 6), ("b.x", 7), ("b.y", 8), ("b.y.0", 8), ("c.e", 10)] {
            assert_eq!(lines.of(path), Some(line), "{path}");
        }
    }
}
