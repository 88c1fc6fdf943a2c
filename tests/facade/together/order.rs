//! The documented order is the one of the plan, and it has no warnings.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;

use hooks_agent::builtin::guard::{PiiDetection, Vault};
use hooks_agent::builtin::limit::{Budget, ModelCallLimit, RateLimit, ToolCallLimit};
use hooks_agent::builtin::observe::{AuditLog, JsonlTrace, Logging, Monitoring, Timing};
use hooks_agent::builtin::recover::{ModelRetry, ToolEmulator, ToolRetry};
use hooks_agent::prelude::*;
use hooks_agent::react::ReActAgentBuilder;
use hooks_agent::testing::Calls;
use hooks_core::HookPlan;
use tempfile::TempDir;

use crate::agents::{MINUTE, guards, limits, observers, recovery};

/// Every built-in with a place in the order, from the first to the last.
const ORDER: [(&str, i32); 30] = [
    ("EgressGuard", 10),
    ("McpPins", 10),
    ("PiiDetection", 10),
    ("Sanitize", 10),
    ("Secrets", 10),
    ("SensitiveWords", 10),
    ("Judge", 15),
    ("ToolApproval", 20),
    ("Rules", 25),
    ("RuleOfTwo", 30),
    ("Provenance", 32),
    ("InjectPrompt", 80),
    ("ModelRetry", 150),
    ("ToolRetry", 150),
    ("Budget", 200),
    ("ModelCallLimit", 200),
    ("RateLimit", 200),
    ("ToolCallLimit", 200),
    ("ModelFallback", 250),
    ("CircuitBreaker", 300),
    ("Spotlight", 300),
    ("ToolEmulator", 350),
    ("Logging", 500),
    ("Monitoring", 600),
    ("OpenTelemetry", 600),
    ("Studio", 600),
    ("Timing", 600),
    ("AuditLog", 700),
    ("JsonlTrace", 900),
    ("ToolParams", 950),
];

fn fixed() -> ScriptedModel {
    ScriptedModel::new("fixed", |_| "done")
}

/// An agent with the tools that the settings of the hooks name.
fn bare() -> ReActAgentBuilder {
    let tools = ["browse", "look", "send", "inner", "middle"].map(Calls::new);
    tools.into_iter().fold(ReActAgent::builder("bot").model(fixed()), ReActAgentBuilder::tool)
}

/// A file for a log, and the folder that it goes with.
fn log_path() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    (folder, path)
}

fn with_everything(path: &PathBuf) -> ReActAgentBuilder {
    let builder = observers(bare(), io::empty(), &Monitoring::new());
    let builder = builder.hook(AuditLog::builder(path).content(true).open().unwrap());
    let builder = recovery(limits(guards(builder, &Vault::new())), fixed());
    builder.hook(ToolEmulator::new(fixed()))
}

/// Returns the kind of a hook: its name without what is in brackets.
fn kind(name: &str) -> &str {
    name.split('[').next().unwrap()
}

/// Returns the hooks of each hook type in the order of the plan.
fn by_type(plan: &HookPlan) -> BTreeMap<String, Vec<(String, i32)>> {
    let mut types: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for hook in plan.hooks() {
        let hooks = types.entry(hook.hook_type().to_string()).or_default();
        hooks.push((kind(hook.name()).to_owned(), hook.priority()));
    }
    types
}

fn place(name: &str) -> i32 {
    let known = ORDER.iter().find(|(known, _)| *known == name);
    known.unwrap_or_else(|| panic!("`{name}` has no place in the order")).1
}

#[test]
fn the_default_order_has_no_warnings() {
    let (_folder, path) = log_path();
    let agent = with_everything(&path).build().unwrap();
    let warnings: Vec<_> = agent.hook_plan().warnings().iter().map(ToString::to_string).collect();
    assert_eq!(warnings, [""; 0]);
}

#[test]
fn the_plan_shows_all_built_ins_in_the_documented_order() {
    let (_folder, path) = log_path();
    let agent = with_everything(&path).build().unwrap();
    let types = by_type(&agent.hook_plan());
    for (hook_type, hooks) in &types {
        assert!(hooks.is_sorted_by_key(|(_, priority)| *priority), "{hook_type}: {hooks:?}");
        for (name, priority) in hooks {
            assert_eq!(*priority, place(name), "{hook_type}: {name}");
        }
    }
    let shown: BTreeSet<_> = types.values().flatten().map(|(name, _)| name.as_str()).collect();
    let all: BTreeSet<_> = ORDER.iter().map(|(name, _)| *name).collect();
    assert_eq!(shown, all);
}

