//! Gives tools the data of a vault.

use hooks_agent_core::call::CallContext;
use hooks_agent_core::event::HookEvent;
use hooks_agent_core::hook::{AgentHook, AroundMask, NextTool, ToolCall};
use hooks_agent_core::message::ToolResult;
use hooks_agent_core::model::Rewriter;
use hooks_agent_core::tool::ToolError;

use crate::guard::pii_detection::hook::PiiDetection;
use crate::guard::pii_detection::search::{Echo, Search};
use crate::guard::vault::{Revealed, VaultError};

impl PiiDetection {
    /// Puts the data of the vault into the arguments of a tool call, for the tool alone. Returns the
    /// data with their tokens.
    pub(super) fn reveal(
        &self,
        cx: &CallContext,
        call: &mut ToolCall<'_>,
    ) -> Result<Vec<(String, String)>, VaultError> {
        let Some(vault) = &self.vault else { return Ok(Vec::new()) };
        let tool = &call.tool_use().name;
        if self.tools.as_ref().is_some_and(|tools| !tools.contains(tool)) {
            return Ok(Vec::new());
        }
        let (vault, mut revealed) = (vault.in_call(cx), Revealed::default());
        let mut changed = Vec::new();
        for (name, shown) in call.tool_use().input.as_object().into_iter().flatten() {
            if let Some(value) = vault.field(name, shown, &mut revealed) {
                changed.push((name.clone(), value, shown.clone()));
            }
        }
        if let Some(refused) = revealed.refused {
            return Err(refused);
        }
        for (name, value, shown) in changed {
            call.tool_use_mut().hide_as(name, value, shown);
        }
        Ok(revealed.used)
    }

    /// Notes the call of an event with the vault.
    pub(super) fn note(&self, event: &HookEvent<'_>) {
        if let (Some(vault), HookEvent::PreCall(event)) = (&self.vault, event) {
            vault.note(event.context());
        }
    }

    /// Runs the tool, and replaces the data that it received wherever it gives them back.
    pub(super) async fn run_with_data(
        &self,
        data: Vec<(String, String)>,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        let searches = self.rewrite.around().contains(AroundMask::TOOL_CALL);
        let vault = self.vault.as_ref().map(|vault| vault.in_call(call.context()));
        let search = searches.then(|| Search { vault, ..self.search.clone() });
        match Echo::new(data, search) {
            Ok(echo) => {
                let (data, echo) = (echo.data(), Rewriter::new(echo));
                let rewriter = if searches {
                    let search = self.rewrite.rewriter(call.context());
                    let asking = echo.asking_like(&search);
                    asking.deciding_for(&search, move |text| data.is_match(text))
                } else {
                    echo
                };
                self.rewrite.clone().tool_results(true).run_tool(rewriter, call, next).await
            }
            Err(error) => Err(next.fail(error)),
        }
    }
}
