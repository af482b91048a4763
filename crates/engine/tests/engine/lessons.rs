//! One test per production incident, named after the lesson that it guards. Lessons that a module of its own guards
//! (paths, placeholders, YAML) have their tests there.

mod agent_loop;
mod boundaries;
mod providers;
mod remaining;
