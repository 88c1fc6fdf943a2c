//! The surface of the host, for declarations.

use agent_hooks::declaration::ToolSeamPosture;
use agent_hooks::{DECLARATION_VERSION, HostSurface, InterceptionPoint, SPEC_VERSION};
use serde_json::{Value, json};

use crate::host::interceptors::Output;

/// What nobody sees before a verdict covers it, in declarations.
pub(super) const BOUND: &str = "none: text is released under a verdict over all text up to its end";

/// Returns what the host can do, as declarations are resolved against it: all eight points, all profiles with what they
/// may be told, and integers of 64 bits; after a failure at a tool the call goes on. With [`Output::Incremental`], also
/// that.
///
/// ```
/// use hooks_agent::interceptors::{Output, surface};
///
/// assert!(surface(Output::Buffered).capabilities.contains("tool_calls"));
/// assert!(surface(Output::incremental()).capabilities.contains("incremental_output"));
/// ```
#[must_use]
pub fn surface(output: Output) -> HostSurface {
    let mut capabilities = vec!["host_declaration", "int64_json", "model_calls", "tool_calls"];
    if output != Output::Buffered {
        capabilities.push("incremental_output");
    }
    let capabilities = capabilities.into_iter().map(str::to_owned);
    let surface = HostSurface::from_capabilities(capabilities, ToolSeamPosture::Continue);
    let surface = surface.with_points([
        InterceptionPoint::PreModelCall,
        InterceptionPoint::PostModelCall,
        InterceptionPoint::PreToolCall,
        InterceptionPoint::PostToolCall,
    ]);
    match output {
        Output::Buffered => surface,
        Output::Incremental { .. } => surface.with_exposure_bound(BOUND),
    }
}

/// Returns the declaration of what the host can do, with nothing bound: what a claim of conformance cites, and where a
/// declaration of your own may begin.
#[must_use]
pub fn declaration(output: Output) -> Value {
    let can = surface(output);
    let mut stated = json!({
        "interception_points": can.interception_points,
        "capabilities": can.capabilities,
        "profiles": can.profiles,
        "buffered_output": output == Output::Buffered,
        "declaration_versions": can.declaration_versions,
    });
    if let Some(bound) = &can.exposure_bound {
        stated["exposure_bound"] = json!(bound);
    }
    json!({
        "declaration": DECLARATION_VERSION,
        "spec": SPEC_VERSION,
        "id": "hooks-agent",
        "host": { "name": "hooks-agent", "version": env!("CARGO_PKG_VERSION") },
        "configuration": {
            "mode": "enforce",
            "composition": { "profile": "sequential/first_deny", "on_approval": "stop" },
            "identity_provider": agent_hooks::JCS_SHA256,
            "approval": { "resolver": null, "redactor": null },
            "posture": { "tool_seam_host_error": "continue" },
            "timeouts": { "interceptor_ms": 5000, "approval_resolver_ms": null },
            "records": { "max_buffered": null },
        },
        "surface": stated,
        "bindings": [],
        "extensions": {},
    })
}
