//! The agent as the runner of the vectors drives it.

use std::sync::{Arc, Mutex};

use agent_hooks::ctk::{
    DeclarationError, Harness, HostRegistry, IdentityPair, RunRecord, VectorSetup,
};
use agent_hooks::{
    AgentContext, ApprovalRequest, ApprovalResolution, ApprovalResolver, EnforcementMode,
    HostDeclaration, HostSurface, InterceptionRecord, Interceptor, Transform, Verdict,
    apply_transform_to_ctx,
};
use async_trait::async_trait;
use futures::StreamExt;
use hooks_agent_core::prelude::*;
use hooks_agent_interceptors::{Blocked, Interceptors, Output, Segment, surface};
use serde_json::{Value, json};

use crate::agent::{Invoked, ScenarioModel, ScenarioTool};

/// An agent with interceptors, as a harness.
pub(crate) struct AgentHarness {
    output: Output,
    run: Option<Run>,
    /// What the runner does not look at.
    pub(crate) seen: Seen,
}

/// What a run has released and kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// The text in the stream, in order.
    pub(crate) released: String,
    /// Memory, as JSON.
    pub(crate) persisted: String,
}

struct Run {
    agent: ReActAgent,
    scenario: Value,
    invoked: Invoked,
    records: Arc<Mutex<Vec<InterceptionRecord>>>,
}

impl AgentHarness {
    pub(crate) fn buffered() -> Self {
        Self { output: Output::Buffered, run: None, seen: Seen::default() }
    }

    pub(crate) fn incremental() -> Self {
        // In the vectors each chunk is a segment.
        let output = Output::Incremental { segment: Segment::Chunk };
        Self { output, run: None, seen: Seen::default() }
    }

    fn begin(&mut self, scenario: Value, interceptors: Interceptors) {
        let records = Arc::new(Mutex::new(Vec::new()));
        let invoked = Invoked::default();
        let mut builder = ReActAgent::builder("scenario").model(ScenarioModel::new(&scenario));
        for tool in ScenarioTool::all(&scenario, &invoked) {
            builder = builder.tool(tool);
        }
        let agent = builder.hook(interceptors.records(records.clone())).build();
        self.run = Some(Run { agent: agent.unwrap(), scenario, invoked, records });
    }
}

#[async_trait]
impl Harness for AgentHarness {
    fn name(&self) -> &'static str {
        "hooks-agent"
    }

    fn capabilities(&self) -> Vec<String> {
        self.host_surface().capabilities.into_iter().collect()
    }

    fn host_surface(&self) -> HostSurface {
        surface(self.output)
    }

    fn declaration(&self) -> Option<Value> {
        Some(hooks_agent_interceptors::declaration(self.output))
    }

    fn setup(&mut self, setup: VectorSetup) {
        let mut interceptors = Interceptors::new(setup.composition)
            .output(self.output)
            .evaluate_only(setup.mode == EnforcementMode::EvaluateOnly)
            .identity(setup.identity_provider.into());
        for (number, interceptor) in setup.interceptors.into_iter().enumerate() {
            interceptors = interceptors.add(format!("interceptor-{number}"), Boxed(interceptor));
        }
        if let Some(resolver) = setup.resolver {
            interceptors = interceptors.resolver(BoxedResolver(resolver));
        }
        let paths = setup.redact_for_approval;
        if !paths.is_empty() {
            interceptors = interceptors.redact(move |context| redacted(context, &paths));
        }
        self.begin(setup.scenario, interceptors);
    }

    fn setup_declared(
        &mut self,
        setup: VectorSetup,
        document: Value,
        registry: HostRegistry,
    ) -> Result<(), DeclarationError> {
        let declaration = HostDeclaration::from_value(document)?;
        let mut interceptors = Interceptors::declared(declaration, registry)?;
        let declared = interceptors.declaration().expect("it is declared");
        if !declared.surface.buffered_output {
            interceptors = interceptors.output(self.output);
        }
        self.begin(setup.scenario, interceptors);
        Ok(())
    }

    async fn run(&mut self) -> RunRecord {
        let run = self.run.as_ref().expect("it is set up");
        let input = &run.scenario["input"];
        assert_eq!(input["role"], "user", "a new kind of input");
        let message = Msg::user(input["content"].as_str().expect("a text"));
        let mut released = String::new();
        let mut stream = run.agent.stream(message);
        let mut ended = None;
        while let Some(event) = stream.next().await {
            match event.map(|event| event.kind) {
                Ok(AgentEventKind::ReasoningChunk(ContentBlock::Text { text })) => {
                    released.push_str(&text);
                }
                Ok(AgentEventKind::Finished(reply)) => {
                    ended = Some(("completed", json!(reply.text())));
                }
                Err(error) if Blocked::find(&error).is_some() => {
                    ended = Some(("blocked", Value::Null));
                }
                Err(error) => panic!("the call failed: {error:?}"),
                Ok(_) => {}
            }
        }
        drop(stream);
        let (outcome, final_output) = ended.expect("the stream has an end");
        let mut records = run.records.lock().unwrap().clone();
        records.sort_by_key(|record| record.sequence);
        let memory = run.agent.memory_of(&run.agent.context(CallOptions::new())).unwrap();
        self.seen =
            Seen { released, persisted: serde_json::to_string(&memory.messages()).unwrap() };
        let identity = |record: &InterceptionRecord| IdentityPair {
            input_identity: record.input_identity.clone(),
            enforced_identity: record.enforced_identity.clone(),
        };
        RunRecord {
            outcome: outcome.to_owned(),
            final_output,
            tool_invocations: run.invoked.lock().unwrap().clone(),
            identities: records.iter().map(identity).collect(),
            records: records.iter().map(|it| serde_json::to_value(it).unwrap()).collect(),
            ..RunRecord::default()
        }
    }

    fn teardown(&mut self) {
        self.run = None;
    }
}

/// Returns a context in which the values at these paths are not shown.
fn redacted(context: &AgentContext, paths: &[String]) -> AgentContext {
    let mut context = context.clone();
    for path in paths {
        let transform = Transform { path: path.clone(), value: json!("[redacted]") };
        // What is not there is not shown.
        let _ = apply_transform_to_ctx(&mut context, &transform);
    }
    context
}

struct Boxed(Box<dyn Interceptor>);

#[async_trait]
impl Interceptor for Boxed {
    async fn intercept(&self, context: &AgentContext) -> Verdict {
        self.0.intercept(context).await
    }
}

struct BoxedResolver(Box<dyn ApprovalResolver>);

#[async_trait]
impl ApprovalResolver for BoxedResolver {
    async fn resolve(&self, request: ApprovalRequest<'_>) -> ApprovalResolution {
        self.0.resolve(request).await
    }
}
