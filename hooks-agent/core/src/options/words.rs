//! Words of errors about files.

use std::fmt::Write as _;

use crate::text::near_name;

/// Returns `unknown WHAT NAME`, the near name and what was expected.
pub fn list_of<'a>(
    what: &str,
    name: Option<&str>,
    known: impl IntoIterator<Item = &'a str> + Clone,
) -> String {
    let mut text = format!("unknown {what}");
    let mut end = ";";
    if let Some(name) = name {
        let cut: String = name.chars().take(64).collect();
        let _ = write!(text, " `{}`", cut.escape_debug());
        if let Some(near) = near_name(name, known.clone()) {
            let _ = write!(text, ", did you mean `{near}`");
            end = "?";
        }
    }
    let known: Vec<_> = known.into_iter().map(|it| format!("`{it}`")).collect();
    let expected = match known.as_slice() {
        [] => "none",
        [one] => one,
        _ => &format!("one of {}", known.join(", ")),
    };
    let _ = write!(text, "{end} expected {expected}");
    text
}

/// Returns a key of a file as it may be printed.
#[must_use]
pub fn shown_key(name: &str) -> String {
    let cut: String = name.chars().take(64).collect();
    cut.escape_debug().to_string()
}
