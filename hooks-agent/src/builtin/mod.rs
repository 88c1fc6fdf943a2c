//! Built-in hooks, by what they are for. Each uses the public API only and is independent of the others.
//!
//! | hook | does | priority | feature |
//! |---|---|---|---|
//! | [`guard`] | | | |
//! | `PiiDetection` | finds personal data; redacts, masks, hashes or blocks it, or keeps it in a `Vault` | 10 | `pii` |
//! | `Secrets` | finds keys, tokens and passwords; redacts, masks, hashes or blocks them | 10 | `pii` |
//! | `SensitiveWords` | masks or blocks the words of a list | 10 | `words` |
//! | `Sanitize` | replaces patterns in what tools return | 10 | `pii` |
//! | `EgressGuard` | removes links to hosts that are not listed, or with text of private results | 10 | `rules` |
//! | `McpPins` | keeps tools of servers to what a person has pinned | 10 | |
//! | `Judge` | asks a model whether input, tool calls or answers meet a rubric | 15 | |
//! | `ToolApproval` | asks a decider before tools run | 20 | |
//! | `Rules` | goes by rules about tool calls, with conditions in CEL | 25 | `rules` |
//! | `RuleOfTwo` | keeps untrusted input, private data and changes of state apart | 30 | |
//! | `Provenance` | asks about arguments that others brought | 32 | `provenance` |
//! | `InjectPrompt` | adds rules to the system prompt | 80 | |
//! | `Spotlight` | marks foreign text as data | 300 | |
//! | `ToolParams` | adds arguments that only the tool receives | 950 | `secrets` |
//! | [`limit`] | | | |
//! | `ModelCallLimit` | limits model calls of a run or a thread | 200 | |
//! | `ToolCallLimit` | limits tool calls of a run or a thread | 200 | |
//! | `Budget` | limits tokens and money of a run, a thread or a day | 200 | |
//! | `Quotas` | limits calls, tool calls, tokens and money of users, teams, agents in an hour, a day or a month | 200 | `rules` |
//! | `RateLimit` | limits calls and tokens in a time | 200 | `rate-limit` |
//! | [`recover`] | | | |
//! | `ModelRetry`, `ToolRetry` | call again after an error that may pass | 150 | `retry` |
//! | `ModelFallback` | asks other models | 250 | |
//! | `CircuitBreaker` | refuses calls for a while after failures | 300 | |
//! | `ToolEmulator` | has a model play tools | 350 | |
//! | [`people`] | | | |
//! | `HumanInTheLoop` | asks people, whose decisions outlive the process | 20 | |
//! | [`context`] | | | |
//! | `Summarization` | replaces old messages of a thread by a summary | 60 | |
//! | `TodoList` | gives the model a list of what is to be done | 84 | |
//! | `ToolSelector` | picks the tools of a round | 95 | |
//! | `ContextEditing` | clears old results of tools in requests | 280 | |
//! | `AutoContext` | fits each request into a budget of tokens | 290 | |
//! | [`knowledge`] | | | |
//! | `Skills` | offers folders with instructions, read when a task needs them | 82 | `skills` |
//! | `LongTermMemory` | remembers users across threads | 83 | `sqlite`, `postgres` outlive the process |
//! | `Rag` | searches documents for each call, or as a tool | 90 | |
//! | [`answer`] | | | |
//! | `StructuredOutput` | holds answers to a type, for one call by `call_typed` | 110 | `structured-output` |
//! | `Streaming` | passes events on to a channel, as server-sent events, or to a callback | 650 | |
//! | [`control`] | | | |
//! | `MessagesHook` | replaces or appends messages, and jumps | 100 | |
//! | [`observe`] | | | |
//! | `Logging` | events as fields of `tracing`, or as lines | 500 | |
//! | `Timing` | how long each step took, as a struct | 600 | |
//! | `Monitoring` | metrics | 600 | `metrics` |
//! | `OpenTelemetry` | spans and metrics | 600 | `otel` |
//! | `AuditLog` | a log whose changes are found | 700 | `audit` |
//! | `JsonlTrace` | every event as a line of JSON | 900 | |
//! | [`connect`] | | | |
//! | `Studio` | a page that shows what agents do, and takes decisions | 600 | `studio` |
//! | `ag_ui` | an agent as a server of AG-UI, for front ends | | `ag-ui` |
//!
//! Lower priorities run first and, around a call, outside. The guides say why each hook stands where it
//! stands, and what it does not protect from:
//! [guard](crate::guide::builtin_guard), [people](crate::guide::builtin_people),
//! [limit](crate::guide::builtin_limit),
//! [recover](crate::guide::builtin_recover), [context](crate::guide::builtin_context),
//! [knowledge](crate::guide::builtin_knowledge), [answer](crate::guide::builtin_answer), [control](crate::guide::builtin_control),
//! [observe](crate::guide::builtin_observe).
//! [`AgentHookExt`](crate::hook::AgentHookExt) changes names, priorities and inheritance;
//! `agent.hook_plan()` shows the order of an agent, and its
//! [`warnings`](hooks_core::HookPlan::warnings) name hooks whose order defeats them. A hook around calls
//! that always passes them on says so by [`never_answers`](crate::hook::AgentHookExt::never_answers).
//!
//! Guards, limits and `HumanInTheLoop` also run in agents that are tools of their agent, except
//! `InjectPrompt`; so do `Streaming` and `OpenTelemetry`, and other observers do if they are
//! [inherited](crate::hook::AgentHookExt::inherited).

pub mod connect;
pub mod guard;
pub mod knowledge;
pub mod limit;
pub mod observe;

#[doc(inline)]
pub use hooks_agent_builtin::{answer, context, control, people, recover};
