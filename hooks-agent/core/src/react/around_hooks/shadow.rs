//! Registers event hooks in shadow beside the calls of the model and of tools, permission checks and compressions.

use std::any::Any;
use std::sync::Arc;

use hooks_core::hook;

use crate::error::AgentError;
use crate::hook::{
    AroundMask, DynAgentHook, Installed, Registration, Shadow, Target, ToolOfCall, level_of,
};
use crate::react::agent::ReActAgent;
use crate::react::agent_tool::AgentTool;
use crate::tool::ToolError;

pub(super) fn install(
    target: &impl Target<ReActAgent>,
    hook: &Arc<dyn DynAgentHook>,
    shadow: &Shadow,
    registration: &Registration,
) {
    let around = registration.around;
    if around.contains(AroundMask::MODEL_CALL) {
        let (of, shadow) = (Installed::new(hook, registration, level_of(target)), shadow.clone());
        let hook = hook!(ReActAgent::AROUND_MODEL_CALL, async move |agent, args, next| {
            if args.cx.is_replaying() {
                return next.run(args).await;
            }
            let model = &agent.core.model;
            let beside = shadow.beside_model(&of, agent, &args.cx, model, &args.request);
            beside.answered(next.run(args).await)
        });
        let options = registration.options_around(AroundMask::MODEL_CALL);
        target.register(ReActAgent::AROUND_MODEL_CALL, options, hook);
    }
    if around.contains(AroundMask::TOOL_CALL) {
        let (of, shadow) = (Installed::new(hook, registration, level_of(target)), shadow.clone());
        let hook = hook!(ReActAgent::AROUND_TOOL_CALL, async move |agent, args, next| {
            if args.cx.is_replaying() {
                return next.run(args).await;
            }
            let tool = agent.tool(&args.call.name).cloned();
            let runs_agent = tool.as_ref().is_some_and(|it| (&**it as &dyn Any).is::<AgentTool>());
            let spec = agent.core.specs.iter().find(|spec| spec.name == args.call.name).cloned();
            let of_call = ToolOfCall { spec, tool, runs_agent };
            let beside = shadow.beside_tool(&of, agent, &args.cx, &args.call, of_call);
            let ended = next.run(args).await;
            beside.ended(ended.as_ref().map(Clone::clone).map_err(ToolError::report));
            ended
        });
        let options = registration.options_around(AroundMask::TOOL_CALL);
        target.register(ReActAgent::AROUND_TOOL_CALL, options, hook);
    }
    if around.contains(AroundMask::PERMISSION_CHECK) {
        let (of, shadow) = (Installed::new(hook, registration, level_of(target)), shadow.clone());
        let hook = hook!(ReActAgent::AROUND_CHECK_PERMISSION, async move |agent, args, next| {
            if args.cx.is_replaying() {
                return next.run(args).await;
            }
            let beside = shadow.beside_check(&of, agent, &args.cx, &args.call);
            let ended = next.run(args).await;
            beside.ended(ended.as_ref().map(Clone::clone).map_err(AgentError::report));
            ended
        });
        let options = registration.options_around(AroundMask::PERMISSION_CHECK);
        target.register(ReActAgent::AROUND_CHECK_PERMISSION, options, hook);
    }
    if around.contains(AroundMask::COMPRESSION) {
        let (of, shadow) = (Installed::new(hook, registration, level_of(target)), shadow.clone());
        let hook = hook!(ReActAgent::AROUND_COMPRESS_CONTEXT, async move |agent, args, next| {
            if args.cx.is_replaying() {
                return next.run(args).await;
            }
            let instructions = args.instructions.as_deref();
            let beside =
                shadow.beside_compression(&of, agent, &args.cx, &args.messages, instructions);
            let ended = next.run(args).await;
            beside.ended(ended.as_ref().map(Clone::clone).map_err(AgentError::report));
            ended
        });
        let options = registration.options_around(AroundMask::COMPRESSION);
        target.register(ReActAgent::AROUND_COMPRESS_CONTEXT, options, hook);
    }
}
