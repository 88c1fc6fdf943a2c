//! Names and globs of rules.

use hooks_agent_core::options::Globs;
use unicode_security::MixedScript;

/// The longest name or reason, in bytes.
const LONGEST: usize = 1024;

/// Refuses a name that reads like another one.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    if name.trim().is_empty() || name.chars().any(char::is_control) {
        return Err("expected a name of visible characters".to_owned());
    }
    if name.len() > LONGEST {
        return Err(format!("expected at most {LONGEST} bytes, found {}", name.len()));
    }
    let mut words = name.split(|it: char| !it.is_alphanumeric());
    match words.find(|word| !word.is_single_script()) {
        Some(word) => {
            let word = word.chars().take(64).collect::<String>();
            Err(format!("`{word}` mixes letters of several scripts, which read alike"))
        }
        None => Ok(()),
    }
}

/// Checks a glob.
#[cfg(feature = "policy")]
pub(crate) fn check_glob(text: &str) -> Result<(), String> {
    check_globs(&[text.to_owned()]).map(drop).map_err(|(_, why)| why)
}

/// Checks globs, and returns the place of the first mistake.
pub(crate) fn check_globs(texts: &[String]) -> Result<Globs, (usize, String)> {
    for (index, text) in texts.iter().enumerate() {
        check_name(text).map_err(|why| (index, why))?;
    }
    let mut first = None;
    let globs = Globs::new(texts.to_vec(), |index, why| {
        first.get_or_insert((index, why));
    });
    match (globs, first) {
        (Some(globs), None) => Ok(globs),
        (_, first) => Err(first.unwrap_or((0, "expected globs".to_owned()))),
    }
}

/// Returns what a text is answered with that is no time zone.
pub(crate) fn unknown_zone(name: &str) -> String {
    let name: String = name.chars().take(64).collect();
    format!("expected a time zone such as `Europe/Berlin`, found `{}`", name.escape_debug())
}
