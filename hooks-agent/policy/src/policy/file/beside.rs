//! Variables of rules in a file of their own.

use hooks_agent_core::options::{Key, Node, Value};
use toml::de::DeTable;

use crate::policy::file::document::{Document, Problems};
use crate::policy::file::toml::entries_of;

/// The key of `[rules]` that names the file.
const KEY: &str = "vars_file";

/// The file of variables beside a policy file.
#[derive(Clone)]
pub(crate) struct Beside {
    pub(crate) name: String,
    /// The text, or why it cannot be read.
    pub(crate) text: Result<String, String>,
}

/// Returns the name of the file of variables that a policy file names, if it does.
pub(crate) fn name_of(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| text.contains(KEY))?;
    let table = entries_of(DeTable::parse(text).ok()?.into_inner());
    let (_, rules) = table.into_iter().find(|(key, _)| key.name == "rules")?;
    match &rules.find(KEY)?.value {
        Value::Text { raw, .. } => Some(raw.clone()),
        _ => None,
    }
}

/// Takes the key out of `[rules]`, and adds the variables of its file to `[vars]`.
pub(super) fn add_vars(
    entries: &mut Vec<(Key, Node)>,
    document: &Document,
    problems: &mut Problems<'_>,
) {
    let rules = entries.iter_mut().find(|(key, _)| key.name == "rules");
    let Some(Value::Table(rules)) = rules.map(|(_, node)| &mut node.value) else { return };
    let Some(index) = rules.iter().position(|(key, _)| key.name == KEY) else { return };
    let (key, node) = rules.remove(index);
    let at = node.span.start;
    let path = format!("rules.{KEY}");
    let vars = match document.beside.as_ref().map(|beside| (&beside.name, &beside.text)) {
        // Another type than a text.
        None => Err(format!("expected a string, found {}", node.kind())),
        Some((name, Err(why))) => Err(format!("{name} {why}")),
        Some((name, Ok(text))) => match DeTable::parse(text) {
            Ok(table) => Ok(entries_of(table.into_inner())),
            Err(error) => {
                let before = error.span().and_then(|span| text.get(..span.start));
                let line = before.map_or(1, |before| before.matches('\n').count() + 1);
                Err(format!("{name}:{line}: {}", error.message().trim()))
            }
        },
    };
    let vars = match vars {
        Ok(vars) => vars,
        Err(why) => return problems.add(at, path, why),
    };
    let own = match entries.iter_mut().position(|(key, _)| key.name == "vars") {
        Some(index) => index,
        None => {
            let key = Key { name: "vars".to_owned(), span: key.span.clone() };
            entries.push((key, Node::empty_table(node.span.clone())));
            entries.len() - 1
        }
    };
    // Another value than a table is reported where it is read.
    let Value::Table(own) = &mut entries[own].1.value else { return };
    for (key, mut value) in vars {
        if own.iter().any(|(known, _)| known.name == key.name) {
            let message = format!("the variable `{}` is in `[vars]` too", key.name.escape_debug());
            problems.add(at, &*path, message);
            continue;
        }
        // Its place is where its file is named.
        move_to(&mut value, &node);
        own.push((Key { name: key.name, span: node.span.clone() }, value));
    }
}

fn move_to(value: &mut Node, node: &Node) {
    value.span = node.span.clone();
    match &mut value.value {
        Value::List(list) => list.iter_mut().for_each(|value| move_to(value, node)),
        Value::Table(entries) => {
            for (key, value) in entries {
                key.span = node.span.clone();
                move_to(value, node);
            }
        }
        _ => {}
    }
}
