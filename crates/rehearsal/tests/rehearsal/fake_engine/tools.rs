//! The tools of the double, on files in memory.

use serde_json::{Value, json};

use super::{Engine, Requirement};

/// The tools of a phase.
pub(crate) fn bound(strategic: bool) -> &'static [&'static str] {
    match strategic {
        true => &[
            "read_file",
            "write_file",
            "list_files",
            "write_plan",
            "todo_write",
            "todo_complete",
            "add_note",
            "generate_workspace_summary",
            "job_complete",
        ],
        false => &[
            "read_file",
            "write_file",
            "list_files",
            "todo_complete",
            "add_note",
            "extract_document_text",
            "chunk_document",
            "record_passage",
            "coverage",
            "list_requirements",
        ],
    }
}

fn text<'a>(args: &'a Value, key: &str) -> &'a str {
    args[key].as_str().unwrap_or_else(|| panic!("{key} is missing in {args}"))
}

/// A chunk's sentences, where each line is one or more of them: a line that continues a sentence begins in lower case.
fn sentences(chunk: &str) -> Vec<String> {
    let numbered = numbered(chunk);
    let mut parts: Vec<&str> = Vec::new();
    let mut rest = numbered.as_str();
    while let Some((before, behind)) = rest.split_once(&format!("[{}] ", parts.len() + 1)) {
        if let Some(last) = parts.last_mut() {
            *last = before;
        }
        parts.push(behind);
        rest = behind;
    }
    let words = |text: &&str| {
        let lines = text.lines().filter(|line| page_number(line).is_none());
        let text = lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ");
        text.trim_end_matches([' ', '-', '|', '#']).to_owned()
    };
    parts.iter().map(words).collect()
}

/// The chunk with a number before each sentence.
fn numbered(chunk: &str) -> String {
    let (mut text, mut number, mut open) = (String::new(), 0, false);
    let mut mark = |text: &mut String| {
        number += 1;
        text.push_str(&format!("[{number}] "));
    };
    for line in chunk.lines() {
        let body = line.trim_start_matches(['#', '-', '|', ' ']);
        let is_text =
            !body.is_empty() && !line.starts_with("<!--") && page_number(line).is_none() && !line.starts_with("|--");
        if !is_text {
            text.push_str(line);
            text.push('\n');
            continue;
        }
        text.push_str(&line[..line.len() - body.len()]);
        if !open {
            mark(&mut text);
        }
        let parts: Vec<&str> = body.split_inclusive(". ").collect();
        for (at, part) in parts.iter().enumerate() {
            let is_ordinal = at > 0 && parts[at - 1].trim_end_matches(". ").ends_with(|c: char| c.is_ascii_digit());
            let is_cut = at > 0 && part.starts_with(char::is_uppercase) && !is_ordinal;
            if is_cut {
                mark(&mut text);
            }
            text.push_str(part);
        }
        open = body.starts_with(char::is_alphabetic) && line == body && !body.ends_with(['.', ':', '?']);
        text.push('\n');
    }
    text
}

/// The text cut before every page mark.
fn pages(text: &str) -> Vec<&str> {
    let mut starts: Vec<usize> = text.match_indices("[page ").map(|(at, _)| at).collect();
    if starts.first() != Some(&0) {
        starts.insert(0, 0);
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(start, end)| &text[*start..end]).collect()
}

fn page_number(line: &str) -> Option<u64> {
    line.strip_prefix("[page ")?.strip_suffix(']')?.parse().ok()
}

impl Engine {
    pub(super) fn perform(&mut self, name: &str, args: &Value) -> String {
        match name {
            "read_file" => self.read_file(args),
            "write_file" => self.write_file(args),
            "list_files" => self.list_files(text(args, "path")),
            "write_plan" => self.write_file(&json!({"path": "main_plan.md", "content": text(args, "content")})),
            "todo_write" => self.todo_write(args),
            "todo_complete" => self.close_todo(),
            "extract_document_text" => self.extract(text(args, "file_path")),
            "chunk_document" => self.chunk(text(args, "file_path")),
            "record_passage" => self.record_passage(args),
            "coverage" => format!("{} requirements", self.requirements.len()),
            "list_requirements" => format!("{} requirements, the first of them", self.requirements.len()),
            "job_complete" => self.job_complete(args),
            "add_note" | "generate_workspace_summary" => "done".to_owned(),
            other => panic!("unknown tool {other}"),
        }
    }

    fn read_file(&self, args: &Value) -> String {
        let path = text(args, "path");
        let Some(content) = self.files.get(path) else { return format!("Error: {path} does not exist.") };
        let numbered = path.starts_with("chunks/chunk_").then(|| numbered(content));
        let content = numbered.as_ref().unwrap_or(content);
        let (total, first) = (content.lines().count(), args["offset"].as_u64().map_or(1, |offset| offset as usize));
        let last = args["limit"].as_u64().map_or(total, |limit| total.min(first + limit as usize - 1));
        if first > total.max(1) {
            return format!("Error: `{path}` has {total} lines; offset {first} is after its end.");
        }
        if let Some(most) = self.habits.max_lines.filter(|most| last + 1 - first > *most) {
            return format!("Error: lines {first}-{last} are too many; read: offset {first} limit {most}, and so on.");
        }
        let text: Vec<&str> = content.lines().skip(first - 1).take(last + 1 - first).collect();
        match (self.habits.no_headers, total) {
            (true, _) => text.join("\n"),
            (false, 0) => format!("[{path}: empty]"),
            (false, _) => format!("[{path}: lines {first}-{last} of {total}]\n{}\n", text.join("\n")),
        }
    }

