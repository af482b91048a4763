//! Reads files of any length with `read_file`, in ranges of lines.
//!
//! The tool begins each result with a line about its range, `[path: lines 1-60 of 120]`, and refuses ranges that are
//! too large with the permitted ones. Both are handled here; without such a line, lines are counted.

use std::sync::LazyLock;

use plumbline_bounds::pattern;
use regex::Regex;

use crate::call::{Call, read_lines};
use crate::request_view::RequestView;

static HEADER: LazyLock<Regex> = LazyLock::new(|| pattern::own(r"^\[\S.*: (?:lines \d+-(\d+) of (\d+)|empty)\]$"));
static FITTING: LazyLock<Regex> = LazyLock::new(|| pattern::own(r"limit (\d+)"));

/// A result of `read_file` without its first line, with the last shown line and the total from that first line, if
/// present.
pub(crate) fn body(result: &str) -> (&str, Option<(usize, usize)>) {
    let (first, rest) = result.split_once('\n').unwrap_or((result, ""));
    match HEADER.captures(first.trim_end()) {
        None => (result, None),
        Some(found) => {
            let number = |group| found.get(group).and_then(|digits| digits.as_str().parse().ok());
            (rest, Some((number(1).unwrap_or(0), number(2).unwrap_or(0))))
        }
    }
}

/// The path of the file that a result shows whole.
pub(crate) fn whole(result: &str) -> Option<&str> {
    let first = result.lines().next()?;
    let (_, shown) = body(result);
    let begins_at_one = first.contains(": lines 1-") || first.ends_with(": empty]");
    shown.filter(|(last, all)| last == all && begins_at_one)?;
    first.strip_prefix('[')?.rsplit_once(": ").map(|(path, _)| path)
}

/// The whole text of a file, or the call that reads its next lines, `limit` of them or fewer. A missing file is empty.
pub(crate) fn read_all(view: &RequestView<'_>, path: &str, limit: usize) -> Result<String, Call> {
    let (mut text, mut next, mut limit) = (String::new(), 1, limit);
    loop {
        let call = read_lines(path, next, limit);
        let done = view.result_of(&call).ok_or(call)?;
        if done.failed() {
            let fitting = FITTING.captures(done.result).and_then(|found| found[1].parse::<usize>().ok());
            match fitting.filter(|fitting| (1..limit).contains(fitting)) {
                Some(fitting) => limit = fitting,
                None => return Ok(text),
            }
            continue;
        }
        let (lines, shown) = body(done.result);
        text.push_str(lines);
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let count = lines.lines().count();
        let (last, total) = shown.unwrap_or((next + count - 1, if count < limit { 0 } else { usize::MAX }));
        if count == 0 || last >= total {
            return Ok(text);
        }
        next = last + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::body;

    #[test]
    fn the_first_line_of_a_result_is_distinguished_from_text() {
        assert_eq!(body("[a b.md: lines 1-2 of 9]\none\ntwo\n"), ("one\ntwo\n", Some((2, 9))));
        assert_eq!(body("[a.md: empty]"), ("", Some((0, 0))));
        assert_eq!(body("[page 3]\ntext"), ("[page 3]\ntext", None));
    }
}
