//! Drafts a policy of `provenance` from the tools of recorded runs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use hooks_agent_rules::{Provenance, Sink};

use crate::score::runs::record::Run;

/// The tools of runs, with the names of their arguments.
#[derive(Default)]
pub(super) struct Suggested(BTreeMap<String, BTreeSet<String>>);

impl Suggested {
    pub(super) fn add(&mut self, run: &Run) {
        for call in &run.calls {
            let names = self.0.entry(call.tool.clone()).or_default();
            names.extend(call.arguments.keys().cloned());
        }
    }

    /// Returns the policy file. What cannot be known from names is on the safe side.
    pub(super) fn policy(&self) -> String {
        let (reads, sinks): (Vec<_>, Vec<_>) =
            self.0.iter().partition(|(tool, _)| Provenance::reads_by_name(tool));
        let mut text = String::from(
            "# A draft, by the names of tools and arguments. Check each line.\n\
             version = 1\n\n\
             [[hook]]\n\
             use = \"provenance\"\n\n\
             [hook.with]\n\
             # Results that others write into. Move a tool to `trusted` if nobody else can write what it returns.\n",
        );
        let reads: Vec<_> = reads.into_iter().map(|(tool, _)| quoted(tool)).collect();
        let _ = writeln!(text, "untrusted = [{}]", reads.join(", "));
        text.push_str(
            "trusted = []\n\n\
             # Tools that change something. Move a tool to `untrusted` if it only reads; name it there too if it returns\n\
             # what others write.\n\
             [hook.with.sinks]\n",
        );
        for (tool, names) in sinks {
            let sink = Sink::by_names(names.iter().cloned());
            let list =
                |names: Vec<&str>| names.into_iter().map(quoted).collect::<Vec<_>>().join(", ");
            let destinations = list(sink.destinations().collect());
            let contents = list(sink.contents().collect());
            let _ = writeln!(
                text,
                "{} = {{ destination = [{destinations}], content = [{contents}] }}",
                quoted(tool)
            );
        }
        text
    }
}

/// Returns a text as TOML has it.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}
