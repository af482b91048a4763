//! Short fingerprints for recognising repeated calls. They are only compared for equality with a few values, so 32 bits
//! of FNV-1a suffice and keep the checkpoint small.

use serde_json::Value;
use std::io;

/// Fingerprint of a text.
pub(crate) fn of_text(text: &str) -> u32 {
    let mut print = Fingerprint::default();
    print.add(text.as_bytes());
    print.0
}

/// Fingerprint of a list by its texts.
pub(crate) fn of_list<'a>(texts: impl Iterator<Item = &'a str>) -> u32 {
    of_text(&texts.map(str::trim).collect::<Vec<_>>().join("\n"))
}

/// Fingerprint of several parts, each with its length, so that the boundaries count.
pub(crate) fn of_parts(parts: &[&[u8]]) -> u32 {
    let mut print = Fingerprint::default();
    for part in parts {
        print.add(&part.len().to_le_bytes());
        print.add(part);
    }
    print.0
}

/// Fingerprint of a call by name and normalized arguments: key order and white space do not matter.
pub(crate) fn of_call(name: &str, arguments: &Value) -> u32 {
    let mut print = Fingerprint::default();
    print.add(name.as_bytes());
    print.add(&[0]);
    // `Value` keeps object keys sorted, so its text is a normal form.
    serde_json::to_writer(&mut print, arguments).expect("a value can be written, and a fingerprint takes every byte");
    print.0
}

/// The fingerprint of the bytes so far.
struct Fingerprint(u32);

impl Default for Fingerprint {
    fn default() -> Self {
        Self(0x811c_9dc5)
    }
}

impl Fingerprint {
    fn add(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    }
}

impl io::Write for Fingerprint {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.add(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{of_call, of_text};
    use serde_json::json;

    /// Checkpoints hold fingerprints of calls, made by this version and by earlier ones.
    #[test]
    fn a_call_s_fingerprint_is_that_of_its_normal_text() {
        let arguments = json!({"path": "a \"b\"\n", "lines": [1, 2.5, null]});
        assert_eq!(of_call("read_file", &arguments), of_text(&format!("read_file\u{0}{arguments}")));
        assert_eq!(of_text(""), 0x811c_9dc5);
        assert_eq!(of_text("a"), 0xe40c_292c);
    }
}