    fn write_file(&mut self, args: &Value) -> String {
        let file = self.files.entry(text(args, "path").to_owned()).or_default();
        if args["append"] != true {
            file.clear();
        }
        file.push_str(text(args, "content"));
        "written".to_owned()
    }

    fn list_files(&self, folder: &str) -> String {
        let inside = self.files.iter().filter(|(path, _)| path.starts_with(&format!("{folder}/")));
        inside.map(|(path, content)| format!("{path}  {}\n", content.len())).collect()
    }

    fn todo_write(&mut self, args: &Value) -> String {
        let todos: Vec<String> =
            args["todos"].as_array().unwrap().iter().map(|todo| text(todo, "content").to_owned()).collect();
        if !(5..=20).contains(&todos.len()) {
            return format!("Error: {} todos; write 5 to 20.", todos.len());
        }
        self.staged = Some((text(args, "phase").to_owned(), todos));
        "staged".to_owned()
    }

    fn extract(&mut self, path: &str) -> String {
        let stem = path.trim_start_matches("input/").split('.').next().unwrap();
        match self.files.get(path).cloned() {
            Some(content) if !content.starts_with("encrypted") => {
                self.files.insert(format!("chunks/{stem}.md"), content);
                format!("text: chunks/{stem}.md")
            }
            _ => format!("Error: {path} is encrypted; supply it without a password."),
        }
    }

    /// A chunk a page, but a page that ends in mid-sentence takes the next one along.
    fn chunk(&mut self, path: &str) -> String {
        let content = self.files[path].clone();
        assert!(!content.starts_with("encrypted"), "an unreadable document must not be chunked");
        let manifest = self.files.get("chunks/manifest.json");
        let manifest = manifest.map_or(json!({"chunks": []}), |text| serde_json::from_str(text).unwrap());
        let mut chunks = manifest["chunks"].as_array().unwrap().clone();
        let mut body = String::new();
        for page in pages(&content) {
            body.push_str(page);
            if !body.trim_end().ends_with(['.', '|']) && content.contains("[page ") && !content.ends_with(page) {
                continue;
            }
            let file = format!("chunks/chunk_{:03}.md", chunks.len() + 1);
            let numbers: Vec<u64> = body.lines().filter_map(page_number).collect();
            let (from, to) = (numbers.first(), numbers.last());
            let head = from.zip(to).map(|(from, to)| format!(" | pages: {from}-{to}")).unwrap_or_default();
            self.files.insert(file.clone(), format!("<!-- source: {path}{head} -->\n{body}"));
            let pages = from.map_or(Value::Null, |from| json!({"from": from, "to": to}));
            chunks.push(json!({"file": file, "source": path, "pages": pages, "headings": ["Policy"], "tokens": 9}));
            body.clear();
        }
        let manifest = serde_json::to_string_pretty(&json!({"chunks": chunks})).unwrap();
        self.files.insert("chunks/manifest.json".to_owned(), manifest);
        "chunked".to_owned()
    }

    /// The page on which a sentence of a chunk begins.
    fn page_of(chunk: &str, sentence: usize) -> Option<u64> {
        let shown = numbered(chunk);
        let before = shown.split_once(&format!("[{sentence}] "))?.0;
        before.lines().rev().find_map(page_number)
    }

    fn record_passage(&mut self, args: &Value) -> String {
        let number = args["passage"].as_u64().unwrap();
        let Some(chunk) = self.files.get(&format!("chunks/chunk_{number:03}.md")).cloned() else {
            return format!("Error: there is no passage {number}.");
        };
        let sentences = sentences(&chunk);
        let mut ids = Vec::new();
        for item in args["items"].as_array().into_iter().flatten() {
            let sentence: usize = text(item, "s").parse().unwrap();
            let Some(text) = sentences.get(sentence - 1) else {
                return format!("Error: there is no sentence {sentence}.");
            };
            ids.push(format!("r{} = {sentence}", self.requirements.len() + 1));
            let page = Self::page_of(&chunk, sentence);
            let row = Requirement { text: text.clone(), page, args: item.clone() };
            if !self.requirements.iter().any(|known| known.text == row.text && known.page == row.page) {
                self.requirements.push(row);
            }
        }
        let outcome = if args["rest"].is_array() { format!("passage {number} is decided.") } else { String::new() };
        format!("passage {number}: {}. {outcome}", ids.join(", "))
    }

    fn job_complete(&mut self, args: &Value) -> String {
        for path in args["deliverables"].as_array().unwrap() {
            let path = path.as_str().unwrap();
            if path == "output/requirements.md" {
                continue;
            }
            if self.files.get(path).is_none_or(|content| content.trim().is_empty()) {
                return format!("Error: the deliverable {path} does not exist.");
            }
        }
        self.result = Some(args.clone());
        "complete".to_owned()
    }
}
