//! Canonical JSON by RFC 8785, for digests; and the numbers without such a form, because a double cannot represent
//! them.

use serde_json::Value;

/// A value in the form of RFC 8785: keys in the order of their UTF-16 units, numbers as in ECMAScript, no white space.
pub fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
            text.push('{');
            for (place, (key, member)) in members.into_iter().enumerate() {
                text.push_str(if place > 0 { "," } else { "" });
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write(member, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (place, item) in items.iter().enumerate() {
                text.push_str(if place > 0 { "," } else { "" });
                write(item, text);
            }
            text.push(']');
        }
        Value::Number(number) => text.push_str(&as_ecmascript(number.as_f64().unwrap_or_default())),
        // Escapes and literals match the RFC.
        Value::String(_) | Value::Bool(_) | Value::Null => text.push_str(&value.to_string()),
    }
}

/// A number in the form of ECMAScript's `Number::toString`.
fn as_ecmascript(number: f64) -> String {
    if number == 0.0 {
        return "0".into();
    }
    // Of two shortest forms at equal distance this takes the even one, as the RFC requires; the standard library does
    // not.
    let (digits, power) = decimal(&Value::from(number).to_string());
    let sign = if number < 0.0 { "-" } else { "" };
    let count = digits.len() as i64;
    let point = count + power;
    let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or_default());
    match point {
        _ if count <= point && point <= 21 => format!("{sign}{digits}{}", zeros(point - count)),
        1..=21 => {
            let (whole, part) = digits.split_at(point as usize);
            format!("{sign}{whole}.{part}")
        }
        -5..=0 => format!("{sign}0.{}{digits}", zeros(-point)),
        _ => {
            let (first, rest) = digits.split_at(1);
            let rest = if rest.is_empty() { String::new() } else { format!(".{rest}") };
            format!("{sign}{first}{rest}e{:+}", point - 1)
        }
    }
}

/// The first number of a JSON text that a double cannot represent: its decimal digits are neither those of the nearest
/// double nor the shortest that identify it.
pub fn inexact_number(json: &str) -> Option<&str> {
    let (mut rest, mut in_text) = (json, false);
    while let Some(first) = rest.chars().next() {
        let mut length = first.len_utf8();
        match first {
            '\\' if in_text => length += rest[1..].chars().next().map_or(0, char::len_utf8),
            '"' => in_text = !in_text,
            '-' | '0'..='9' if !in_text => {
                let is_part = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
                length = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
                if !is_held(&rest[..length]) {
                    return Some(&rest[..length]);
                }
            }
            _ => {}
        }
        rest = &rest[length..];
    }
    None
}

fn is_held(number: &str) -> bool {
    // The double that a reader of the JSON gets.
    let Some(double) = serde_json::from_str::<f64>(number).ok().filter(|double| double.is_finite()) else {
        return false;
    };
    let wanted = decimal(number);
    wanted == decimal(&format!("{double:e}")) || (double.fract() == 0.0 && wanted == decimal(&format!("{double:.0}")))
}

/// The digits of a number without zeros around them, and the power of ten by which they are multiplied.
fn decimal(number: &str) -> (String, i64) {
    let number = number.trim_start_matches('-');
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{part}");
    let significant = digits.trim_end_matches('0');
    let exponent = exponent.parse::<i64>().unwrap_or(i64::MAX / 2);
    let power = exponent - part.len() as i64 + (digits.len() - significant.len()) as i64;
    let significant = significant.trim_start_matches('0');
    if significant.is_empty() { (String::new(), 0) } else { (significant.into(), power) }
}

#[cfg(test)]
mod tests {
    use super::{as_ecmascript, canonical, inexact_number};
    use serde_json::{Value, from_str};

    /// RFC 8785, appendix B.
    const NUMBERS: [(u64, &str); 27] = [
        (0x0000_0000_0000_0000, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
        (0x3ff0_0000_0000_0000, "1"),
        (0x4024_0000_0000_0000, "10"),
        (0x3f50_624d_d2f1_a9fc, "0.001"),
    ];

    #[test]
    fn numbers_are_those_of_the_rfc() {
        for (bits, written) in NUMBERS {
            assert_eq!(as_ecmascript(f64::from_bits(bits)), written, "{bits:x}");
        }
    }

    #[test]
    fn values_are_those_of_the_rfc() {
        let given = r#"{"numbers": [333333333.3333333, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
            "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}"#;
        let written = r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#;
        assert_eq!(canonical(&from_str::<Value>(given).unwrap()), written);
        let keys = r#"{"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\ud83d\ude00": 5, "\u0080": 6, "\u00f6": 7}"#;
        let sorted = "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\u{fb33}\":3}";
        assert_eq!(canonical(&from_str::<Value>(keys).unwrap()), sorted);
    }

    #[test]
    fn a_number_is_held_by_a_double_or_named() {
        let held =
            ["0", "-0.0", "0.1", "1.50e3", "9007199254740992", "9007199254740994", "1180591620717411303424", "5e-324"];
        for number in held {
            assert_eq!(inexact_number(&format!(r#"{{"a\"1": [{number}]}}"#)), None, "{number}");
        }
        for number in ["9007199254740993", "-9007199254740993", "0.1234567890123456789", "1e400", "1e-400"] {
            assert_eq!(inexact_number(&format!(r#"{{"a": "1e400 \\", "b": {number}}}"#)), Some(number));
        }
    }
}
