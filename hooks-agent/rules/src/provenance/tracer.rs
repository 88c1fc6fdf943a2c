//! Answers rules that ask where an argument came from.

use std::sync::Arc;

use hooks_agent_core::call::CallContext;
use hooks_agent_core::message::Msg;
use serde_json::Value;

use crate::provenance::entered::sources::Sources;
use crate::provenance::entered::standing::Standing;
use crate::provenance::kept::each_scalar;
use crate::provenance::reading::needle::Needle;
use crate::provenance::shared::Shared;

/// The hook of a call, with the instructions of its agent: a value of the call.
pub(crate) struct Tracer {
    shared: Arc<Shared>,
    system: Option<Arc<Msg>>,
}

impl Tracer {
    pub(crate) const fn new(shared: Arc<Shared>, system: Option<Arc<Msg>>) -> Self {
        Self { shared, system }
    }

    /// Returns what entered a call. If tool calls run already, what they return is left out.
    ///
    /// # Errors
    /// Why it is not known.
    pub(crate) fn sources(&self, cx: &CallContext, runs: bool) -> Result<Arc<Sources>, String> {
        self.shared.sources(self.system.as_ref(), cx, runs)
    }

    /// Returns where a value came from, and all that is in it: the names of its [sources](NAMES), each once.
    ///
    /// # Errors
    /// Why it is not known.
    pub(crate) fn origins(
        &self,
        sources: &Sources,
        name: &str,
        value: &Value,
    ) -> Result<Vec<&'static str>, String> {
        if sources.length > self.shared.settings.max_read {
            return Err("too much was read to find where it came from".to_owned());
        }
        let mut found = [false; NAMES.len()];
        let mut is_unknown = false;
        each_scalar(value, &mut |text| match of_text(sources, &Needle::new(&text, name)) {
            Some(origins) => found.iter_mut().zip(origins).for_each(|(all, own)| *all |= own),
            None => is_unknown = true,
        });
        if is_unknown {
            return Err("it stands at too many places to find where it came from".to_owned());
        }
        Ok(NAMES.into_iter().zip(found).filter(|(_, is)| *is).map(|(name, _)| name).collect())
    }
}

/// The names of sources in rules, in the order in which they are listed.
const NAMES: [&str; 5] = ["user", "instructions", "trusted", "untrusted", "model"];

/// Returns which of the sources have a text; `None` if that is not known.
fn of_text(sources: &Sources, needle: &Needle) -> Option<[bool; NAMES.len()]> {
    let standing = Standing::of(sources, needle).ok()?;
    let is_read = |is_trusted| standing.reads.iter().any(|read| read.is_trusted == is_trusted);
    let (is_trusted, is_untrusted) = (is_read(true), is_read(false));
    let is_nowhere = standing.is_nowhere();
    Some([standing.is_said, standing.is_instructed, is_trusted, is_untrusted, is_nowhere])
}
