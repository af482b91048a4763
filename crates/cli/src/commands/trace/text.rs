//! A step for people. Long texts are truncated to a line; a single requested step is shown completely.

use crate::{
    output::{short, thousands},
    terminal::{Look, Tone},
};
use plumbline_store::{TraceEffect, TraceMessage, TraceRequest, TraceStep};
use serde_json::Value;

/// Width of the prefix of a text's line.
const MARGIN: usize = 20;
/// Maximum characters of a text on its line, on a terminal of any width.
const MOST: usize = 200;
/// Maximum effects of a kind that are listed individually; a step can write a hundred files.
const NAMED: usize = 6;

pub(super) fn render(step: &TraceStep, full: bool, look: Look) -> String {
    let mut lines = vec![look.paint(Tone::Strong, &heading(step))];
    let request = |made: &TraceRequest| request(made, look);
    lines.extend(step.requests.iter().map(request).map(|line| if full { line } else { look.fit(&line) }));
    for message in &step.messages {
        if full { whole(message, look, &mut lines) } else { cut(message, look, &mut lines) }
    }
    effects(&step.effects, full, look, &mut lines);
    lines.push(String::new());
    lines.join("\n")
}

fn heading(step: &TraceStep) -> String {
    let phase = match (&step.phase, &step.phase_name) {
        (Some(kind), Some(name)) => format!("phase {} ({kind}): {name}", step.phase_number),
        _ => "before the first phase".to_owned(),
    };
    format!("step {} · {} · {phase}", step.step, step.created_at.format("%Y-%m-%d %H:%M:%S UTC"))
}

fn request(request: &TraceRequest, look: Look) -> String {
    let mut line = format!(
        "  request   {} ({}), {} tokens in ({} cached), {} out, {} ms",
        request.model,
        request.purpose,
        thousands(request.prompt_tokens),
        thousands(request.cached_tokens),
        thousands(request.completion_tokens),
        thousands(request.duration_ms),
    );
    if let Some(reason) = &request.finish_reason {
        line.push_str(&format!(", {}", short(reason, most(look))));
    }
    if request.fallback {
        line.push_str(", fallback");
    }
    if request.attempt > 1 {
        line.push_str(&format!(", attempt {}", request.attempt));
    }
    if let Some(error) = &request.error {
        line.push_str(&format!(", failed: {}", short(error, most(look))));
    }
    look.paint(if request.error.is_some() { Tone::Bad } else { Tone::Quiet }, &line)
}

/// Width available for a text on its line.
fn most(look: Look) -> usize {
    look.width().saturating_sub(MARGIN).clamp(20, MOST)
}

fn cut(message: &TraceMessage, look: Look, lines: &mut Vec<String>) {
    if !message.content.trim().is_empty() {
        let label = look.paint(tone(message), &format!("{:<9}", label(message)));
        lines.push(format!("  {label} {}", short(&message.content, most(look))));
    }
    for (name, arguments) in calls(message) {
        let room = most(look).saturating_sub(name.chars().count());
        let name = look.paint(Tone::Active, name);
        lines.push(format!("  call      {name}({})", short(arguments, room)));
    }
}

/// Who speaks, and whether it went wrong.
fn tone(message: &TraceMessage) -> Tone {
    match message.kind.as_str() {
        "tool_result" if message.content.starts_with("Error: ") => Tone::Bad,
        "tool_result" => Tone::Good,
        "nudge" | "feedback" => Tone::Warning,
        "reply" => Tone::Active,
        _ => Tone::Quiet,
    }
}

fn whole(message: &TraceMessage, look: Look, lines: &mut Vec<String>) {
    let answers = message.tool_call_id.as_deref().map(|id| format!(" to {id}")).unwrap_or_default();
    let heading = format!("  {} (message {}){answers}", label(message), message.seq);
    lines.push(look.paint(tone(message), &heading));
    lines.extend(message.content.lines().map(|line| format!("    {line}")));
    lines.extend(calls(message).map(|(name, arguments)| format!("    call {name}({arguments})")));
}

