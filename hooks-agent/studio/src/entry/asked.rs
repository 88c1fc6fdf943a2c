//! The whole request of an attempt, written as its difference to the one before it in the run.

use std::sync::Arc;

use hooks_agent_core::message::{Messages, Msg};
use hooks_agent_core::model::{ChatRequest, ModelOptions, ToolSpec};
use serde::{Deserialize, Serialize};

use crate::entry::content::Content;
use crate::entry::sizes;

/// What a model is asked.
// {"attempt":1,"messages":[[0,3],{..}],"tools":[..],"options":{..}}: the first three messages are those of the request
// before it, and so are tools and options that are left out.
#[derive(Serialize)]
pub(crate) struct Asked<'a> {
    attempt: u32,
    messages: Vec<Piece<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<&'a [ToolSpec]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    options: Option<&'a ModelOptions>,
    #[serde(skip)]
    count: usize,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Piece<'a> {
    /// From this message of the request before it to before that one.
    Range(usize, usize),
    Own(&'a Msg),
}

/// A request without its content.
#[derive(Serialize)]
pub(crate) struct AskedSizes {
    hidden: bool,
    attempt: u32,
    messages: usize,
}

impl<'a> Asked<'a> {
    pub(crate) fn of(
        attempt: u32,
        request: &'a ChatRequest,
        before: Option<&'a ChatRequest>,
    ) -> Self {
        let known: &[_] =
            &before.map(|it| it.messages.shared().collect::<Vec<_>>()).unwrap_or_default();
        let mut messages = Vec::new();
        for msg in request.messages.shared() {
            let is_same = |known: &&Arc<Msg>| Arc::ptr_eq(known, msg) || *known == msg;
            if let Some(Piece::Range(_, end)) = messages.last_mut()
                && known.get(*end).is_some_and(is_same)
            {
                *end += 1;
            } else if let Some(start) = known.iter().position(|it| is_same(it)) {
                messages.push(Piece::Range(start, start + 1));
            } else {
                messages.push(Piece::Own(msg));
            }
        }
        let is_new = |is_same: fn(&ChatRequest, &ChatRequest) -> bool| {
            before.is_none_or(|before| !is_same(before, request))
        };
        let tools = is_new(|one, other| one.tools == other.tools).then_some(&*request.tools);
        let options =
            is_new(|one, other| one.options == other.options).then_some(&*request.options);
        Self { attempt, messages, tools, options, count: request.messages.len() }
    }
}

impl Content for Asked<'_> {
    type Sizes = AskedSizes;

    fn sizes(&self) -> AskedSizes {
        AskedSizes { hidden: true, attempt: self.attempt, messages: self.count }
    }

    fn bytes(&self) -> usize {
        let own = self.messages.iter().map(|piece| match piece {
            Piece::Range(..) => 16,
            Piece::Own(msg) => sizes::message(msg),
        });
        let of_tool = |tool: &ToolSpec| {
            tool.name.len() + tool.description.len() + sizes::value(&tool.schema) + 64
        };
        own.sum::<usize>() + self.tools.iter().copied().flatten().map(of_tool).sum::<usize>()
    }
}

/// A request as it was written.
#[cfg(feature = "tape")]
#[derive(Deserialize)]
pub(crate) struct WrittenRequest {
    messages: Vec<WrittenPiece>,
    tools: Option<Vec<ToolSpec>>,
    options: Option<ModelOptions>,
}

#[cfg(feature = "tape")]
#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenPiece {
    Range(usize, usize),
    Own(Arc<Msg>),
}

#[cfg(feature = "tape")]
impl WrittenRequest {
    /// Returns the request, after the one before it in the run. Nothing if that is another one.
    pub(crate) fn after(self, before: &ChatRequest) -> Option<ChatRequest> {
        let known: Vec<_> = before.messages.shared().cloned().collect();
        let mut messages = Messages::new();
        for piece in self.messages {
            match piece {
                WrittenPiece::Range(start, end) => {
                    messages.extend(known.get(start..end)?.iter().cloned());
                }
                WrittenPiece::Own(msg) => messages.extend([msg]),
            }
        }
        let tools = self.tools.map_or_else(|| before.tools.clone(), Into::into);
        let options = self.options.map_or_else(|| before.options.clone(), Arc::new);
        Some(ChatRequest::new(messages).tools(tools).options(options))
    }
}
