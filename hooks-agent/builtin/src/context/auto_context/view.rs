//! A view of a conversation for the model, with results shortened until the request fits.

use crate::context::auto_context::offload::{TOOL, offloaded, trimmed};
use hooks_agent_core::message::{ContentBlock, Messages, Msg, ToolResult};
use hooks_agent_core::model::TokenCounter;

/// How results are shortened.
#[derive(Clone, Debug)]
pub(super) struct Shortening {
    pub(super) counter: TokenCounter,
    /// Results above these tokens are offloaded.
    pub(super) large: u64,
    /// How many characters of an offloaded result stay.
    pub(super) head: usize,
    /// How many messages at the end are shortened last.
    pub(super) keep: usize,
}

/// What is sent to the model of a conversation, and what it costs.
pub(super) struct View<'a> {
    how: &'a Shortening,
    whole: Messages,
    pub(super) messages: Messages,
    /// The tokens of each message.
    pub(super) costs: Vec<u64>,
    /// The tokens of the request.
    pub(super) total: u64,
    budget: u64,
}

impl<'a> View<'a> {
    /// Looks at a conversation, which is sent with `fixed` tokens of other content.
    pub(super) fn new(how: &'a Shortening, whole: Messages, fixed: u64, budget: u64) -> Self {
        let costs: Vec<_> = whole.iter().map(|msg| how.counter.count([msg])).collect();
        let total = fixed + costs.iter().sum::<u64>();
        Self { how, messages: whole.clone(), whole, costs, total, budget }
    }

    /// Returns whether the request fits.
    pub(super) fn fits(&self) -> bool {
        self.total <= self.budget
    }

    /// Returns whether a result of this many tokens is large.
    pub(super) fn is_large(&self, tokens: u64) -> bool {
        tokens > self.how.large.min(self.budget / 4)
    }

    /// Shortens results until the request fits: large results that are old, then all that are old, then
    /// the latest, large ones first. What the model reads again by the tool stays while it is not old.
    pub(super) fn shorten(&mut self) {
        let all = self.messages.len();
        let old = all.saturating_sub(self.how.keep);
        let head = self.how.head;
        let offload = |result: &ToolResult| offloaded(result, head);
        let is_large =
            |view: &Self, result: &ToolResult, tokens| view.is_large(tokens) && result.name != TOOL;
        let is_any = |_: &Self, result: &ToolResult, _| result.name != TOOL;
        for place in 0..old {
            self.change(place, is_large, offload);
        }
        for place in 0..old {
            self.change(place, |_, _, _| true, trimmed);
        }
        for place in old..all {
            self.change(place, is_large, offload);
        }
        for place in old..all {
            self.change(place, is_any, trimmed);
        }
    }

    /// Shortens those results of a message that become shorter, if the request does not fit.
    fn change(
        &mut self,
        place: usize,
        is_meant: impl Fn(&Self, &ToolResult, u64) -> bool,
        shorten: impl Fn(&ToolResult) -> ToolResult,
    ) {
        if self.fits() {
            return;
        }
        let cost =
            |result: &ToolResult| self.how.counter.count([&Msg::tool_result(result.clone())]);
        let now = &self.messages[place];
        let mut changed = None;
        for (number, block) in self.whole[place].content.iter().enumerate() {
            let (ContentBlock::ToolResult(whole), Some(ContentBlock::ToolResult(before))) =
                (block, now.content.get(number))
            else {
                continue;
            };
            let tokens = cost(before);
            if !is_meant(self, whole, tokens) {
                continue;
            }
            let result = shorten(whole);
            if cost(&result) < tokens {
                let msg = changed.get_or_insert_with(|| now.clone());
                msg.content[number] = ContentBlock::ToolResult(result);
            }
        }
        let Some(changed) = changed else { return };
        let tokens = self.how.counter.count([&changed]);
        self.total = self.total - self.costs[place] + tokens;
        self.costs[place] = tokens;
        if let Some(msg) = self.messages.get_mut(place) {
            *msg = changed;
        }
    }
}
