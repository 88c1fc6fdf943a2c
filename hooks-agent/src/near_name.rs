//! Names that were meant.

/// Returns the name that is nearest to one that is not known, if one is near.
pub(crate) fn near_name<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    near(name, known, (name.chars().count() / 3).max(1))
}

/// Returns the name that a misspelt one stands for: one or two letters differ, or their case.
#[cfg(feature = "command")]
pub(crate) fn misspelt<'a>(
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
