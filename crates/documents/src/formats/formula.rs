//! Formulas as text on one line: `t=200`, `(a+b)/c`, `x^2`. MathML, used by web pages and OpenDocument, and Word's own
//! markup have different names and the same structure.

use plumbline_engine::one_line;

/// Elements outside the formula: alternative forms, and its layout.
const BESIDE: [&str; 3] = ["annotation", "annotation-xml", "maction-type"];

/// A formula that is being read, element by element.
#[derive(Default)]
pub(crate) struct Formula {
    open: Vec<Part>,
}

/// An element and its content so far.
#[derive(Default)]
struct Part {
    name: String,
    parts: Vec<String>,
    /// Characters defined by its properties, such as the sign of a sum, or brackets.
    signs: Vec<(String, String)>,
}

impl Formula {
    /// Begins an element, by its name without prefix; `value`: its attribute `val`.
    pub(crate) fn begin(&mut self, name: &str, value: Option<String>) {
        if let (Some(value), Some(properties)) = (value, self.open.last_mut()) {
            properties.signs.push((name.to_owned(), value));
        }
        self.open.push(Part { name: name.to_owned(), ..Part::default() });
    }

    /// Words of the present element.
    pub(crate) fn text(&mut self, text: &str) {
        let text = one_line(text);
        // Invisible operators: apply, times, separate, add.
        let text = text.replace(['\u{2061}', '\u{2062}', '\u{2063}', '\u{2064}'], "");
        if let Some(part) = self.open.last_mut().filter(|_| !text.is_empty()) {
            part.parts.push(text);
        }
    }

    /// The present element ends; its text, where it is the outermost.
    pub(crate) fn end(&mut self) -> Option<String> {
        let part = self.open.pop()?;
        let Some(around) = self.open.last_mut() else { return Some(part.written()) };
        match part.name.as_str() {
            name if name.ends_with("Pr") => around.signs.extend(part.signs),
            name if BESIDE.contains(&name) => {}
            // An empty element keeps its position among the others, such as the degree of a square root.
            _ => around.parts.push(part.written()),
        }
        None
    }
}

impl Part {
    fn written(&self) -> String {
        let at = |index: usize| self.parts.get(index).map_or("", String::as_str);
        let sign = |name: &str, usual: &str| {
            self.signs.iter().find(|(known, _)| known == name).map_or(usual.to_owned(), |(_, sign)| sign.clone())
        };
        match (self.name.as_str(), self.parts.len()) {
            ("mfrac" | "f", 2) => format!("{}/{}", grouped(at(0)), grouped(at(1))),
            ("msup" | "sSup", 2) => format!("{}^{}", grouped(at(0)), grouped(at(1))),
            ("msub" | "sSub", 2) => format!("{}_{}", at(0), grouped(at(1))),
            ("msubsup" | "sSubSup", 3) => format!("{}_{}^{}", at(0), grouped(at(1)), grouped(at(2))),
            ("msqrt", _) => format!("\u{221a}({})", self.parts.concat()),
            ("mroot", 2) | ("rad", 2) => {
                let (degree, inner) = if self.name == "rad" { (at(0), at(1)) } else { (at(1), at(0)) };
                format!("{degree}\u{221a}({inner})")
            }
            ("nary", 3) => {
                let bound = |mark: &str, text: &str| {
                    if text.is_empty() { String::new() } else { format!("{mark}{}", grouped(text)) }
                };
                format!("{}{}{} {}", sign("chr", "\u{222b}"), bound("_", at(0)), bound("^", at(1)), at(2))
            }
            ("d", _) => {
                format!("{}{}{}", sign("begChr", "("), self.parts.join(&sign("sepChr", "|")), sign("endChr", ")"))
            }
            ("mfenced", _) => format!("({})", self.parts.join(", ")),
            ("mr" | "mtr", _) => self.parts.join(", "),
            ("m" | "mtable", _) => self.parts.join("; "),
            ("munder" | "limLow", 2) => format!("{}_{}", at(0), grouped(at(1))),
            ("mover" | "limUpp", 2) => format!("{}^{}", at(0), grouped(at(1))),
            ("munderover", 3) => format!("{}_{}^{}", at(0), grouped(at(1)), grouped(at(2))),
            ("mtext" | "mspace", _) => format!(" {} ", self.parts.join(" ")),
            _ => self.parts.concat(),
        }
    }
}

/// In brackets if it is more than a number or a name.
fn grouped(text: &str) -> String {
    let whole = text.trim();
    match whole.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | ',')) {
        true => whole.to_owned(),
        false => format!("({whole})"),
    }
}

#[cfg(test)]
mod tests {
    use super::Formula;
    use crate::formats::xml;
    use quick_xml::events::Event;

    fn read(markup: &str) -> String {
        let mut reader = xml::reader(markup);
        let mut formula = Formula::default();
        loop {
            match reader.read_event().expect("it is XML") {
                Event::Start(start) => formula.begin(start.local_name().as_ref(), xml::attribute(&start, "val")),
                Event::Text(text) => formula.text(&text.xml10_content()),
                Event::End(_) => {
                    if let Some(text) = formula.end() {
                        return text;
                    }
                }
                _ => {}
            }
        }
    }

    #[test]
    fn formulas_read_on_one_line() {
        for (markup, text) in [
            ("<math><mi>t</mi><mo>=</mo><mn>200</mn></math>", "t=200"),
            ("<math><semantics><mrow><mi>x</mi></mrow><annotation>x {}</annotation></semantics></math>", "x"),
            ("<math><mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac></math>", "(a+b)/2"),
            (
                "<math><msup><mi>m</mi><mn>2</mn></msup><mo>&#x2062;</mo><msqrt><mi>y</mi></msqrt></math>",
                "m^2\u{221a}(y)",
            ),
            ("<m:oMath><m:r><m:rPr><m:sty m:val=\"p\"/></m:rPr><m:t>t=200</m:t></m:r></m:oMath>", "t=200"),
            (
                "<m:oMath><m:f><m:fPr><m:type m:val=\"bar\"/></m:fPr><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den></m:f></m:oMath>",
                "a/b",
            ),
            (
                "<m:oMath><m:nary><m:naryPr><m:chr m:val=\"\u{2211}\"/></m:naryPr><m:sub><m:r><m:t>i=1</m:t></m:r></m:sub><m:sup/><m:e><m:r><m:t>x</m:t></m:r></m:e></m:nary></m:oMath>",
                "\u{2211}_(i=1) x",
            ),
            (
                "<m:oMath><m:rad><m:deg/><m:e><m:d><m:e><m:r><m:t>x</m:t></m:r></m:e></m:d></m:e></m:rad></m:oMath>",
                "\u{221a}((x))",
            ),
        ] {
            assert_eq!(read(markup), text, "{markup}");
        }
    }
}
