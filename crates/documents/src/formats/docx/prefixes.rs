//! The prefix by which a DOCX part names the elements of word processing, usually `w`.

use std::borrow::Cow;

/// The namespaces of word processing, the usual and the strict one.
const NAMESPACES: [&str; 2] = [
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "http://purl.oclc.org/ooxml/wordprocessingml/main",
];

/// A part with the usual prefix.
pub(super) fn usual(xml: &str) -> Cow<'_, str> {
    let renamed = other_prefixes(xml);
    renamed.iter().fold(Cow::Borrowed(xml), |xml, prefix| Cow::Owned(with_usual_prefix(&xml, prefix)))
}

/// The namespace prefixes of word processing in a part, usually `w`; empty for a default namespace.
fn other_prefixes(xml: &str) -> Vec<String> {
    let head = &xml[..xml.floor_char_boundary(16 << 10)];
    let found = NAMESPACES.iter().flat_map(|namespace| head.match_indices(namespace));
    let prefix = |(at, _): (usize, &str)| {
        let name = head[..at].trim_end_matches(['"', '\'', '=', ' ']).rsplit([' ', '\n', '\t', '\r']).next()?;
        let prefix = name.strip_prefix("xmlns")?.trim_start_matches(':');
        (prefix != "w").then(|| prefix.to_owned())
    };
    let mut prefixes: Vec<String> = found.filter_map(prefix).collect();
    prefixes.dedup();
    prefixes
}

/// The parser knows names by the usual prefix only.
fn with_usual_prefix(xml: &str, prefix: &str) -> String {
    let mut out = String::with_capacity(xml.len() + xml.len() / 8);
    for (number, piece) in xml.split('<').enumerate() {
        if number == 0 {
            out.push_str(piece);
            continue;
        }
        out.push('<');
        let (tag, text) = piece.split_once('>').map_or((piece, None), |(tag, text)| (tag, Some(text)));
        let (slash, name) = tag.strip_prefix('/').map_or(("", tag), |name| ("/", name));
        out.push_str(slash);
        let own = name.split([' ', '/', '\n', '\t', '\r']).next().unwrap_or(name);
        match own.split_once(':') {
            _ if name.starts_with(['?', '!']) => out.push_str(name),
            Some((own, _)) if own == prefix => {
                out.push('w');
                out.push_str(&name[prefix.len()..].replace(&format!(" {prefix}:"), " w:"));
            }
            None if prefix.is_empty() => {
                out.push_str("w:");
                out.push_str(name);
            }
            _ => out.push_str(name),
        }
        if let Some(text) = text {
            out.push('>');
            out.push_str(text);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_prefix_is_made_the_usual_one() {
        let namespace = NAMESPACES[0];
        for (xml, prefix) in [
            (
                format!(
                    "<ns0:p xmlns:ns0=\"{namespace}\"><ns0:r ns0:rsid=\"1\"><ns0:t>It shall</ns0:t></ns0:r></ns0:p>"
                ),
                "ns0",
            ),
            (format!("<p xmlns='{namespace}'><r><t>It shall</t></r><br/></p>"), ""),
        ] {
            assert_eq!(other_prefixes(&xml), [prefix]);
            let found = with_usual_prefix(&xml, prefix);
            assert!(found.contains("<w:r") && found.contains("<w:t>It shall</w:t>"), "{found}");
        }
    }
}