/// Returns the names and priorities of the rows that have a priority.
fn documented(page: &str) -> Vec<(String, i32)> {
    let mut rows = Vec::new();
    for line in page.lines().filter(|line| line.starts_with('|')) {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        let Some(priority) = cells.iter().find_map(|cell| cell.parse().ok()) else { continue };
        let Some(names) = cells.iter().find(|cell| cell.contains('`')) else { continue };
        let names = names.split('`').skip(1).step_by(2);
        rows.extend(names.map(|name| (name.to_owned(), priority)));
    }
    rows
}

#[test]
fn the_tables_of_the_pages_agree_with_the_plan() {
    let pages = [
        (include_str!("../../../hooks-agent/docs/builtin_guard.md"), 14),
        (include_str!("../../../hooks-agent/docs/builtin_recover.md"), 5),
        (include_str!("../../../hooks-agent/docs/builtin_observe.md"), 6),
    ];
    for (page, count) in pages {
        let rows = documented(page);
        assert_eq!(rows.len(), count, "{rows:?}");
        for (name, priority) in rows {
            assert_eq!(priority, place(&name), "{name}");
        }
    }
    let limits = include_str!("../../../hooks-agent/docs/builtin_limit.md");
    assert!(limits.contains("All run at priority 200."));
}

fn warnings(builder: ReActAgentBuilder) -> Vec<String> {
    let agent = builder.build().unwrap();
    agent.hook_plan().warnings().iter().map(ToString::to_string).collect()
}

#[test]
fn an_observer_of_content_before_a_redactor_is_a_warning() {
    let (_folder, path) = log_path();
    let redactor = || PiiDetection::email().everywhere();
    let audit = AuditLog::builder(&path).content(true).open().unwrap();
    let observed = [
        warnings(bare().hook(redactor()).hook(Logging::new().content(true).with_priority(5))),
        warnings(bare().hook(redactor()).hook(audit.with_priority(5))),
        warnings(bare().hook(redactor().with_priority(700)).hook(Logging::new().content(true))),
    ];
    for warnings in observed {
        let [warning] = &warnings[..] else { panic!("{warnings:?}") };
        assert!(warning.contains("observes") && warning.contains("`PiiDetection[email]`"));
    }
}

#[test]
fn observers_without_content_are_no_warning() {
    let (_folder, path) = log_path();
    let audit = AuditLog::builder(&path).open().unwrap();
    let builder = bare().hook(PiiDetection::email().everywhere().with_priority(950));
    let builder =
        builder.hook(Logging::new()).hook(Timing::new()).hook(Monitoring::new()).hook(audit);
    assert_eq!(warnings(builder), [""; 0]);
}

#[test]
fn a_limit_outside_of_a_retry_is_a_warning() {
    let of_models = |limit: &dyn Fn(ReActAgentBuilder) -> ReActAgentBuilder| {
        warnings(limit(bare().hook(ModelRetry::new())))
    };
    let calls = || ModelCallLimit::builder().run(1).build().unwrap();
    let budget = || Budget::builder().run_tokens(1).build().unwrap();
    let rate = || RateLimit::of_models().requests(1, MINUTE).build().unwrap();
    let found = [
        ("ModelCallLimit", of_models(&|it| it.hook(calls().with_priority(100)))),
        ("Budget", of_models(&|it| it.hook(budget().with_priority(100)))),
        ("RateLimit", of_models(&|it| it.hook(rate().with_priority(100)))),
    ];
    for (name, warnings) in found {
        let text = format!(
            "`{name}` (priority 100) counts a call of model_call once that `ModelRetry` (priority 150) \
             repeats: give `{name}` the higher priority"
        );
        assert_eq!(warnings, [text]);
    }
    let rate = RateLimit::of_tools().requests(1, MINUTE).build().unwrap();
    let tools = warnings(bare().hook(ToolRetry::new()).hook(rate.with_priority(100)));
    assert_eq!(tools.len(), 1, "{tools:?}");
    // A retry of tools does not repeat model calls, and a limit of tool calls counts each once.
    let limit = ToolCallLimit::all().run(1).build().unwrap().with_priority(100);
    let builder = bare().hook(ToolRetry::new()).hook(limit).hook(calls().with_priority(100));
    assert_eq!(warnings(builder), [""; 0]);
}

#[test]
fn a_trace_without_a_closure_that_redacts_is_an_observer_of_content() {
    let trace = JsonlTrace::to_writer(io::empty()).priority(5).open().unwrap();
    let found = warnings(bare().hook(PiiDetection::email().everywhere()).hook(trace));
    assert!(!found.is_empty());
}
