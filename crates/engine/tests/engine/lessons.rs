//! One test per production incident, named after the lesson that it guards. Lessons guarded by a separate module
//! (paths, placeholders, YAML) have their tests there.

mod agent_loop;
mod boundaries;
mod providers;
mod remaining;
