//! The content of a policy file.

use std::ops::Range;

use hooks_agent_core::options::{Globs, Key, Node, Value, list_of};
use serde::Serialize;

use crate::policy::file::document::{Document, Problems};
use crate::policy::file::fields::Fields;
use crate::policy::file::hook_table::{HOOK_KEYS, HookTable};
use crate::policy::file::rules::{of_quotas, of_rules};

const FILE_KEYS: [&str; 11] = [
    "version",
    "mode",
    "on_failure",
    "hook",
    "command",
    "limits",
    "rules",
    "vars",
    "rule",
    "quotas",
    "quota",
];
const LIMIT_KEYS: [&str; 2] = ["max_iters", "deny_tools"];
const COMMAND_KEYS: [&str; 14] = [
    "event",
    "matcher",
    "if",
    "exec",
    "command",
    "url",
    "headers",
    "prompt",
    "timeout",
    "on_failure",
    "env",
    "pass_env",
    "sequence",
    "name",
];

/// What becomes of what a command hook guards if the hook fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OnFailure {
    Block,
    Continue,
}

/// What a policy file says.
#[derive(Default)]
pub(crate) struct FileContent {
    pub(crate) on_failure: Option<(OnFailure, usize)>,
    /// Whether all of it is in shadow.
    pub(crate) is_shadow: bool,
    pub(crate) hooks: Vec<HookTable>,
    pub(crate) commands: Vec<CommandTable>,
    pub(crate) limits: LimitsTable,
}

/// A `[[command]]`: a table whose keys are checked and whose values are not.
pub(crate) struct CommandTable {
    path: String,
    span: Range<usize>,
    entries: Vec<(Key, Node)>,
}

/// The `[limits]`.
#[derive(Default)]
pub(crate) struct LimitsTable {
    pub(crate) max_iters: Option<(usize, usize)>,
    /// The globs of tools, each with its place.
    pub(crate) deny_tools: Vec<(String, usize)>,
}

impl FileContent {
    /// Reads a file, and reports everything that is wrong with it.
    pub(crate) fn read(document: &Document, problems: &mut Problems<'_>) -> Self {
        let Some(entries) = document.parse(problems) else { return Self::default() };
        // The keys of another version mean something else.
        if !is_this_version(&entries, problems) {
            return Self::default();
        }
        let file = Fields::new(String::new(), 0..0, &entries, &FILE_KEYS, problems);
        let hooks = file.tables("hook", &HOOK_KEYS, problems);
        let mut hooks: Vec<_> =
            hooks.iter().filter_map(|hook| HookTable::read(hook, problems)).collect();
        hooks.extend(of_rules(&file, document, problems));
        hooks.extend(of_quotas(&file, document, problems));
        let commands = file.tables("command", &COMMAND_KEYS, problems);
        let commands = commands.iter().map(CommandTable::of).collect();
        let limits = file.table("limits", &LIMIT_KEYS, problems);
        let limits = limits.map(|limits| LimitsTable::read(&limits, problems));
        Self {
            on_failure: on_failure(&file, problems),
            is_shadow: file.is_shadow(problems),
            hooks,
            commands,
            limits: limits.unwrap_or_default(),
        }
    }
}

fn is_this_version(entries: &[(Key, Node)], problems: &mut Problems<'_>) -> bool {
    match entries.iter().find(|(key, _)| key.name == "version") {
        Some((_, Node { value: Value::Integer(1), .. })) => true,
        Some((_, node)) => {
            let found = match &node.value {
                Value::Integer(number) => format!("version {number}"),
                _ => node.kind().to_owned(),
            };
            let message = format!("expected `version = 1`, found {found}");
            problems.add(node.span.start, "version", message);
            false
        }
        None => {
            problems.add(
                0,
                "version",
                "missing key `version`; write `version = 1` in the first line",
            );
            false
        }
    }
}

/// Reads what becomes of failures.
pub(crate) fn on_failure(
    fields: &Fields<'_>,
    problems: &mut Problems<'_>,
) -> Option<(OnFailure, usize)> {
    let (text, node) = fields.text("on_failure", problems)?;
    let at = node.span.start;
    match text {
        "block" => Some((OnFailure::Block, at)),
        "continue" => Some((OnFailure::Continue, at)),
        other => {
            let message = list_of("value", Some(other), ["block", "continue"]);
            problems.add(at, fields.path_of("on_failure"), message);
            None
        }
    }
}

impl LimitsTable {
    fn read(fields: &Fields<'_>, problems: &mut Problems<'_>) -> Self {
        let what = "a whole number from 1";
        let max_iters: Option<usize> = fields.number("max_iters", what, problems);
        let at = fields.get("max_iters").map_or(0, |node| node.span.start);
        if max_iters == Some(0) {
            let message = format!("expected {what}, found 0");
            problems.add(at, fields.path_of("max_iters"), message);
        }
        let tools = fields.texts("deny_tools", problems).unwrap_or_default();
        let mut deny_tools = Vec::new();
        for (index, (text, node)) in tools.into_iter().enumerate() {
            let path = format!("{}[{index}]", fields.path_of("deny_tools"));
            let at = node.span.start;
            if text.starts_with('!') {
                problems.add(at, path, "expected the name or the glob of a tool, without `!`");
            } else if Globs::new(vec![text.to_owned()], |_, why| problems.add(at, &*path, why))
                .is_some()
            {
                deny_tools.push((text.to_owned(), at));
            }
        }
        Self { max_iters: max_iters.map(|number| (number, at)), deny_tools }
    }
}

impl CommandTable {
    pub(crate) fn fields(&self) -> Fields<'_> {
        let Self { path, span, entries } = self;
        Fields { path: path.clone(), span: span.clone(), entries }
    }

    fn of(fields: &Fields<'_>) -> Self {
        Self {
            path: fields.path.clone(),
            span: fields.span.clone(),
            entries: fields.entries.to_vec(),
        }
    }
}
