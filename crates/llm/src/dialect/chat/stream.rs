//! Assembles a streamed answer of chat completions.
//!
//! It is complete when it has a finish reason and the stream has ended, by `[DONE]` or by closing. Some servers never
//! give a reason: then `[DONE]` suffices if no call is truncated. An error after the finish reason is ignored.

use super::response::{PROTOCOL, is_wrapped, own_fields};
use crate::dialect::DONE;
use crate::dialect::decoded::{NoAnswer, word_of};
use crate::dialect::ending::{self, Ending};
use crate::dialect::extra_fields::join;
use crate::dialect::fields::{
    Fields, MOST_EXTRA_BYTES, content, error_of, event_of, fields_of, id, list, number, object, present,
    says_something, text_or_empty, under, value_of,
};
use serde_json::{Map, Value, json, value::RawValue};

/// Memory overhead of a call.
const A_CALL: usize = 256;

/// The answer so far.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    content: String,
    refusal: String,
    /// Non-standard fields.
    extra: Map<String, Value>,
    calls: Vec<Call>,
    /// Whether the call came as `function_call`, the older form of a single call.
    only_function_call: bool,
    finish_reason: Option<String>,
    /// The finish reason of an aggregator's upstream provider.
    native_finish_reason: Option<String>,
    usage: Option<Value>,
    service_tier: Option<Value>,
    done: bool,
    /// Whether the usage came in a separate last event.
    told_usage: bool,
    bytes: usize,
}

#[derive(Debug, Default)]
struct Call {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    extra: Map<String, Value>,
}

impl Assembly {
    pub(in crate::dialect) fn add(&mut self, data: &str) -> Result<bool, NoAnswer> {
        if data.trim() == DONE {
            self.done = true;
            return Ok(true);
        }
        let event = event_of(data)?;
        let error = error_of(&event)?;
        // Groq also has it in a separate field.
        let of_groq = || object(&event, "x_groq").and_then(|groq| present(&groq, "usage"));
        if let Some(usage) = present(&event, "usage")?.or(of_groq()?) {
            self.usage = Some(usage);
            self.told_usage = list(&event, "choices")?.is_empty();
        }
        if let Some(tier) = present(&event, "service_tier")? {
            self.service_tier = Some(tier);
        }
        match (list(&event, "choices")?.first(), error) {
            (Some(choice), error) => self.add_choice(&fields_of(choice)?, error)?,
            (None, Some(error)) => return Err(NoAnswer::Error(error)),
            (None, None) => {}
        }
        Ok(false)
    }

    pub(in crate::dialect) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(in crate::dialect) fn usage(&self) -> Option<Value> {
        self.usage.clone()
    }

    /// Whether the answer so far has a finish reason.
    pub(in crate::dialect) fn has_ended(&self) -> bool {
        let reason = self.finish_reason.as_deref();
        let is_torn = self.calls.iter().any(|call| !call.is_whole());
        reason.is_some() && matches!(ending::of(reason), Ending::Finished(_)) && (ending::is_cut(reason) || !is_torn)
    }

    /// It is complete.
    pub(in crate::dialect) fn close(&mut self) {
        self.done = true;
    }

    /// Whether the stream ended by a mark of its own, not by its close alone.
    pub(in crate::dialect) fn has_own_end(&self) -> bool {
        self.done || self.told_usage
    }

    /// `error` is the event's other content.
    fn add_choice(&mut self, choice: &Fields<'_>, error: Option<Value>) -> Result<(), NoAnswer> {
        if let Some(usage) = present(choice, "usage")? {
            self.usage = Some(usage);
        }
        let reason = word_of(present(choice, "finish_reason")?.as_ref());
        // Some providers also report the cap as an error.
        if let (Some(error), false) = (error.or(error_of(choice)?), ending::is_cut(reason.as_deref())) {
            return Err(NoAnswer::Error(error));
        }
        // Some servers send the whole message at the end, instead of a last delta.
        if let Some(delta) = under(choice, "delta").or_else(|| under(choice, "message")) {
            self.add_delta(fields_of(delta)?)?;
        }
        self.finish_reason = reason.or(self.finish_reason.take());
        let native = word_of(present(choice, "native_finish_reason")?.as_ref());
        self.native_finish_reason = native.or(self.native_finish_reason.take());
        Ok(())
    }

    fn add_delta(&mut self, mut delta: Fields<'_>) -> Result<(), NoAnswer> {
        let before = self.bytes;
        let said = content(&delta, "content")?;
        self.bytes += said.len();
        self.content.push_str(&said);
        let refusal = text_or_empty(&delta, "refusal")?;
        self.bytes += refusal.len();
        self.refusal.push_str(&refusal);
        for call in list(&delta, "tool_calls")? {
            self.bytes += call.get().len();
            self.add_call(fields_of(call)?)?;
        }
        // The older form of a single call.
        if let Some(function) = under(&delta, "function_call") {
            self.bytes += function.get().len();
            self.only_function_call |= self.calls.is_empty();
            if self.only_function_call {
                self.add_piece(Some(0), String::new(), &fields_of(function)?)?;
            }
        }
        delta.retain(|key, _| !PROTOCOL.contains(&key.as_str()));
        for (key, raw) in delta {
            self.bytes += raw.get().len();
            if self.bytes - before > MOST_EXTRA_BYTES {
                continue;
            }
            let value = value_of(raw)?;
            if says_something(&value) {
                match self.extra.get_mut(&key) {
                    Some(before) => join(&key, before, value),
                    None => drop(self.extra.insert(key, value)),
                }
            }
        }
        Ok(())
    }

