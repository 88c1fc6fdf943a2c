//! Specifications of the tools, for the model.

use std::sync::Arc;

use crate::call::Door;
use crate::model::ToolSpec;
use crate::react::run::rounds::Run;

impl Run<'_> {
    /// Returns what the model reads of the tools. What others wrote of them has passed the guards of the
    /// call; a tool of which that is blocked is not offered.
    pub(super) fn specs(&mut self) -> Arc<[ToolSpec]> {
        let core = &self.agent.core;
        if !core.tools.iter().any(|tool| tool.is_foreign()) {
            return core.specs.clone();
        }
        // The guards of a call stay the same.
        if let Some(specs) = &self.specs {
            return specs.clone();
        }
        let specs = core.tools.iter().zip(&*core.specs).filter_map(|(tool, spec)| {
            let mut spec = spec.clone();
            if tool.is_foreign() {
                let ToolSpec { name, description, schema } = &mut spec;
                let screened = self.cx.screen_spec(Door::ToolSpec, name, description, schema);
                if let Err(blocked) = screened {
                    let reason = blocked.reason;
                    self.cx
                        .warn(format!("the tool `{name}` is not offered to the model: {reason}"));
                    return None;
                }
            }
            Some(spec)
        });
        let specs: Arc<[ToolSpec]> = specs.collect();
        self.specs = Some(specs.clone());
        specs
    }
}
