//! The public interface: commands, tables, files, tools, and a job from end to end.

mod bad_input;
mod commands;
mod documents;
mod end_to_end;
mod enqueueing;
mod example;
mod init;
mod places;
mod promised_commands;
mod sql;
mod terminal;
mod tools;
