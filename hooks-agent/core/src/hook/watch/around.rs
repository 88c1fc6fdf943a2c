//! A run of a hook around a call.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::call::CallContext;
use crate::hook::watch::content::Content;
use crate::hook::watch::hook_run::{HookFlow, HookRun};
use crate::hook::watch::installed::{Installed, unended};
use crate::hook::watch::watchers::{is_watched, tell_watchers};
use crate::message::{ToolResult, ToolUse};
use crate::model::ChatRequest;

/// A run of a hook around a call, told when it is dropped.
pub(crate) struct AroundRun<'a> {
    hook: &'a Installed,
    cx: &'a CallContext,
    event: &'static str,
    tool_call: Option<Box<str>>,
    start: Instant,
    seen: Mutex<Seen>,
}

struct Seen {
    /// What the hook received and passed on, then what it got back and returned.
    contents: [(Content, Content); 2],
    /// How long the calls inside of the hook ran.
    inside: Duration,
    has_run: bool,
    /// Whether the last call inside of the hook failed.
    has_failed: bool,
    flow: Option<HookFlow>,
}

impl<'a> AroundRun<'a> {
    /// Begins the run around a model call, if somebody watches.
    pub(crate) fn of_model(
        hook: &'a Installed,
        cx: &'a CallContext,
        request: &ChatRequest,
    ) -> Option<Self> {
        let content = || (None, Content::of_request(request));
        Self::begin(hook, cx, "MODEL_CALL", content)
    }

    /// Begins the run around a tool call, if somebody watches.
    pub(crate) fn of_tool(
        hook: &'a Installed,
        cx: &'a CallContext,
        call: &ToolUse,
    ) -> Option<Self> {
        let content = || (Some(call.id.as_str().into()), Content::of_tool_use(call));
        Self::begin(hook, cx, "TOOL_CALL", content)
    }

    /// Begins the run around a permission check, if somebody watches.
    pub(crate) fn of_check(
        hook: &'a Installed,
        cx: &'a CallContext,
        call: &ToolUse,
    ) -> Option<Self> {
        let content = || (Some(call.id.as_str().into()), Content::Nothing);
        Self::begin(hook, cx, "PERMISSION_CHECK", content)
    }

    /// Begins the run around a compression, if somebody watches.
    pub(crate) fn of_compression(hook: &'a Installed, cx: &'a CallContext) -> Option<Self> {
        Self::begin(hook, cx, "COMPRESSION", || (None, Content::Nothing))
    }

    /// Begins the run around an attempt, if somebody watches.
    pub(crate) fn of_attempt(
        hook: &'a Installed,
        cx: &'a CallContext,
        request: &ChatRequest,
    ) -> Option<Self> {
        Self::begin(hook, cx, "MODEL_ATTEMPT", || (None, Content::of_request(request)))
    }

    /// Begins the run around a whole call, if somebody watches.
    pub(crate) fn of_call(hook: &'a Installed, cx: &'a CallContext) -> Option<Self> {
        Self::begin(hook, cx, "CALL", || (None, Content::Nothing))
    }

    fn begin(
        hook: &'a Installed,
        cx: &'a CallContext,
        event: &'static str,
        content: impl FnOnce() -> (Option<Box<str>>, Content),
    ) -> Option<Self> {
        if !is_watched(cx, hook.info.group) {
            return None;
        }
        let (tool_call, received) = content();
        let seen = Seen {
            contents: [(received, Content::Nothing), (Content::Nothing, Content::Nothing)],
            inside: Duration::ZERO,
            has_run: false,
            has_failed: false,
            flow: None,
        };
        let seen = Mutex::new(seen);
        Some(Self { hook, cx, event, tool_call, start: Instant::now(), seen })
    }
}

/// What a run around a call notes of the calls inside of it.
pub(crate) trait NoteInside: Send + Sync {
    fn passes_request(&self, request: &ChatRequest);
    fn passes_call(&self, call: &ToolUse);
    /// Notes that the hook runs what is inside, whose content is not compared.
    fn passes(&self);
    /// Notes how long a call inside of the hook ran, and its result.
    fn got(&self, result: Option<&ToolResult>, has_failed: bool, time: Duration);
}

impl NoteInside for AroundRun<'_> {
    fn passes_request(&self, request: &ChatRequest) {
        self.seen().pass(Content::of_request(request));
    }

    fn passes_call(&self, call: &ToolUse) {
        self.seen().pass(Content::of_tool_use(call));
    }

    fn passes(&self) {
        self.seen().pass(Content::Nothing);
    }

    fn got(&self, result: Option<&ToolResult>, has_failed: bool, time: Duration) {
        let mut seen = self.seen();
        seen.inside += time;
        seen.has_failed = has_failed;
        seen.contents[1].0 = result.map_or(Content::Nothing, Content::of_tool_result);
    }
}

impl AroundRun<'_> {
    /// Notes how the hook ended, with the result of the tool that it returns.
    pub(crate) fn end(&self, result: Option<&ToolResult>, has_failed: bool) {
        let mut seen = self.seen();
        seen.contents[1].1 = result.map_or(Content::Nothing, Content::of_tool_result);
        seen.flow = Some(match (seen.has_run, has_failed) {
            // The error of the call inside is not the hook's.
            (true, true) if seen.has_failed => HookFlow::Continue,
            (_, true) => HookFlow::Failed,
            (true, false) if seen.has_failed => HookFlow::Recover,
            (true, false) => HookFlow::Continue,
            (false, false) => match result {
                Some(result) if result.is_error => HookFlow::Refuse,
                _ => HookFlow::Answer,
            },
        });
    }

    /// Notes that the hook denied the tool call.
    pub(crate) fn refuse(&self) {
        self.seen().flow = Some(HookFlow::Refuse);
    }

    /// Returns whether a call inside of the hook ran.
    pub(crate) fn has_run(&self) -> bool {
        self.seen().has_run
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    fn pass(&mut self, content: Content) {
        self.has_run = true;
        self.contents[0].1 = content;
    }
}

impl Drop for AroundRun<'_> {
    fn drop(&mut self) {
        let seen = self.seen();
        tell_watchers(&HookRun {
            cx: self.cx,
            info: &self.hook.info,
            event: self.event,
            tool_call: self.tool_call.as_deref(),
            elapsed: self.start.elapsed().saturating_sub(seen.inside),
            flow: seen.flow.unwrap_or_else(unended),
            contents: &seen.contents,
            is_shadow: false,
            would: None,
        });
    }
}