    fn add_call(&mut self, mut delta: Fields<'_>) -> Result<(), NoAnswer> {
        let (index, id) = (number(&delta, "index")?, id(&delta, "id")?);
        let function = match is_wrapped(&delta) {
            true => object(&delta, "function")?,
            false => ["name", "arguments"].iter().filter_map(|key| delta.remove_entry(*key)).collect(),
        };
        let own = own_fields(delta)?;
        self.add_piece(index, id, &function)?.extra.extend(own);
        Ok(())
    }

    fn add_piece(&mut self, index: Option<u64>, id: String, function: &Fields<'_>) -> Result<&mut Call, NoAnswer> {
        let name = text_or_empty(function, "name")?.trim().to_string();
        let whole = under(function, "arguments").map(RawValue::get).filter(|raw| !raw.starts_with('"'));
        let arguments = match whole {
            Some(whole) => whole.to_owned(),
            None => text_or_empty(function, "arguments")?,
        };
        let place = self.place_of(index, &id, &name, &arguments);
        let call = &mut self.calls[place];
        if call.id.is_empty() {
            call.id = id;
        }
        if call.name != name {
            call.name.push_str(&name);
        }
        match whole {
            Some(_) => call.arguments = arguments,
            None => call.add_arguments(&arguments),
        }
        Ok(call)
    }

    /// The call of a piece: by its index, else by its id, else by its order, in which a name begins a new call.
    fn place_of(&mut self, index: Option<u64>, id: &str, name: &str, arguments: &str) -> usize {
        let found = match (index, id) {
            (Some(index), _) if name.is_empty() => self.begun_under(index, id),
            (Some(index), _) => self.named_under(index, id, name, arguments),
            (None, "") if name.is_empty() => self.calls.len().checked_sub(1),
            (None, "") => None,
            (None, id) => self.calls.iter().rposition(|call| call.id == id),
        };
        found.unwrap_or_else(|| {
            self.bytes += A_CALL;
            self.calls.push(Call { index, ..Call::default() });
            self.calls.len() - 1
        })
    }

    /// The continuing call with an index. Some servers give each piece a different id.
    fn begun_under(&self, index: u64, id: &str) -> Option<usize> {
        let is_there = |call: &Call| call.index == Some(index);
        let same_id = self.calls.iter().rposition(|call| is_there(call) && call.id == id);
        same_id.or_else(|| self.calls.iter().rposition(is_there))
    }

    /// The call with an index for a piece with a name. Two calls with one index are distinguished by their ids, or by a
    /// name after complete arguments.
    fn named_under(&self, index: u64, id: &str, name: &str, arguments: &str) -> Option<usize> {
        let same_id = |call: &Call| id.is_empty() || call.id.is_empty() || call.id == id;
        let found = self.calls.iter().rposition(|call| call.index == Some(index) && same_id(call));
        found.filter(|place| !self.calls[*place].is_followed_by(id, name, arguments))
    }

    pub(in crate::dialect) fn into_body(self) -> Result<String, NoAnswer> {
        let says_nothing = self.content.is_empty() && self.refusal.is_empty() && self.calls.is_empty();
        let is_torn = self.calls.iter().any(|call| !call.is_whole());
        if self.finish_reason.is_none() && (!self.done || is_torn || says_nothing) {
            return Err(NoAnswer::Cut);
        }
        let mut message = self.extra;
        message.insert("content".into(), self.content.into());
        message.insert("refusal".into(), self.refusal.into());
        message.insert("tool_calls".into(), self.calls.into_iter().map(Call::into_value).collect());
        let choice = json!({
            "message": message,
            "finish_reason": self.finish_reason,
            "native_finish_reason": self.native_finish_reason,
        });
        let answer = json!({"choices": [choice], "usage": self.usage, "service_tier": self.service_tier});
        Ok(answer.to_string())
    }
}

impl Call {
    /// Some servers repeat the whole arguments when they are complete.
    fn add_arguments(&mut self, piece: &str) {
        if self.arguments != piece || !self.is_whole() {
            self.arguments.push_str(piece);
        }
    }

    /// Whether a piece with a name begins another call, if ids do not decide: the current call has all of its
    /// arguments, and the piece does not just repeat it.
    fn is_followed_by(&self, id: &str, name: &str, arguments: &str) -> bool {
        let is_the_same = !id.is_empty() && self.id == id;
        let says_again = self.name == name && (arguments.trim().is_empty() || arguments == self.arguments);
        let is_complete = !self.name.is_empty() && !self.arguments.is_empty() && self.is_whole();
        is_complete && !is_the_same && !says_again
    }

    fn is_whole(&self) -> bool {
        self.arguments.is_empty() || serde_json::from_str::<Map<String, Value>>(&self.arguments).is_ok()
    }

    fn into_value(self) -> Value {
        let mut call = self.extra;
        call.insert("id".into(), self.id.into());
        call.insert("function".into(), json!({"name": self.name, "arguments": self.arguments}));
        Value::Object(call)
    }
}
