//! Formats of numbers, times and sizes on pages.

use chrono::{DateTime, Utc};
use minijinja::{Environment, Error, ErrorKind, HtmlEscape, Value};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What a link's query has encoded.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b'/');

/// Adds the filters to an environment.
pub(crate) fn register(environment: &mut Environment<'_>) {
    environment.add_filter("num", num);
    environment.add_filter("compact", compact);
    environment.add_filter("usd", usd);
    environment.add_filter("of_budget", plumbline_store::cost_of_budget);
    environment.add_filter("size", size);
    environment.add_filter("span", |ms: f64| span(ms / 1000.0));
    environment.add_filter("time", time);
    environment.add_filter("short_id", |id: &str| id.get(id.len().saturating_sub(8)..).unwrap_or(id).to_owned());
    environment.add_filter("query", |text: &str| percent_encode(text));
    environment.add_filter("text", as_text);
    environment.add_filter("cut", cut);
}

/// `12 345`, with a non-breaking space.
fn num(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3 + 1);
    if number < 0 {
        out.push('−');
    }
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

/// `12.3 k`, for counts that need no last digit.
fn compact(number: f64) -> String {
    match number.abs() {
        n if n < 10_000.0 => num(number as i64),
        n if n < 1_000_000.0 => format!("{:.1}\u{202f}k", number / 1e3),
        n if n < 1_000_000_000.0 => format!("{:.1}\u{202f}M", number / 1e6),
        _ => format!("{:.1}\u{202f}G", number / 1e9),
    }
}

/// Two decimals, or as many as a small amount needs to be seen.
pub(crate) fn usd(amount: f64) -> String {
    match amount {
        0.0 => "$0".into(),
        a if a < 0.01 => format!("${a:.4}"),
        a if a < 1.0 => format!("${a:.3}"),
        a => format!("${a:.2}"),
    }
}

/// `1.5 MiB`.
fn size(bytes: f64) -> String {
    match bytes {
        b if b < 1024.0 => format!("{b:.0}\u{202f}B"),
        b if b < 1_048_576.0 => format!("{:.1}\u{202f}KiB", b / 1024.0),
        b => format!("{:.1}\u{202f}MiB", b / 1_048_576.0),
    }
}

/// A duration in its two largest units.
pub(crate) fn span(seconds: f64) -> String {
    let whole = seconds.max(0.0) as u64;
    match whole {
        0 if seconds < 0.9995 => format!("{:.0}\u{202f}ms", seconds.max(0.0) * 1000.0),
        0..60 => format!("{seconds:.1}\u{202f}s"),
        60..3600 => format!("{}\u{202f}min {}\u{202f}s", whole / 60, whole % 60),
        3600..86_400 => format!("{}\u{202f}h {}\u{202f}min", whole / 3600, whole % 3600 / 60),
        _ => format!("{}\u{202f}d {}\u{202f}h", whole / 86_400, whole % 86_400 / 3600),
    }
}

/// A `<time>` element: the time for machines and on hover, the age for people.
fn time(moment: &str) -> Result<Value, Error> {
    let parsed: DateTime<Utc> = moment
        .parse()
        .map_err(|error| Error::new(ErrorKind::InvalidOperation, format!("`{moment}` is not a time: {error}")))?;
    let ago = (Utc::now() - parsed).num_seconds();
    let words = match ago {
        i64::MIN..0 => format!("in {}", coarse(-ago)),
        0..5 => "just now".into(),
        _ => format!("{} ago", coarse(ago)),
    };
    let (machine, exact) = (parsed.format("%Y-%m-%dT%H:%M:%SZ"), parsed.format("%Y-%m-%d %H:%M:%S UTC"));
    Ok(Value::from_safe_string(format!("<time datetime=\"{machine}\" title=\"{exact}\">{}</time>", HtmlEscape(&words))))
}

/// A duration in one unit.
fn coarse(seconds: i64) -> String {
    match seconds {
        0..60 => format!("{seconds}\u{202f}s"),
        60..3600 => format!("{}\u{202f}min", seconds / 60),
        3600..172_800 => format!("{}\u{202f}h", seconds / 3600),
        _ => format!("{}\u{202f}d", seconds / 86_400),
    }
}

/// A text for the query part of a link.
pub(crate) fn percent_encode(text: &str) -> String {
    utf8_percent_encode(text, QUERY).to_string()
}

/// The first characters, on one line.
fn cut(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        None => line,
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
    }
}

/// A JSON value as people read it: a string without its quotation marks.
fn as_text(value: &Value) -> String {
    if value.is_none() || value.is_undefined() { String::new() } else { value.to_string() }
}

#[cfg(test)]
mod tests {
    use super::{compact, num, percent_encode, size, span, time, usd};

    #[test]
    fn numbers_read_well() {
        let texts = [
            num(-1_234_567),
            num(999),
            compact(9_999.0),
            compact(12_345.0),
            compact(2_500_000.0),
            usd(0.0),
            usd(0.0042),
            usd(0.123_4),
            usd(12.345),
            size(512.0),
            size(1536.0),
            size(3_145_728.0),
            span(0.25),
            span(12.34),
            span(125.0),
            span(7300.0),
            span(180_000.0),
            percent_encode("input/a b&c.md"),
        ];
        let texts: Vec<String> = texts.iter().map(|text| text.replace('\u{202f}', " ")).collect();
        assert_eq!(
            texts,
            [
                "−1 234 567",
                "999",
                "9 999",
                "12.3 k",
                "2.5 M",
                "$0",
                "$0.0042",
                "$0.123",
                "$12.35",
                "512 B",
                "1.5 KiB",
                "3.0 MiB",
                "250 ms",
                "12.3 s",
                "2 min 5 s",
                "2 h 1 min",
                "2 d 2 h",
                "input/a%20b%26c.md",
            ]
        );
        let earlier = (chrono::Utc::now() - chrono::Duration::minutes(3)).to_rfc3339();
        let shown = time(&earlier).expect("a time").to_string();
        assert!(shown.contains("3\u{202f}min ago") && shown.starts_with("<time datetime=\""), "{shown}");
        assert!(time("<b>").is_err());
    }
}
