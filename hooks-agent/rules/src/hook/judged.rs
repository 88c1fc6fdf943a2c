//! Judges a tool call by all rules together.

use std::sync::Arc;

use hooks_agent_core::call::CallContext;
use hooks_agent_core::event::EventKind;
use hooks_agent_core::hook::{HookFlow, ShadowPart};
use hooks_agent_core::message::{Question, ToolUse};
use serde_json::Value;

use crate::expression::{Facts, Now};
use crate::hook::origins::Origins;
use crate::hook::rules::Inner;
use crate::hook::state::State;
use crate::hook::tools::Known;
use crate::past::Past;
use crate::rule::{Rule, Stage, Then, Why};

/// What all rules together decide about a tool call.
#[derive(Default)]
pub(super) struct Judged {
    /// Why it does not run.
    pub(super) denied: Option<String>,
    /// What people are asked.
    pub(super) asks: Vec<Ask>,
    /// What people read who are asked by others.
    pub(super) warnings: Vec<String>,
}

/// A question of a rule, or of the default.
pub(super) struct Ask {
    rule: Option<Arc<Rule>>,
    pub(super) text: String,
    /// What it asks about, whatever the arguments; of what cannot be decided, nothing.
    topic: Option<String>,
}

impl Ask {
    pub(super) fn question(&self) -> Question {
        match &self.rule {
            Some(rule) => rule.question(self.text.clone(), self.topic.as_deref()),
            None => Question::new(self.text.clone()),
        }
    }
}

/// A tool call that is judged.
pub(super) struct Case<'a> {
    pub(super) cx: &'a CallContext,
    pub(super) of_call: &'a State,
    known: &'a Known,
    pub(super) call: &'a ToolUse,
    stage: Stage,
    /// Whether other tool calls of the answer run before it.
    is_later: bool,
}

impl<'a> Case<'a> {
    /// Creates a tool call at a stage.
    pub(super) fn new(
        cx: &'a CallContext,
        of_call: &'a State,
        known: &'a Known,
        call: &'a ToolUse,
        stage: Stage,
    ) -> Self {
        Self { cx, of_call, known, call, stage, is_later: false }
    }

    /// Sets whether other tool calls of the answer run before it.
    pub(super) fn later(self, is_later: bool) -> Self {
        Self { is_later, ..self }
    }

    /// Checks its arguments against the schema of the tool.
    pub(super) fn fits(&self) -> Result<(), String> {
        if !self.known.is_enforced {
            return Ok(());
        }
        self.known.check(&self.call.received_input(), self.stage)
    }

    /// Judges a tool call by the rules about its tool.
    pub(super) fn judge(&self, inner: &Inner) -> Judged {
        let Self { cx, known, call, stage, .. } = *self;
        let received = call.received_input();
        let args: &Value = if stage == Stage::Around { &received } else { &call.input };
        let agents = agents(cx);
        // A value that cannot be read is not known, so that what asks for it fails; neither is what runs now.
        let reads_past = known.rules.iter().any(|rule| rule.reads_past);
        let at_once = reads_past && inner.is_at_once(cx);
        let is_known = reads_past && !at_once;
        let past = is_known.then(|| Past::of(cx, &inner.counter).ok()).flatten();
        let origins = Origins::new(cx, args, stage != Stage::Foreseen);
        let facts = Facts {
            args,
            tool: &call.name,
            server: known.server.as_deref().unwrap_or_default(),
            agents: &agents,
            user: cx.identity(),
            now: Now::new(&inner.zone),
            thread: cx.owner_call().thread_id(),
            past: past.as_ref(),
            round: self.of_call.round(),
            origins: &|path| origins.of(path),
        };
        let mut judged = Judged::default();
        let mut is_spoken_of = false;
        for rule in &known.rules {
            // What runs before in the same answer is not known yet.
            let is_early = stage == Stage::Foreseen && self.is_later && rule.reads_past;
            if is_early {
                is_spoken_of = true;
                continue;
            }
            let why = rule.judge(&facts, stage, at_once);
            if let Some(shadow) = &rule.shadow {
                self.tell(rule, shadow, why);
                continue;
            }
            let Some(why) = why else { continue };
            let text = rule.text(&why, &call.input);
            // What cannot be decided speaks of nothing, and a warning does not either.
            is_spoken_of |= rule.then != Then::Warn && !matches!(why, Why::Failed(_));
            judged.add(rule, text, rule.topic(&why));
        }
        if !is_spoken_of {
            judged.add_default(inner.default, &call.name);
        }
        judged
    }

    /// Tells what a rule in shadow decides, once of a tool call.
    fn tell(&self, rule: &Rule, shadow: &ShadowPart, why: Option<Why>) {
        let Self { cx, call, stage, .. } = *self;
        let flow = match (&why, rule.then) {
            (Some(_), Then::Deny) => HookFlow::Refuse,
            (Some(_), Then::Ask) => HookFlow::Ask,
            _ => HookFlow::Continue,
        };
        let tells = match why {
            _ if stage == Stage::Foreseen => false,
            Some(_) => self.of_call.is_new(&call.id, &rule.name),
            None => stage == Stage::Before,
        };
        if !tells {
            return;
        }
        shadow.would(cx, EventKind::PreActing, Some(&call.id), flow);
        let Some(why) = why else { return };
        let (agent, tool) = (cx.agent_name(), call.name.as_str());
        let (name, then) = (rule.name.as_str(), rule.then.name());
        let text = rule.text(&why, &call.input);
        tracing::info!(
            target: "hooks_agent::rules",
            agent, tool, rule = name, then, "in shadow, not enforced: {text}"
        );
    }
}

impl Judged {
    fn add(&mut self, rule: &Arc<Rule>, text: String, topic: Option<String>) {
        match rule.then {
            Then::Allow => {}
            Then::Warn => self.warnings.push(text),
            Then::Ask => self.asks.push(Ask { rule: Some(rule.clone()), text, topic }),
            Then::Deny => match &mut self.denied {
                // The model reads all that it must mend.
                Some(denied) => denied.extend(["; ", &text]),
                None => self.denied = Some(text),
            },
        }
    }

    fn add_default(&mut self, default: Then, tool: &str) {
        match default {
            Then::Allow => {}
            Then::Warn => self.warnings.push(format!("no rule speaks of this call of `{tool}`")),
            Then::Ask => {
                let text = format!("no rule speaks of this call of `{tool}`");
                self.asks.push(Ask { rule: None, text, topic: None });
            }
            Then::Deny => {
                self.denied.get_or_insert_with(|| format!("no rule allows this call of `{tool}`"));
            }
        }
    }
}

/// Returns the names of the agents, from the outermost one to the one that calls the tool.
fn agents(cx: &CallContext) -> Vec<&str> {
    let mut agents = vec![cx.agent_name()];
    let mut call = cx;
    while let Some(parent) = call.parent() {
        agents.push(parent.agent_name());
        call = parent;
    }
    agents.reverse();
    agents
}
