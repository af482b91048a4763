//! The names of inline documents.

use super::{Refused, import::DEEPEST};
use serde_json::Value;

/// `context->>'document_name'`, or `document`; with an extension detected from the content if it has none.
pub(crate) fn inline(context: &Value, bytes: &[u8]) -> Result<String, Refused> {
    let name = match context.get("document_name") {
        None | Some(Value::Null) => "document",
        Some(Value::String(name)) if is_plain(name.trim()) => name.trim(),
        Some(other) => {
            let shown = other.as_str().map_or_else(|| other.to_string(), str::to_owned);
            return Err(format!(
                "`{shown}` in context.document_name is no file name; give a plain name such as `policy.pdf`, without a path"
            ));
        }
    };
    Ok(with_extension(name, bytes))
}

/// The name of one of several documents: a path below `input/`, of plain names.
pub(crate) fn given(name: &str, bytes: &[u8]) -> Result<String, Refused> {
    let name = name.trim();
    match name.split('/').all(is_plain) && name.split('/').count() <= DEEPEST {
        true => Ok(with_extension(name, bytes)),
        false => Err(format!(
            "`{name}` is no name for a document; give a plain one such as `policy.pdf` or `annex/policy.pdf`, without `..` \
             and without a leading `/`"
        )),
    }
}

fn with_extension(name: &str, bytes: &[u8]) -> String {
    if name.contains('.') { name.to_owned() } else { format!("{name}.{}", extension(bytes)) }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 255
        && !name.starts_with('.')
        && !name.contains(['/', '\\'])
        && !name.contains(char::is_control)
}

/// The extension for the content's first bytes.
fn extension(bytes: &[u8]) -> &'static str {
    let start = &bytes[..bytes.len().min(512)];
    let text = String::from_utf8_lossy(start).trim_start_matches('\u{feff}').trim_start().to_lowercase();
    if start.windows(5).any(|window| window == b"%PDF-") {
        "pdf"
    } else if start.starts_with(b"PK\x03\x04") {
        "docx"
    } else if text.starts_with("<!doctype html") || text.starts_with("<html") {
        "html"
    } else if text.starts_with("# ") {
        "md"
    } else {
        "txt"
    }
}

#[cfg(test)]
mod tests {
    use super::{given, inline};
    use serde_json::json;

    #[test]
    fn an_inline_document_gets_the_given_name_or_one_by_its_content() {
        for (context, bytes, expected) in [
            (json!({"document_name": "policy.pdf"}), b"%PDF-1.7".as_slice(), "policy.pdf"),
            (json!({"document_name": "policy"}), b"%PDF-1.7", "policy.pdf"),
            (json!({}), b"%PDF-1.7", "document.pdf"),
            (json!({}), b"PK\x03\x04...", "document.docx"),
            (json!(null), b"\n<!DOCTYPE html><p>", "document.html"),
            (json!({}), b"# Policy\n", "document.md"),
            (json!({}), b"Invoices must be kept.", "document.txt"),
            (json!({}), b"", "document.txt"),
        ] {
            assert_eq!(inline(&context, bytes).as_deref(), Ok(expected), "{context}");
        }
    }

    #[test]
    fn one_of_several_documents_may_lie_in_a_folder_but_nowhere_else() {
        assert_eq!(given("annex/policy.pdf", b"%PDF-").as_deref(), Ok("annex/policy.pdf"));
        assert_eq!(given(" policy ", b"%PDF-").as_deref(), Ok("policy.pdf"));
        for name in ["", "/a.pdf", "../a.pdf", "a/../b.pdf", "a//b.pdf", "a/.hidden", "a\\b.pdf", "a\0.pdf"] {
            assert!(given(name, b"x").expect_err(name).contains("no name for a document"), "{name}");
        }
    }

    #[test]
    fn a_name_that_is_a_path_is_refused() {
        for name in ["../x.pdf", "/etc/x.pdf", "a\\b.pdf", ".hidden", "", "a\nb.pdf"] {
            let refused = inline(&json!({"document_name": name}), b"x").expect_err(name);
            assert!(refused.contains("no file name"), "{refused}");
        }
        assert!(inline(&json!({"document_name": 7}), b"x").is_err());
    }
}
