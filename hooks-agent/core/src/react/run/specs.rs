//! Specifications of the tools, for the model.

use std::sync::Arc;

use crate::call::Door;
use crate::error::TextBlocked;
use crate::model::ToolSpec;
use crate::react::run::rounds::Run;

impl Run<'_> {
    /// Returns what the model reads of the tools. What others wrote of them has passed the guards of the
    /// call; a tool of which that is blocked is not offered.
    pub(super) async fn specs(&mut self) -> Arc<[ToolSpec]> {
        let core = &self.agent.core;
        if !core.tools.iter().any(|tool| tool.is_foreign()) {
            return core.specs.clone();
        }
        // The guards of a call stay the same.
        if let Some(specs) = &self.specs {
            return specs.clone();
        }
        // Rare steps are boxed, so that the future of other calls stays small.
        let specs = Box::pin(self.screened_specs()).await;
        self.specs = Some(specs.clone());
        specs
    }

    async fn screened_specs(&self) -> Arc<[ToolSpec]> {
        let core = &self.agent.core;
        let mut specs = Vec::new();
        for (tool, spec) in core.tools.iter().zip(&*core.specs) {
            let mut spec = spec.clone();
            if tool.is_foreign() {
                let ToolSpec { name, description, schema } = &mut spec;
                let screened = self.cx.screen_spec(Door::ToolSpec, name, description, schema).await;
                if let Err(TextBlocked { reason }) = screened {
                    self.cx
                        .warn(format!("the tool `{name}` is not offered to the model: {reason}"));
                    continue;
                }
            }
            specs.push(spec);
        }
        specs.into()
    }
}
