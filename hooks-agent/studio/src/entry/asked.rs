//! The whole request of an attempt, written as its difference to the one before it in the run.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use hooks_agent_core::message::{ContentBlock, Msg, Role};
use hooks_agent_core::model::{ChatRequest, ModelOptions, ToolSpec};
use serde::Serialize;

use crate::entry::content::Content;
use crate::entry::sizes;

/// What a model is asked.
// {"number":2,"since":1,"attempt":1,"messages":[[0,3],{..}],"tools":[..],"options":{..}}: the first three messages are
// those of request 1, and so are tools and options that are left out.
#[derive(Serialize)]
pub(crate) struct Asked<'a> {
    /// Its number in the run.
    number: u64,
    /// That of the request that it is the difference to.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<u64>,
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
    Own(Sent<'a>),
}

/// What a model gets of a message.
#[derive(Serialize)]
struct Sent<'a> {
    role: Role,
    name: &'a str,
    content: Vec<Cow<'a, ContentBlock>>,
}

/// A request without its content.
#[derive(Serialize)]
pub(crate) struct AskedSizes {
    hidden: bool,
    number: u64,
    attempt: u32,
    messages: usize,
}

impl<'a> Asked<'a> {
    /// Takes the number of the request in the run, and that of the attempt in its round.
    pub(crate) fn of(
        (number, attempt): (u64, u32),
        request: &'a ChatRequest,
        before: Option<&'a ChatRequest>,
    ) -> Self {
        let known: Vec<_> = before.iter().flat_map(|it| it.messages.shared()).collect();
        let places = || known.iter().enumerate().map(|(at, msg)| (Arc::as_ptr(msg), at));
        let places: HashMap<_, _> = places().collect();
        let mut messages = Vec::new();
        for (at, msg) in request.messages.shared().enumerate() {
            let is_at =
                |at: usize| known.get(at).is_some_and(|it| Arc::ptr_eq(it, msg) || *it == msg);
            if let Some(Piece::Range(_, end)) = messages.last_mut()
                && is_at(*end)
            {
                *end += 1;
            } else if let Some(start) =
                places.get(&Arc::as_ptr(msg)).copied().or(is_at(at).then_some(at))
            {
                messages.push(Piece::Range(start, start + 1));
            } else {
                messages.push(Piece::Own(Sent::of(msg)));
            }
        }
        let is_new = |is_same: fn(&ChatRequest, &ChatRequest) -> bool| {
            before.is_none_or(|before| !is_same(before, request))
        };
        let tools = is_new(|one, other| one.tools == other.tools).then_some(&*request.tools);
        let options =
            is_new(|one, other| one.options == other.options).then_some(&*request.options);
        let since = before.map(|_| number - 1);
        Self { number, since, attempt, messages, tools, options, count: request.messages.len() }
    }
}

impl<'a> Sent<'a> {
    fn of(msg: &'a Msg) -> Self {
        let content = msg.content.iter().map(|block| match block {
            // What ran may be what a vault put back.
            ContentBlock::ToolResult(result) if result.ran.is_some() => {
                let mut result = result.clone();
                result.ran = None;
                Cow::Owned(ContentBlock::ToolResult(result))
            }
            block => Cow::Borrowed(block),
        });
        Self { role: msg.role, name: &msg.name, content: content.collect() }
    }

    fn bytes(&self) -> usize {
        self.name.len() + self.content.iter().map(|block| sizes::block(block)).sum::<usize>()
    }
}

impl Content for Asked<'_> {
    type Sizes = AskedSizes;

    fn sizes(&self) -> AskedSizes {
        let Self { number, attempt, count, .. } = *self;
        AskedSizes { hidden: true, number, attempt, messages: count }
    }

    fn bytes(&self) -> usize {
        let own = self.messages.iter().map(|piece| match piece {
            Piece::Range(..) => 16,
            Piece::Own(sent) => sent.bytes(),
        });
        let of_tool = |tool: &ToolSpec| {
            tool.name.len() + tool.description.len() + sizes::value(&tool.schema) + 64
        };
        let tools = self.tools.iter().copied().flatten().map(of_tool);
        let options = self.options.map_or(0, |it| serde_json::to_vec(it).map_or(0, |it| it.len()));
        own.sum::<usize>() + tools.sum::<usize>() + options
    }
}

#[cfg(feature = "tape")]
pub(crate) use written::WrittenRequest;

#[cfg(feature = "tape")]
mod written {
    use std::sync::Arc;

    use hooks_agent_core::message::{Messages, Msg};
    use hooks_agent_core::model::{ChatRequest, ModelOptions, ToolSpec};
    use serde::Deserialize;

    /// A request as it was written.
    #[derive(Deserialize)]
    pub(crate) struct WrittenRequest {
        pub(crate) number: u64,
        since: Option<u64>,
        messages: Vec<WrittenPiece>,
        tools: Option<Vec<ToolSpec>>,
        options: Option<ModelOptions>,
    }

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum WrittenPiece {
        Range(usize, usize),
        Own(Arc<Msg>),
    }

    impl WrittenRequest {
        /// Returns the request, after the one of this number in the run. Nothing if it is the difference to another one.
        pub(crate) fn after(self, (number, before): (u64, &ChatRequest)) -> Option<ChatRequest> {
            if self.since.is_some_and(|since| since != number) {
                return None;
            }
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
}
