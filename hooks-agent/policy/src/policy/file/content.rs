//! The content of a policy file.

use std::ops::Range;

use hooks_agent_core::options::{Globs, Key, Node, Value, list_of};
use serde::Serialize;

use crate::policy::file::document::{Document, Problems};
use crate::policy::file::fields::Fields;
use crate::policy::file::variables::resolve;

const FILE_KEYS: [&str; 8] =
    ["version", "on_failure", "hook", "command", "limits", "rules", "vars", "rule"];
const HOOK_KEYS: [&str; 7] = ["use", "name", "agents", "priority", "inherit", "enabled", "with"];
const LIMIT_KEYS: [&str; 2] = ["max_iters", "deny_tools"];
const COMMAND_KEYS: [&str; 11] = [
    "event",
    "matcher",
    "if",
    "exec",
    "command",
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
    pub(crate) hooks: Vec<HookTable>,
    pub(crate) commands: Vec<CommandTable>,
    pub(crate) limits: LimitsTable,
}

/// A `[[hook]]`.
pub(crate) struct HookTable {
    /// The path of the table, such as `hook[0]`; empty for the rules of the file.
    pub(crate) path: String,
    pub(crate) starts: Starts,
    pub(crate) uses: String,
    pub(crate) name: String,
    pub(crate) agents: Globs,
    pub(crate) priority: Option<i32>,
    pub(crate) inherits: Option<bool>,
    pub(crate) is_enabled: bool,
    /// A table, with the values of the environment.
    pub(crate) options: Node,
}

/// Where the parts of a table begin, in bytes.
pub(crate) struct Starts {
    pub(crate) table: usize,
    pub(crate) uses: usize,
    pub(crate) name: usize,
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
        hooks.extend(HookTable::of_rules(&file, document, problems));
        let commands = file.tables("command", &COMMAND_KEYS, problems);
        let commands = commands.iter().map(CommandTable::of).collect();
        let limits = file.table("limits", &LIMIT_KEYS, problems);
        let limits = limits.map(|limits| LimitsTable::read(&limits, problems));
        Self {
            on_failure: on_failure(&file, problems),
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

impl HookTable {
    fn read(fields: &Fields<'_>, problems: &mut Problems<'_>) -> Option<Self> {
        let uses = fields.text("use", problems);
        if fields.get("use").is_none() {
            fields.missing("use", "use = \"pii_detection\"", problems);
        }
        let name = fields.text("name", problems);
        let is_unfit = |name: &str| name.trim().is_empty() || name.contains(char::is_control);
        if let Some((_, node)) = name.filter(|(name, _)| is_unfit(name)) {
            let message = "expected a name of visible characters";
            problems.add(node.span.start, fields.path_of("name"), message);
        }
        let agents = agents(fields, problems);
        let priority = fields.number("priority", "a whole number of 32 bits", problems);
        let inherits = fields.boolean("inherit", problems);
        let is_enabled = fields.boolean("enabled", problems).unwrap_or(true);
        let mut options = options(fields, problems);
        if let Some(options) = &mut options {
            resolve(options, &fields.path_of("with"), problems);
        }
        let (uses, uses_node) = uses?;
        let (name, name_node) = name.unwrap_or((uses, uses_node));
        let starts = Starts {
            table: fields.span.start,
            uses: uses_node.span.start,
            name: name_node.span.start,
        };
        Some(Self {
            path: fields.path.clone(),
            starts,
            uses: uses.to_owned(),
            name: name.to_owned(),
            agents: agents?,
            priority,
            inherits,
            is_enabled,
            options: options?,
        })
    }
}

/// The keys of a file that are options of the hook `rules`.
const RULE_KEYS: [&str; 3] = ["rules", "vars", "rule"];

impl HookTable {
    /// The name that the hook of a file's rules uses.
    pub(crate) const RULES: &str = "rules";

    /// Returns the hook of the rules of a file, if it has any.
    fn of_rules(
        file: &Fields<'_>,
        document: &Document,
        problems: &mut Problems<'_>,
    ) -> Option<Self> {
        let own = file.entries.iter().filter(|(key, _)| RULE_KEYS.contains(&key.name.as_str()));
        let mut entries: Vec<_> = own.cloned().collect();
        let span = entries.first().map(|(key, _)| key.span.clone())?;
        for (key, node) in &mut entries {
            resolve(node, &key.name, problems);
        }
        // What ran is kept apart for each file.
        let name = format!("{} of {}", Self::RULES, document.file);
        let key = Key { name: "counter".to_owned(), span: span.clone() };
        let counter = Value::Text { raw: name.clone(), resolved: None, is_secret: false };
        entries.push((key, Node { span: span.clone(), value: counter }));
        let at = span.start;
        Some(Self {
            path: String::new(),
            starts: Starts { table: at, uses: at, name: at },
            uses: Self::RULES.to_owned(),
            name,
            agents: Globs::all(),
            priority: None,
            inherits: None,
            is_enabled: true,
            options: Node { span, value: Value::Table(entries) },
        })
    }

    /// Returns the path of an option, such as `hook[0].with.kinds` or `rule[0].when`.
    pub(crate) fn path_of(&self, option: impl FnOnce(&str) -> String) -> String {
        match self.path.as_str() {
            "" => option("").trim_start_matches('.').to_owned(),
            path => option(&format!("{path}.with")),
        }
    }

    /// Returns whether it is the hook of the rules of a file.
    pub(crate) fn is_rules(&self) -> bool {
        self.path.is_empty()
    }
}

/// Returns the table `with`, which is empty if there is none.
fn options(fields: &Fields<'_>, problems: &mut Problems<'_>) -> Option<Node> {
    match fields.get("with") {
        None => Some(Node::empty_table(fields.span.clone())),
        Some(node) if matches!(node.value, Value::Table(_)) => Some(node.clone()),
        Some(node) => {
            let message = format!("expected a table such as `{{ a = 1 }}`, found {}", node.kind());
            problems.add(node.span.start, fields.path_of("with"), message);
            None
        }
    }
}

fn agents(fields: &Fields<'_>, problems: &mut Problems<'_>) -> Option<Globs> {
    let Some(node) = fields.get("agents") else { return Some(Globs::all()) };
    let texts = fields.texts("agents", problems)?;
    if texts.is_empty() {
        let message = "expected at least one glob; leave `agents` out for all agents";
        problems.add(node.span.start, fields.path_of("agents"), message);
        return None;
    }
    let path = fields.path_of("agents");
    let globs = texts.iter().map(|(text, _)| (*text).to_owned()).collect();
    Globs::new(globs, |index, why| {
        problems.add(texts[index].1.span.start, format!("{path}[{index}]"), why);
    })
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
