//! Entries: what happened in a run, as it is written, and its JSON.

mod asked;
mod attempt;
mod content;
mod data;
mod ended;
mod failure;
mod head;
mod hook_run;
mod packed;
mod record;
mod sizes;

pub(super) use asked::Asked;
#[cfg(feature = "tape")]
pub(super) use asked::WrittenRequest;
pub(super) use attempt::Attempt;
pub(super) use content::{Input, Progress, Request, json_chars};
pub(super) use data::{Data, Shown, pack_hidden, pack_without_text};
pub(super) use ended::Ended;
pub(super) use failure::Failure;
pub(super) use head::RunHead;
pub(super) use hook_run::{Change, HookRun};
pub(super) use packed::{FromJson, Packed, pack};
pub(super) use record::Label;
