//! The templates. Their names end in `.html`, so all values are escaped.

use crate::templates::environment;
use minijinja::{Environment, UndefinedBehavior, Value, value::Serde};
use serde::Serialize;
use std::sync::LazyLock;

const TEMPLATES: [(&str, &str); 6] = [
    ("card.html", include_str!("templates/card.html")),
    ("document.html", include_str!("templates/document.html")),
    ("foot.html", include_str!("templates/foot.html")),
    ("head.html", include_str!("templates/head.html")),
    ("left_out.html", include_str!("templates/left_out.html")),
    ("page.html", include_str!("templates/page.html")),
];

static TEMPLATE: LazyLock<Environment<'static>> = LazyLock::new(|| environment(&TEMPLATES, UndefinedBehavior::Strict));

/// Renders a template with values of our own types, which cannot fail.
pub(crate) fn render(template: &str, values: impl Serialize) -> String {
    let template = TEMPLATE.get_template(template).expect("a built-in template");
    template.render(Value::from(Serde(values))).expect("a built-in template takes the values made for it")
}
