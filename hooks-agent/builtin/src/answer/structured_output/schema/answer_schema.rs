//! The schema of an answer, and whether an answer fits it.

use std::fmt;

use jsonschema::Validator;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::answer::structured_output::error::StructuredOutputError;
use crate::answer::structured_output::schema::extract::{Opening, extract};
use crate::answer::structured_output::schema::problem::{Problem, add_problems, path_of_type};
use crate::answer::structured_output::schema::provider_form::ProviderForm;

/// How many problems of an answer are kept.
const MOST_PROBLEMS: usize = 20;

/// Checks whether a value is one of a type.
pub(in crate::answer::structured_output) type FitsType = fn(&Value) -> Result<(), Problem>;

/// The schema of an answer.
pub(in crate::answer::structured_output) struct AnswerSchema {
    pub(in crate::answer::structured_output) name: String,
    pub(in crate::answer::structured_output) schema: Value,
    /// The schema as providers accept it.
    pub(in crate::answer::structured_output) sent: ProviderForm,
    validator: Validator,
    /// Checks whether the value is one of the type, if there is one.
    fits_type: Option<FitsType>,
}

/// A value that fits, and its JSON as the model wrote it.
pub(in crate::answer::structured_output) struct Answer {
    pub(in crate::answer::structured_output) value: Value,
    pub(in crate::answer::structured_output) json: String,
}

impl AnswerSchema {
    pub(in crate::answer::structured_output) fn new(
        name: &str,
        schema: Value,
        fits_type: Option<FitsType>,
    ) -> Result<Self, StructuredOutputError> {
        let invalid =
            |reason: String| StructuredOutputError::Schema { name: name.to_owned(), reason };
        if !schema.is_object() {
            return Err(invalid("it is no JSON object".to_owned()));
        }
        let validator = jsonschema::validator_for(&schema).map_err(|error| {
            let at = error.instance_path().as_str();
            let place = if at.is_empty() { String::new() } else { format!("at `{at}`: ") };
            invalid(format!("{place}{error}"))
        })?;
        let sent = ProviderForm::of(&schema);
        Ok(Self { name: plain_name(name), schema, sent, validator, fits_type })
    }

    /// Returns with which brackets an answer may begin.
    pub(in crate::answer::structured_output) fn opening(&self) -> Opening {
        if self.sent.is_wrapped { Opening::Either } else { Opening::Object }
    }

    /// Returns the value of an answer, or what does not fit.
    pub(in crate::answer::structured_output) fn read(
        &self,
        text: &str,
    ) -> Result<Answer, Vec<Problem>> {
        let (value, range) = extract(text, self.opening()).map_err(|problem| vec![problem])?;
        let whole = |value| Answer { json: text[range].to_owned(), value };
        let Some(inner) = self.unwrapped(&value) else {
            return self.check(&value).map(|()| whole(value));
        };
        match self.check(inner) {
            Ok(()) => Ok(Answer { json: inner.to_string(), value: inner.clone() }),
            // The value may have such a field of its own.
            Err(problems) => self.check(&value).map(|()| whole(value)).map_err(|_| problems),
        }
    }

    /// Returns the value in the object that a provider was asked for in its place.
    pub(in crate::answer::structured_output) fn unwrapped<'a>(
        &self,
        value: &'a Value,
    ) -> Option<&'a Value> {
        let object =
            value.as_object().filter(|object| self.sent.is_wrapped && object.len() <= 1)?;
        object.get(ProviderForm::FIELD)
    }

    fn check(&self, value: &Value) -> Result<(), Vec<Problem>> {
        let mut problems = Vec::new();
        for error in self.validator.iter_errors(value) {
            add_problems(&error, &mut problems);
            if problems.len() >= MOST_PROBLEMS {
                break;
            }
        }
        problems.truncate(MOST_PROBLEMS);
        if problems.is_empty()
            && let Some(Err(problem)) = self.fits_type.map(|fits| fits(value))
        {
            problems.push(problem);
        }
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }
}

/// Checks whether a value is one of the type.
pub(in crate::answer::structured_output) fn fits<T: DeserializeOwned>(
    value: &Value,
) -> Result<(), Problem> {
    typed::<T>(value).map(drop)
}

/// Reads a value as one of the type.
pub(in crate::answer::structured_output) fn typed<T: DeserializeOwned>(
    value: &Value,
) -> Result<T, Problem> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = path_of_type(error.path());
        Problem::new(path, words(&error.into_inner().to_string()))
    })
}

/// Returns the words of an error of serde without the value that it quotes.
fn words(error: &str) -> String {
    let quotes = ["invalid type: ", "invalid value: ", "invalid length ", "unknown variant "];
    match error.rsplit_once(", expected ") {
        Some((before, expected)) if quotes.iter().any(|quote| before.starts_with(quote)) => {
            format!("{expected} is expected")
        }
        _ => error.to_owned(),
    }
}

/// Returns a name of letters, digits, `_` and `-`, as providers require.
fn plain_name(name: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || char == '_' || char == '-';
    let plain = name.chars().take(64).map(|char| if is_plain(char) { char } else { '_' });
    let plain: String = plain.collect();
    if plain.is_empty() { "answer".to_owned() } else { plain }
}

impl fmt::Debug for AnswerSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswerSchema").field("name", &self.name).finish_non_exhaustive()
    }
}
