//! HTML templates. Their names end in `.html`, so all values are escaped.

use minijinja::{Environment, UndefinedBehavior, syntax::SyntaxConfig};

/// An environment with these templates, by name and text.
pub fn environment(templates: &[(&'static str, &'static str)], undefined: UndefinedBehavior) -> Environment<'static> {
    let mut environment = Environment::new();
    // A failing template's values are a job's content, and must not be logged.
    environment.set_debug(false);
    environment.set_undefined_behavior(undefined);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.expect("a built-in syntax: the delimiters are the usual ones"));
    for (name, source) in templates {
        environment.add_template(name, source).expect("a built-in template: a test renders them all");
    }
    environment
}
