//! TOML as values with their places.

use hooks_agent_core::options::{Key, Node, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Returns the entries of a table in the order of the file.
pub(super) fn entries_of(table: DeTable<'_>) -> Vec<(Key, Node)> {
    let mut entries: Vec<_> = table
        .into_iter()
        .map(|(key, value)| {
            let span = key.span();
            (Key { name: key.into_inner().into_owned(), span }, node(value))
        })
        .collect();
    entries.sort_by_key(|(key, _)| key.span.start);
    entries
}

fn node(value: Spanned<DeValue<'_>>) -> Node {
    let span = value.span();
    let value = match value.into_inner() {
        DeValue::String(text) => {
            Value::Text { raw: text.into_owned(), resolved: None, is_secret: false }
        }
        DeValue::Integer(number) => i128::from_str_radix(number.as_str(), number.radix())
            .map_or(Value::Other("a number that is too large"), Value::Integer),
        DeValue::Float(number) => {
            number.as_str().parse().map_or(Value::Other("a number that is too large"), Value::Float)
        }
        DeValue::Boolean(it) => Value::Boolean(it),
        DeValue::Datetime(_) => Value::Other("a date"),
        DeValue::Array(list) => Value::List(list.into_iter().map(node).collect()),
        DeValue::Table(table) => Value::Table(entries_of(table)),
    };
    Node { span, value }
}
