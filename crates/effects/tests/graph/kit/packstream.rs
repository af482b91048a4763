//! Bolt's encoding, as far as tests need it.

use serde_json::{Map, Value, json};

pub(crate) fn encode(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(0xC0),
        Value::Bool(flag) => out.push(if *flag { 0xC3 } else { 0xC2 }),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => {
                out.push(0xCB);
                out.extend(integer.to_be_bytes());
            }
            None => {
                out.push(0xC1);
                out.extend(number.as_f64().unwrap().to_be_bytes());
            }
        },
        Value::String(text) => {
            out.push(0xD2);
            out.extend(u32::try_from(text.len()).unwrap().to_be_bytes());
            out.extend(text.as_bytes());
        }
        Value::Array(items) => {
            out.push(0xD6);
            out.extend(u32::try_from(items.len()).unwrap().to_be_bytes());
            items.iter().for_each(|item| encode(item, out));
        }
        Value::Object(members) => {
            out.push(0xDA);
            out.extend(u32::try_from(members.len()).unwrap().to_be_bytes());
            for (key, member) in members {
                encode(&json!(key), out);
                encode(member, out);
            }
        }
    }
}

/// Reads values off the front of a message.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl Reader<'_> {
    fn take(&mut self, n: usize) -> &[u8] {
        let (head, tail) = self.0.split_at(n);
        self.0 = tail;
        head
    }

    fn number(&mut self, bytes: usize) -> usize {
        self.take(bytes).iter().fold(0, |sum, byte| (sum << 8) | usize::from(*byte))
    }

    /// A structure's tag and fields.
    pub(crate) fn structure(&mut self) -> (u8, Vec<Value>) {
        let marker = self.take(1)[0];
        assert_eq!(marker & 0xF0, 0xB0, "a structure begins with 0xB");
        let tag = self.take(1)[0];
        (tag, (0..marker & 0x0F).map(|_| self.value()).collect())
    }

    pub(crate) fn value(&mut self) -> Value {
        let marker = self.take(1)[0];
        match marker {
            0xC0 => Value::Null,
            0xC1 => json!(f64::from_be_bytes(self.take(8).try_into().unwrap())),
            0xC2 | 0xC3 => json!(marker == 0xC3),
            0xC8 => json!(self.take(1)[0].cast_signed()),
            0xC9 => json!(i16::from_be_bytes(self.take(2).try_into().unwrap())),
            0xCA => json!(i32::from_be_bytes(self.take(4).try_into().unwrap())),
            0xCB => json!(i64::from_be_bytes(self.take(8).try_into().unwrap())),
            0x80..=0x8F => self.text(usize::from(marker & 0x0F)),
            0xD0..=0xD2 => {
                let length = self.number(1 << (marker - 0xD0));
                self.text(length)
            }
            0x90..=0x9F => self.list(usize::from(marker & 0x0F)),
            0xD4..=0xD6 => {
                let length = self.number(1 << (marker - 0xD4));
                self.list(length)
            }
            0xA0..=0xAF => self.map(usize::from(marker & 0x0F)),
            0xD8..=0xDA => {
                let length = self.number(1 << (marker - 0xD8));
                self.map(length)
            }
            0xB0..=0xBF => {
                self.take(1);
                self.list(usize::from(marker & 0x0F))
            }
            _ => json!(marker.cast_signed()),
        }
    }

    fn text(&mut self, length: usize) -> Value {
        json!(String::from_utf8(self.take(length).to_vec()).unwrap())
    }

    fn list(&mut self, length: usize) -> Value {
        (0..length).map(|_| self.value()).collect()
    }

    fn map(&mut self, length: usize) -> Value {
        let member = |reader: &mut Self| (reader.value().as_str().unwrap().to_owned(), reader.value());
        Value::Object((0..length).map(|_| member(self)).collect::<Map<_, _>>())
    }
}
