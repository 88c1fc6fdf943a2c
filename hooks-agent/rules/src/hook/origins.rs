//! Where arguments came from, for rules that ask.

#[cfg(feature = "provenance")]
use std::cell::OnceCell;
#[cfg(feature = "provenance")]
use std::sync::Arc;

use hooks_agent_core::call::CallContext;
use serde_json::Value;

#[cfg(feature = "provenance")]
use crate::provenance::{Sources, Tracer};

/// Where the arguments of a tool call came from, as the hook `Provenance` of its agent knows.
pub(super) struct Origins<'a> {
    #[cfg_attr(not(feature = "provenance"), expect(dead_code, reason = "nothing traces"))]
    cx: &'a CallContext,
    #[cfg_attr(not(feature = "provenance"), expect(dead_code, reason = "nothing traces"))]
    args: &'a Value,
    /// Whether tool calls of the answer run already.
    #[cfg_attr(not(feature = "provenance"), expect(dead_code, reason = "nothing traces"))]
    runs: bool,
    #[cfg(feature = "provenance")]
    sources: OnceCell<Result<Arc<Sources>, String>>,
}

impl<'a> Origins<'a> {
    pub(super) fn new(cx: &'a CallContext, args: &'a Value, runs: bool) -> Self {
        Self {
            cx,
            args,
            runs,
            #[cfg(feature = "provenance")]
            sources: OnceCell::new(),
        }
    }

    /// Returns the names of the sources of an argument, by its path.
    #[cfg(feature = "provenance")]
    pub(super) fn of(&self, path: &str) -> Result<Vec<&'static str>, String> {
        let mut value = self.args;
        for field in path.split('.') {
            value = value.get(field).ok_or_else(|| format!("there is no `args.{path}`"))?;
        }
        let tracer = self.cx.get::<Tracer>();
        let tracer =
            tracer.ok_or("`origin` needs the hook `provenance`, and the agent has none")?;
        let sources = self.sources.get_or_init(|| tracer.sources(self.cx, self.runs));
        let name = path.rsplit('.').next().unwrap_or_default();
        tracer.origins(sources.as_ref().map_err(Clone::clone)?, name, value)
    }

    #[cfg(not(feature = "provenance"))]
    pub(super) fn of(&self, _: &str) -> Result<Vec<&'static str>, String> {
        Err("`origin` needs the feature `provenance`".to_owned())
    }
}
