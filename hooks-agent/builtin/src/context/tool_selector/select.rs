//! Selects the tools of a round.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use hooks_core::HookResult;

use crate::context::tool_selector::choice::{
    Choice, State, digest, last_calls, last_question, open_calls, question, text,
};
use crate::context::tool_selector::error::{OnSelectionFailure, ToolSelectorError};
use crate::context::tool_selector::hook::{Settings, ToolSelector};
use crate::context::tool_selector::search::ranked;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::event::PreReasoning;
use hooks_agent_core::hook::HookModelError;
use hooks_agent_core::message::Messages;
use hooks_agent_core::model::{ToolChoice, ToolSpec};

impl ToolSelector {
    /// Returns what the hook knows of a call.
    pub(super) fn state(&self, cx: &CallContext) -> Arc<Mutex<State>> {
        cx.hook_state(Arc::as_ptr(&self.settings).addr())
    }

    /// Checks that the agent has the tools that the settings name.
    fn check_names(
        &self,
        own: &[ToolSpec],
        of_round: &[ToolSpec],
    ) -> Result<(), ToolSelectorError> {
        let known = || own.iter().chain(of_round).map(|tool| &tool.name);
        let listed = match &self.settings.on_failure {
            OnSelectionFailure::List(names) => &names[..],
            _ => &[],
        };
        let is_unknown = |name: &&String| known().all(|known| known != *name);
        let all = self.settings.always.iter().chain(listed);
        let names: Vec<_> = all.filter(is_unknown).cloned().collect();
        if names.is_empty() {
            return Ok(());
        }
        let is_of_hook = |tool: &&ToolSpec| own.iter().all(|known| known.name != tool.name);
        let all = own.iter().chain(of_round.iter().filter(is_of_hook));
        let known = all.map(|tool| tool.name.clone()).collect();
        Err(ToolSelectorError::NoSuchTools { names, known })
    }

    /// Leaves the tools of the round that are chosen.
    pub(super) async fn select(&self, event: &mut PreReasoning<'_>) -> HookResult {
        let specs = match event.agent().tool_specs() {
            // An agent of another kind does not say what it has.
            [] => event.tools(),
            specs => specs,
        };
        self.check_names(specs, event.tools())?;
        if event.tools().len() <= self.settings.most {
            return Ok(());
        }
        let known: HashSet<_> = specs.iter().map(|tool| tool.name.as_str()).collect();
        let always = &self.settings.always;
        let is_open =
            |tool: &&ToolSpec| known.contains(&*tool.name) && !always.contains(&tool.name);
        let open: Vec<_> = event.tools().iter().filter(is_open).collect();
        if open.len() <= self.settings.most {
            return Ok(());
        }
        // Boxed, so that the future of other rounds stays small.
        let Some(chosen) = Box::pin(self.choice(event, specs, &open)).await? else { return Ok(()) };
        let state = self.state(event.context());
        let state = state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_forced = |tool: &ToolSpec| match &event.options().tool_choice {
            ToolChoice::Tool(name) => *name == tool.name,
            _ => false,
        };
        let stays = |tool: &&ToolSpec| {
            !is_open(tool)
                || chosen.contains(&tool.name)
                || state.called.contains(&tool.name)
                || is_forced(tool)
        };
        let tools: Vec<_> = event.tools().iter().filter(stays).cloned().collect();
        event.set_tools(tools);
        Ok(())
    }

    /// Returns the names that are chosen for the round, or `None` after an interrupt.
    async fn choice(
        &self,
        event: &PreReasoning<'_>,
        specs: &[ToolSpec],
        open: &[&ToolSpec],
    ) -> HookResult<Option<Vec<String>>> {
        let (cx, history) = (event.context(), event.history());
        let before = self.before(cx, specs, &history);
        let question = question(&history);
        if let Some(choice) = &before
            && question.is_none_or(|place| choice.is_for(&history[place].text()))
        {
            return Ok(Some(choice.tools.clone()));
        }
        let of = self.digest(specs);
        let place = question.or_else(|| last_question(&history));
        let asked = place.map(|place| text(event, &history, place)).unwrap_or_default();
        let (tools, is_kept) = match self.ask(cx, open, &asked).await {
            Ok(Some(tools)) => (tools, true),
            Ok(None) => {
                let first = || open.iter().take(self.settings.most).map(|tool| tool.name.clone());
                (before.map_or_else(|| first().collect(), |before| before.tools), true)
            }
            Err(ToolSelectorError::Model(HookModelError::Interrupted)) => return Ok(None),
            Err(error) => (self.after_failure(cx, error, open)?, false),
        };
        let query = place.map(|place| history[place].text()).unwrap_or_default();
        let choice = Choice::new(of, &query, tools.clone());
        if is_kept && cx.memory().is_some() {
            cx.set_thread_value(Self::THREAD_VALUE, &choice)?;
        }
        let state = self.state(cx);
        state.lock().unwrap_or_else(PoisonError::into_inner).choice = Some(choice);
        Ok(Some(tools))
    }

    /// Returns the choice of an earlier round, of this call or of one before.
    fn before(&self, cx: &CallContext, specs: &[ToolSpec], history: &Messages) -> Option<Choice> {
        let state = self.state(cx);
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.choice.is_none() {
            state.called.extend(open_calls(history));
            // A value that cannot be read is made anew.
            let kept = cx.thread_value::<Choice>(Self::THREAD_VALUE).ok().flatten();
            state.choice = kept.filter(|choice| choice.of == self.digest(specs));
        } else {
            state.called.extend(last_calls(history));
        }
        state.choice.clone()
    }

    /// Returns the names of at most as many tools as are chosen; `None` if the text says nothing about tools.
    async fn ask(
        &self,
        cx: &CallContext,
        open: &[&ToolSpec],
        text: &str,
    ) -> Result<Option<Vec<String>>, ToolSelectorError> {
        if text.trim().is_empty() {
            return Ok(None);
        }
        let most = self.settings.most;
        let Some(chooser) = &self.settings.chooser else {
            let found = ranked(open, text);
            let names = found.iter().take(most).map(|place| open[*place].name.clone());
            return Ok((!found.is_empty()).then(|| names.collect()));
        };
        let mut names = chooser.choose(cx, open, most, text).await?;
        let mut seen = HashSet::new();
        names.retain(|name| seen.insert(name.clone()));
        names.truncate(most);
        Ok(Some(names))
    }

    fn after_failure(
        &self,
        cx: &CallContext,
        error: ToolSelectorError,
        open: &[&ToolSpec],
    ) -> Result<Vec<String>, ToolSelectorError> {
        let names = match &self.settings.on_failure {
            OnSelectionFailure::Error => return Err(error),
            OnSelectionFailure::None => Vec::new(),
            OnSelectionFailure::All => open.iter().map(|tool| tool.name.clone()).collect(),
            OnSelectionFailure::List(names) => names.clone(),
        };
        tracing::warn!(target: "hooks_agent::builtin::context",
            agent = cx.agent_name(),
            error = &error as &dyn std::error::Error,
            "no tools were chosen"
        );
        Ok(names)
    }

    /// Returns the digest of what a choice is made from.
    fn digest(&self, specs: &[ToolSpec]) -> String {
        let Settings { chooser, most, always, .. } = &*self.settings;
        let how = chooser.as_ref().map_or("search", |chooser| chooser.model.name());
        let most = most.to_string();
        let names = specs.iter().map(|tool| tool.name.as_str());
        digest([how, &most].into_iter().chain(always.iter().map(String::as_str)).chain(names))
    }
}
