//! The data of entries, whole or as names and sizes.

use hooks_agent_core::message::{ContentBlock, Msg, PendingCall, ToolResult, ToolUse};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::entry::asked::Asked;
use crate::entry::attempt::Attempt;
use crate::entry::content::{Content, Input, Progress, Request, block_sizes};
use crate::entry::ended::Ended;
use crate::entry::failure::Failure;
use crate::entry::hook_run::HookRun;
use crate::entry::packed::{Packed, pack};

/// The data of an entry, to be written.
pub(crate) enum Data<'a> {
    Nothing,
    Input(Shown<'a, Input<'a>>),
    Request(Shown<'a, Request<'a>>),
    Asked(Shown<'a, Asked<'a>>),
    Block(Shown<'a, ContentBlock>),
    Message(Shown<'a, Msg>),
    Call(Shown<'a, ToolUse>),
    Progress(Shown<'a, Progress<'a>>),
    Result(Shown<'a, ToolResult>),
    Pending(Shown<'a, PendingCall>),
    HookRun(&'a HookRun),
    Attempt(&'a Attempt),
    Failure(&'a Failure),
    Ended(&'a Ended),
    Plain(&'a Value),
}

/// Content, or its names and sizes alone: what is not shown is not kept.
pub(crate) enum Shown<'a, T: Content> {
    Whole(&'a T),
    Sizes(T::Sizes),
}

impl<'a, T: Content> Shown<'a, T> {
    /// Shows content of at most so many bytes; nothing of it without them.
    pub(crate) fn up_to(most: Option<usize>, content: &'a T) -> Self {
        match most {
            Some(most) if content.bytes() <= most => Self::Whole(content),
            _ => Self::Sizes(content.sizes()),
        }
    }
}

impl<T: Content> Serialize for Shown<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Whole(content) => content.serialize(serializer),
            Self::Sizes(sizes) => sizes.serialize(serializer),
        }
    }
}

impl Data<'_> {
    /// Packs it; nothing if there is none. What cannot be packed, or has more than so many bytes, is hidden.
    pub(crate) fn pack(&self, most: usize, into: &mut Vec<u8>) {
        if matches!(self, Self::Nothing) {
            return;
        }
        let start = into.len();
        if pack(self, into).is_err() || into.len() - start > most {
            into.truncate(start);
            pack_hidden(into);
        }
    }
}

/// Packs the chunk of an answer without its text; without all of it, if it cannot be read.
pub(crate) fn pack_without_text(chunk: Packed<'_>, into: &mut Vec<u8>) {
    let block = chunk.read::<ContentBlock>();
    if block.is_none_or(|block| pack(&block_sizes(&block), into).is_err()) {
        pack_hidden(into);
    }
}

/// Packs that there is content which is not kept.
pub(crate) fn pack_hidden(into: &mut Vec<u8>) {
    #[derive(Serialize)]
    struct Hidden {
        hidden: bool,
    }
    // One that is true can be packed.
    let _ = pack(&Hidden { hidden: true }, into);
}

impl Serialize for Data<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Nothing => serializer.serialize_none(),
            Self::Input(shown) => shown.serialize(serializer),
            Self::Request(shown) => shown.serialize(serializer),
            Self::Asked(shown) => shown.serialize(serializer),
            Self::Block(shown) => shown.serialize(serializer),
            Self::Message(shown) => shown.serialize(serializer),
            Self::Call(shown) => shown.serialize(serializer),
            Self::Progress(shown) => shown.serialize(serializer),
            Self::Result(shown) => shown.serialize(serializer),
            Self::Pending(shown) => shown.serialize(serializer),
            Self::HookRun(run) => run.serialize(serializer),
            Self::Attempt(attempt) => attempt.serialize(serializer),
            Self::Failure(failure) => failure.serialize(serializer),
            Self::Ended(ended) => ended.serialize(serializer),
            Self::Plain(value) => value.serialize(serializer),
        }
    }
}
