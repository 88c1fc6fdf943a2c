//! Gathers errors, so that one run of the compiler shows them all.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::Error;

/// The errors found so far.
#[derive(Default)]
pub(crate) struct Errors {
    first: Option<Error>,
}

impl Errors {
    /// Adds an error at the given tokens.
    pub(crate) fn at(&mut self, tokens: impl ToTokens, message: impl std::fmt::Display) {
        self.add(Error::new_spanned(tokens, message));
    }

    /// Adds an error.
    pub(crate) fn add(&mut self, error: Error) {
        match &mut self.first {
            Some(first) => first.combine(error),
            None => self.first = Some(error),
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.first.as_ref().map_or(0, |first| first.into_iter().count())
    }

    /// The value, or what is wrong and the tokens that say so.
    pub(crate) fn or<T>(self, value: T) -> Result<T, TokenStream> {
        self.first.map_or(Ok(value), |error| Err(error.into_compile_error()))
    }
}

/// The name that was probably meant, as the end of a message.
///
/// `("derives", &["derive", "crate"])` gives ``, did you mean `derive`?``.
pub(crate) fn suggestion(written: &str, known: &[&str]) -> String {
    let nearest = known.iter().min_by_key(|name| distance(written, name));
    match nearest.filter(|name| distance(written, name) <= 3) {
        Some(name) => format!(", did you mean `{name}`?"),
        None => {
            let known: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
            format!(", expected {}", known.join(", "))
        }
    }
}

/// The known name that somebody who wrote another one may have meant.
pub(crate) fn near<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let nearest = known.into_iter().map(|name| (distance(written, name), name)).min();
    nearest.filter(|(distance, _)| *distance <= 2).map(|(_, name)| name)
}

/// How many characters must be added, taken away or changed to make one text of the other.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<_> = right.chars().collect();
    let mut row: Vec<_> = (0..=right.len()).collect();
    for (index, from) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, to) in right.iter().enumerate() {
            let change = diagonal + usize::from(from != *to);
            diagonal = row[column + 1];
            row[column + 1] = change.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[right.len()]
}
