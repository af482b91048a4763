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
            "add_requirement",
        ],
    }
}

fn text<'a>(args: &'a Value, key: &str) -> &'a str {
    args[key].as_str().unwrap_or_else(|| panic!("{key} is missing in {args}"))
}

/// White space does not count when quotes are looked up.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
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
            "add_requirement" => self.add_requirement(args),
            "job_complete" => self.job_complete(args),
            "add_note" | "generate_workspace_summary" => "done".to_owned(),
            other => panic!("unknown tool {other}"),
        }
    }

    fn read_file(&self, args: &Value) -> String {
        let path = text(args, "path");
        let Some(content) = self.files.get(path) else { return format!("Error: {path} does not exist.") };
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

    fn add_requirement(&mut self, args: &Value) -> String {
        for citation in args["citations"].as_array().unwrap() {
            let source = &self.files[text(citation, "source")];
            let searched = match citation["page"].as_u64() {
                None => source.as_str(),
                Some(page) => source.split(&format!("[page {page}]")).nth(1).unwrap().split("[page ").next().unwrap(),
            };
            let searched: Vec<&str> = searched.lines().filter(|line| !line.starts_with("[page ")).collect();
            if !squeezed(&searched.join("\n")).contains(&squeezed(text(citation, "quote"))) {
                return format!("Error: the quote does not occur in {}.", text(citation, "source"));
            }
        }
        let page = args["source_location"]["page"].as_u64();
        let id = format!("req_{:04x}", self.requirements.len());
        let row = Requirement { text: text(args, "text").to_owned(), page, args: args.clone() };
        if self.requirements.iter().all(|known| known.text != row.text) {
            self.requirements.push(row);
        }
        format!("recorded {id}: {} (1 citation verified)", text(args, "text"))
    }

    fn job_complete(&mut self, args: &Value) -> String {
        for path in args["deliverables"].as_array().unwrap() {
            let path = path.as_str().unwrap();
            if self.files.get(path).is_none_or(|content| content.trim().is_empty()) {
                return format!("Error: the deliverable {path} does not exist.");
            }
        }
        self.result = Some(args.clone());
        "complete".to_owned()
    }
}
