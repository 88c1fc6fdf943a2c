//! Texts of error messages: names that were meant, and sentences that go on.

/// Returns the name that is nearest to one that is not known, if one is near.
///
/// ```
/// use hooks_agent_core::text::near_name;
///
/// assert_eq!(near_name("serch", ["search", "delete"]), Some("search"));
/// assert_eq!(near_name("paint", ["search", "delete"]), None);
/// ```
#[must_use]
pub fn near_name<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    near(name, known, (name.chars().count() / 3).max(1))
}

/// Returns the name that a misspelt one stands for: one or two letters differ, or their case. A name that is
/// known stands for itself.
///
/// ```
/// use hooks_agent_core::text::misspelt;
///
/// assert_eq!(misspelt("timeOut", ["timeout", "command"]), Some("timeout"));
/// assert_eq!(misspelt("timeout", ["timeout", "command"]), None);
/// ```
#[must_use]
pub fn misspelt<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str> + Clone,
) -> Option<&'a str> {
    let is_known = known.clone().into_iter().any(|it| it == name);
    let most = if name.chars().count() < 8 { 1 } else { 2 };
    near(name, known, most).filter(|_| !is_known)
}

fn near<'a>(name: &str, known: impl IntoIterator<Item = &'a str>, most: usize) -> Option<&'a str> {
    // A long name is no slip of the finger, and comparing costs its length squared.
    if name.len() > 64 {
        return None;
    }
    let lower = name.to_lowercase();
    let distances =
        known.into_iter().map(|it| (strsim::damerau_levenshtein(&lower, &it.to_lowercase()), it));
    let nearest = distances.min_by_key(|(distance, _)| *distance)?;
    (nearest.0 <= most).then_some(nearest.1)
}

/// Returns a sentence without its full stop, to go on after it. A message that was shortened keeps its dots.
///
/// ```
/// use hooks_agent_core::text::without_full_stop;
///
/// assert_eq!(without_full_stop("Slow down."), "Slow down");
/// assert_eq!(without_full_stop("Slow d..."), "Slow d...");
/// ```
#[must_use]
pub fn without_full_stop(message: &str) -> &str {
    let sentence = message.strip_suffix('.').filter(|sentence| !sentence.ends_with('.'));
    sentence.unwrap_or(message)
}
