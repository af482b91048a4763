//! Markup that is copied with its changes: what is left out, and what is written in between.

use quick_xml::Reader;
use quick_xml::events::BytesStart;

/// The copy of a part. Positions are those of its reader; what lies between the last one and the next is copied as it is.
pub(super) struct Copied<'a> {
    part: &'a str,
    /// The position up to which it was copied or left out.
    done: usize,
    copy: String,
}

impl<'a> Copied<'a> {
    pub(super) fn new(part: &'a str) -> Self {
        Self { part, done: 0, copy: String::new() }
    }

    /// Copies up to a position.
    pub(super) fn to(&mut self, end: usize) {
        self.copy.push_str(&self.part[self.done..end]);
        self.done = end;
    }

    /// Writes behind what was copied last.
    pub(super) fn push(&mut self, markup: &str) {
        self.copy.push_str(markup);
    }

    /// Writes at a position.
    pub(super) fn write(&mut self, here: usize, markup: &str) {
        self.to(here);
        self.push(markup);
    }

    /// Leaves out the present tag or text, which begins at `from`.
    pub(super) fn omit(&mut self, reader: &Reader<&'a [u8]>, from: usize) {
        self.replace(reader, from, "");
    }

    /// Writes other markup in place of the present tag or text.
    pub(super) fn replace(&mut self, reader: &Reader<&'a [u8]>, from: usize, markup: &str) {
        self.write(from, markup);
        self.done = reader.buffer_position() as usize;
    }

    /// Leaves out an element and returns its markup.
    pub(super) fn leave_out(
        &mut self,
        reader: &mut Reader<&'a [u8]>,
        from: usize,
        start: &BytesStart<'a>,
    ) -> Result<&'a str, quick_xml::Error> {
        self.to(from);
        reader.read_to_end(start.name())?;
        self.done = reader.buffer_position() as usize;
        Ok(&self.part[from..self.done])
    }

    /// The copy of the whole part.
    pub(super) fn end(mut self) -> String {
        self.to(self.part.len());
        self.copy
    }
}
