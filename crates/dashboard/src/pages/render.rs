//! Renders pages. The templates' names end in `.html`, so all values are escaped.

use super::assets;
use crate::pages::{error::PageError, template_filters};
use axum::{http::StatusCode, response::Html};
use minijinja::{Environment, UndefinedBehavior, Value, value::Serde};
use plumbline_report::environment;
use serde::Serialize;

const TEMPLATES: [(&str, &str); 11] = [
    ("base.html", include_str!("templates/base.html")),
    ("macros.html", include_str!("templates/macros.html")),
    ("job.html", include_str!("templates/job.html")),
    ("list.html", include_str!("templates/list.html")),
    ("overview.html", include_str!("templates/overview.html")),
    ("timeline.html", include_str!("templates/timeline.html")),
    ("plan.html", include_str!("templates/plan.html")),
    ("files.html", include_str!("templates/files.html")),
    ("file.html", include_str!("templates/file.html")),
    ("requirements.html", include_str!("templates/requirements.html")),
    ("requirement.html", include_str!("templates/requirement.html")),
];

/// The compiled templates.
pub(crate) struct Renderer {
    environment: Environment<'static>,
}

impl Renderer {
    pub(crate) fn new() -> Self {
        let mut environment = environment(&TEMPLATES, UndefinedBehavior::SemiStrict);
        template_filters::register(&mut environment);
        environment.add_global("asset_version", assets::version());
        environment.add_global("release", env!("CARGO_PKG_VERSION"));
        Self { environment }
    }

    /// A page.
    pub(crate) fn page(&self, template: &str, values: impl Serialize) -> Result<Html<String>, PageError> {
        let rendered =
            self.environment.get_template(template).and_then(|template| template.render(Value::from(Serde(values))));
        rendered.map(|page| Html(without_obeyed(page))).map_err(|error| {
            tracing::error!(template, error = %format!("{error:#}"), "could not render a page");
            let sentence = "this page could not be rendered; please report it with the worker's log".into();
            PageError { status: StatusCode::INTERNAL_SERVER_ERROR, sentence }
        })
    }
}

/// The page without characters that a reader's program obeys and does not show, each replaced by `\u{fffd}`: control
/// characters, and those that turn the direction of the text behind them, so that a name looks like another one. A
/// terminal obeys more than a browser, which also shows documents: marks of direction and spaces without width stay.
fn without_obeyed(page: String) -> String {
    let is_obeyed = |character: char| {
        (character.is_control() && !character.is_whitespace())
            || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if page.contains(is_obeyed) { page.replace(is_obeyed, "\u{fffd}") } else { page }
}