fn label(message: &TraceMessage) -> &str {
    match message.kind.as_str() {
        "tool_result" => "result",
        kind => kind,
    }
}

/// Name and arguments of each call; the arguments are JSON text already.
fn calls(message: &TraceMessage) -> impl Iterator<Item = (&str, &str)> {
    let calls = message.tool_calls.as_ref().and_then(Value::as_array).into_iter().flatten();
    calls.map(|call| {
        let part = |key: &str| call.get(key).and_then(Value::as_str).unwrap_or_default();
        (part("name"), part("arguments"))
    })
}

/// Effects by kind, in the order in which each kind first occurs.
fn effects(effects: &[TraceEffect], full: bool, look: Look, lines: &mut Vec<String>) {
    for group in effects.chunk_by(|one, next| one.kind == next.kind) {
        let named = if full { group.len() } else { NAMED.min(group.len()) };
        for effect in &group[..named] {
            let size = effect.size.filter(|size| *size > 0).map(|size| format!(" ({} bytes)", thousands(size)));
            let what = if full { effect.what.clone() } else { short(&effect.what, most(look)) };
            lines.push(format!("  {}: {what}{}", effect.kind, size.unwrap_or_default()));
        }
        if group.len() > named {
            lines.push(format!("  {}: {} more", group[0].kind, group.len() - named));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::render;
    use crate::terminal::Look;
    use plumbline_store::{TraceEffect, TraceMessage, TraceRequest, TraceStep};
    use serde_json::json;

    fn step() -> TraceStep {
        let message = |seq, role: &str, kind: &str, content: &str| TraceMessage {
            seq,
            role: role.into(),
            kind: kind.into(),
            content: content.into(),
            tool_calls: None,
            tool_call_id: None,
        };
        let call = json!([{"id": "c4_0", "name": "write_file", "arguments": "{\"path\":\"output/a.md\"}"}]);
        let effect = |kind: &str, what: String| TraceEffect { kind: kind.into(), what, size: None };
        TraceStep {
            step: 7,
            phase_number: 2,
            phase: Some("tactical".into()),
            phase_name: Some("Extraction".into()),
            created_at: "2026-11-21T09:00:00Z".parse().unwrap(),
            lease_epoch: 1,
            requests: vec![TraceRequest {
                model: "gpt-x".into(),
                purpose: "tactical".into(),
                prompt_tokens: 12_345,
                cached_tokens: 12_000,
                completion_tokens: 50,
                duration_ms: 900,
                attempt: 2,
                finish_reason: Some("length".into()),
                error: Some("status 503".into()),
                failure_class: Some("overloaded".into()),
                api: Some("chat".into()),
                endpoint: Some("https://api.example".into()),
                cache_write_tokens: 0,
                reasoning_tokens: 0,
                service_tier: None,
                fallback: true,
            }],
            messages: vec![
                TraceMessage { tool_calls: Some(call), ..message(4, "assistant", "reply", "") },
                message(5, "tool", "tool_result", &"long ".repeat(100)),
            ],
            effects: (1..=8).map(|n| effect("requirement", format!("req_{n}"))).collect(),
        }
    }

    #[test]
    fn a_step_in_a_row_of_steps_is_cut_to_lines() {
        let text = render(&step(), false, Look::plain(120));
        assert!(text.starts_with("step 7 · 2026-11-21 09:00:00 UTC · phase 2 (tactical): Extraction\n"), "{text}");
        assert!(
            text.contains("12,345 tokens in (12,000 cached), 50 out, 900 ms, length, fallback, attempt 2, failed:"),
            "{text}"
        );
        assert!(text.contains("  call      write_file({\"path\":\"output/a.md\"})\n"), "{text}");
        assert!(text.contains("  requirement: 2 more\n"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
    }

    #[test]
    fn a_step_by_itself_is_whole() {
        let text = render(&step(), true, Look::plain(120));
        assert!(text.contains(&"long ".repeat(99)), "{text}");
        assert!(text.contains("requirement: req_8") && !text.contains("more"), "{text}");
    }
}
