//! The hooks of a policy file.

use hooks_agent_core::hooks_core::HookOrder;
use hooks_agent_core::hooks_core::options::Relation;
use hooks_agent_core::options::{Globs, Node, Value};

use crate::policy::file::document::Problems;
use crate::policy::file::fields::Fields;
use crate::policy::file::variables::resolve;

/// The keys of a `[[hook]]`.
pub(super) const HOOK_KEYS: [&str; 12] = [
    "use", "name", "agents", "priority", "before", "after", "requires", "parallel", "inherit",
    "enabled", "mode", "with",
];

/// A `[[hook]]`.
pub(crate) struct HookTable {
    /// The path of the table, such as `hook[0]`; empty if its options are keys of the file.
    pub(crate) path: String,
    pub(crate) starts: Starts,
    pub(crate) uses: String,
    pub(crate) name: String,
    pub(crate) agents: Globs,
    pub(crate) priority: Option<i32>,
    /// Where it stands by the names of others.
    pub(crate) order: HookOrder,
    /// Whether it runs at once with others.
    pub(crate) is_parallel: Option<bool>,
    pub(crate) inherits: Option<bool>,
    pub(crate) is_enabled: bool,
    /// Whether it runs in shadow.
    pub(crate) is_shadow: bool,
    /// A table, with the values of the environment.
    pub(crate) options: Node,
}

/// Where the parts of a table begin, in bytes.
pub(crate) struct Starts {
    pub(crate) table: usize,
    pub(crate) uses: usize,
    pub(crate) name: usize,
}

impl HookTable {
    pub(super) fn read(fields: &Fields<'_>, problems: &mut Problems<'_>) -> Option<Self> {
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
        let order = order(fields, problems);
        let is_parallel = fields.boolean("parallel", problems);
        let inherits = fields.boolean("inherit", problems);
        let is_enabled = fields.boolean("enabled", problems).unwrap_or(true);
        let is_shadow = fields.is_shadow(problems);
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
            order,
            is_parallel,
            inherits,
            is_enabled,
            is_shadow,
            options: options?,
        })
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

/// Returns where the hook stands by the names of others.
fn order(fields: &Fields<'_>, problems: &mut Problems<'_>) -> HookOrder {
    let mut order = HookOrder::new();
    for relation in [Relation::Before, Relation::After, Relation::Requires] {
        if fields.get(relation.as_str()).is_none() {
            continue;
        }
        for (name, _) in fields.texts(relation.as_str(), problems).into_iter().flatten() {
            order = order.with(relation, name);
        }
    }
    order
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
