//! Registers event hooks around the calls of the model and of tools, around permission checks,
//! compressions, whole calls, and the attempts of a model call.

mod attempt;
mod call;
mod compression;
mod model;
mod noted;
mod permission;
mod shadow;
mod tool;

use std::sync::Arc;

use crate::hook::{AroundMask, DynAgentHook, Registration, Target};
use crate::react::agent::ReActAgent;

pub(super) fn install_around(
    target: &impl Target<ReActAgent>,
    hook: &Arc<dyn DynAgentHook>,
    registration: &Registration,
) {
    if let Some(of_hook) = hook.__shadow() {
        return shadow::install(target, hook, &of_hook, registration);
    }
    let around = registration.around;
    if around.contains(AroundMask::MODEL_CALL) {
        model::install(target, hook, registration);
    }
    if around.contains(AroundMask::TOOL_CALL) {
        tool::install(target, hook, registration);
    }
    if around.contains(AroundMask::PERMISSION_CHECK) {
        permission::install(target, hook, registration);
    }
    if around.contains(AroundMask::COMPRESSION) {
        compression::install(target, hook, registration);
    }
    if around.contains(AroundMask::CALL) {
        call::install(target, hook, registration);
    }
    if around.contains(AroundMask::MODEL_ATTEMPT) {
        attempt::install(target, hook, registration);
    }
}
