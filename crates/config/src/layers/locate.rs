//! Finds the line of a key, so that an error points at the place to fix. The parsers return values without positions;
//! this scans the same text again, only for its keys, and only after it has parsed.

use std::collections::BTreeMap;

/// Lines of keys by dotted path, e.g. `limits.max_iterations` → 12.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    lines: BTreeMap<String, usize>,
    twice: Option<(String, usize)>,
}

impl Lines {
    /// The keys of a JSON text.
    pub(crate) fn of_json(text: &str) -> Self {
        let mut scanner = Scanner { chars: text.chars().peekable(), line: 1, found: Self::default() };
        scanner.value("");
        scanner.found
    }

    /// The keys of a YAML text's block mappings. Keys inside `{…}` get the line of the key that contains them.
    pub(crate) fn of_yaml(text: &str) -> Self {
        let mut lines = BTreeMap::new();
        let mut open: Vec<(usize, String)> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let Some((indent, key)) = yaml_key(line) else { continue };
            open.retain(|(outer, _)| *outer < indent);
            let parent = open.last().map_or("", |(_, path)| path);
            let path = child(parent, key);
            lines.entry(path.clone()).or_insert(number + 1);
            open.push((indent, path));
        }
        Self { lines, twice: None }
    }

    /// A duplicate key of an object, with the line of the second. YAML's parser refuses these itself; JSON's would
    /// silently keep the last.
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

fn yaml_key(line: &str) -> Option<(usize, &str)> {
    let rest = line.trim_start();
    if rest.starts_with('#') || rest.starts_with('-') {
        return None;
    }
    let (key, after) = rest.split_once(':')?;
    if !(after.is_empty() || after.starts_with([' ', '\t'])) {
        return None;
    }
    Some((line.len() - rest.len(), key.trim().trim_matches(['"', '\''])))
}

/// Scans a JSON text that is known to be well-formed.
struct Scanner<'a> {
    chars: std::iter::Peekable<std::str::Chars<'a>>,
    line: usize,
    found: Lines,
}

impl Scanner<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.chars.next();
        if c == Some('\n') {
            self.line += 1;
        }
        c
    }

    fn skip_space(&mut self) {
        while self.chars.peek().is_some_and(|c| c.is_whitespace()) {
            self.next();
        }
    }

    fn value(&mut self, path: &str) {
        self.skip_space();
        match self.chars.peek() {
            Some('{') => self.object(path),
            Some('[') => self.array(path),
            Some('"') => {
                self.string();
            }
            _ => while self.chars.next_if(|c| !matches!(c, ',' | '}' | ']' | '\n')).is_some() {},
        }
    }

    fn object(&mut self, path: &str) {
        self.next();
        loop {
            self.skip_space();
            match self.chars.peek() {
                Some('"') => {
                    let line = self.line;
                    let key = child(path, &self.string());
                    if self.found.lines.insert(key.clone(), line).is_some() {
                        self.found.twice = Some((key.clone(), line));
                    }
                    self.skip_space();
                    self.next(); // the colon
                    self.value(&key);
                }
                Some(',') => {
                    self.next();
                }
                _ => break,
            }
        }
        self.next();
    }

    fn array(&mut self, path: &str) {
        self.next();
        for index in 0.. {
            self.skip_space();
            if matches!(self.chars.peek(), Some(']') | None) {
                break;
            }
            let element = child(path, &index.to_string());
            self.found.lines.insert(element.clone(), self.line);
            self.value(&element);
            self.skip_space();
            self.chars.next_if_eq(&',');
        }
        self.next();
    }

    /// The characters between the quotes; escapes are kept as written, because keys contain none.
    fn string(&mut self) -> String {
        self.next();
        let mut text = String::new();
        while let Some(c) = self.next() {
            match c {
                '"' => break,
                '\\' => {
                    text.push(c);
                    text.extend(self.next());
                }
                _ => text.push(c),
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn keys_of_the_same_name_in_other_sections_are_distinguished() {
        let json = "{\n  \"a\": {\n    \"x\": \"}, \\\"x\\\": 1\",\n    \"l\": [1,\n 2]\n  },\n  \"b\": { \"x\": -1.5e3,\n \"y\": null }\n}";
        let lines = Lines::of_json(json);
        for (path, line) in [("a", 2), ("a.x", 3), ("a.l.1", 5), ("b", 7), ("b.x", 7), ("b.y", 8), ("b.x.deeper", 7)] {
            assert_eq!(lines.of(path), Some(line), "{path}");
        }
        assert_eq!(lines.of("c"), None);
    }

    #[test]
    fn yaml_keys_are_found_by_their_indentation() {
        let yaml = "# x: no\na:\n  x: 1\n  deep:\n    y: http://host:80\nb:\n  x: 2\n  \"y\": [1, 2]\n";
        let lines = Lines::of_yaml(yaml);
        for (path, line) in [("a.x", 3), ("a.deep.y", 5), ("b", 6), ("b.x", 7), ("b.y", 8), ("b.y.0", 8)] {
            assert_eq!(lines.of(path), Some(line), "{path}");
        }
    }
}
