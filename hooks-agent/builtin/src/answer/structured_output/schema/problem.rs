//! Says in words where a value does not fit its schema.

use std::fmt::{self, Write};

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::paths::{Location, LocationSegment};
use jsonschema::{JsonType, JsonTypeSet, ValidationError};
use serde_json::Value;

/// How many bytes of the name of a field are shown.
const LONGEST_NAME: usize = 64;

/// How many allowed values are listed.
const MOST_VALUES: usize = 20;

/// A field of an answer that does not fit, and what was expected there.
///
/// ```
/// use hooks_agent::builtin::answer::Problem;
///
/// let problem = Problem::new("items[2].price", "a number is expected");
/// assert_eq!(problem.to_string(), "`items[2].price`: a number is expected");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The path of the field, such as `items[2].price`; empty for the answer as a whole.
    pub path: String,
    /// What was expected, and for a value that a type of yours refuses, its words.
    pub expected: String,
}

impl Problem {
    /// Creates a problem of a field.
    #[must_use]
    pub fn new(path: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { path: path.into(), expected: expected.into() }
    }

    /// Creates a problem of the answer as a whole.
    pub(in crate::answer::structured_output) fn of_text(expected: impl Into<String>) -> Self {
        Self::new("", expected)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "`{}`: ", self.path)?;
        }
        f.write_str(&self.expected)
    }
}

/// Returns the paths of problems as a list.
pub(in crate::answer::structured_output) fn paths(problems: &[Problem]) -> String {
    let path = |problem: &Problem| match problem.path.as_str() {
        "" => "the answer as a whole".to_owned(),
        path => format!("`{path}`"),
    };
    let mut paths: Vec<_> = problems.iter().map(path).collect();
    paths.dedup();
    paths.join(", ")
}

/// Adds the problems of an error of the schema.
pub(in crate::answer::structured_output) fn add_problems(
    error: &ValidationError<'_>,
    problems: &mut Vec<Problem>,
) {
    let at = error.instance_path();
    let mut add = |path: String, expected: String| problems.push(Problem { path, expected });
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            add(path_of(at, Some(name)), "is required and missing".to_owned());
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            for name in unexpected {
                add(path_of(at, Some(name)), "there is no such field".to_owned());
            }
        }
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            add_union(at, context, problems);
        }
        kind => add(path_of(at, None), expected(kind)),
    }
}

/// Adds the problems of a union: of the variant that was meant, if it shows, else all that is allowed.
fn add_union(at: &Location, variants: &[Vec<ValidationError<'_>>], problems: &mut Vec<Problem>) {
    let depth = at.iter().count();
    // A tag that differs, or a value of another type: another variant was meant.
    let is_meant = |errors: &&Vec<ValidationError<'_>>| {
        errors.iter().all(|error| {
            let below = error.instance_path().iter().count() - depth;
            match error.kind() {
                ValidationErrorKind::Constant { .. } | ValidationErrorKind::Enum { .. } => {
                    below > 1
                }
                ValidationErrorKind::Type { .. } => below > 0,
                _ => true,
            }
        })
    };
    let mut meant: Vec<_> = variants.iter().filter(is_meant).collect();
    if meant.len() > 1 {
        // A variant that is the only field of an object: other variants do not know the field.
        meant.retain(|errors| errors.iter().all(|error| !has_unknown_field(error, depth)));
    }
    if let [errors] = meant[..] {
        return errors.iter().for_each(|error| add_problems(error, problems));
    }
    // Of variants whose tag is a field of an object, or that are constants: the constants.
    let mut tags: Vec<_> = variants.iter().flatten().filter_map(tag).collect();
    tags.dedup_by(|one, other| one.0 == other.0 && one.1 == other.1);
    let all_have_one = variants.iter().all(|errors| errors.iter().any(|it| tag(it).is_some()));
    if let Some((place, _)) = tags.first().cloned()
        && all_have_one
        && tags.iter().all(|(other, _)| *other == place)
    {
        let values: Vec<_> = tags.iter().flat_map(|(_, values)| values.clone()).collect();
        return problems.push(Problem::new(place, one_of(&values)));
    }
    let mut allowed: Vec<String> = Vec::new();
    for errors in variants {
        let mut inner = Vec::new();
        errors.iter().take(1).for_each(|error| add_problems(error, &mut inner));
        for Problem { path, expected } in inner {
            let own = path_of(at, None);
            let place = path.strip_prefix(own.as_str()).unwrap_or(&path).trim_start_matches('.');
            let text = if place.is_empty() { expected } else { format!("`{place}`: {expected}") };
            if !allowed.contains(&text) {
                allowed.push(text);
            }
        }
    }
    let text = format!("it fits none of the variants ({})", allowed.join("; or "));
    problems.push(Problem::new(path_of(at, None), text));
}

/// Returns whether an object at this depth has a field that the schema does not know.
fn has_unknown_field(error: &ValidationError<'_>, depth: usize) -> bool {
    let is_here = error.instance_path().iter().count() == depth;
    is_here && matches!(error.kind(), ValidationErrorKind::AdditionalProperties { .. })
}

/// Returns the place and the values of a constant that was expected.
fn tag(error: &ValidationError<'_>) -> Option<(String, Vec<Value>)> {
    let values = match error.kind() {
        ValidationErrorKind::Constant { expected_value } => vec![(**expected_value).clone()],
        ValidationErrorKind::Enum { options } => options.as_array()?.clone(),
        _ => return None,
    };
    Some((path_of(error.instance_path(), None), values))
}

/// Says what was expected, without the value that is there.
fn expected(kind: &ValidationErrorKind) -> String {
    use ValidationErrorKind as Kind;
    match kind {
        Kind::Type { kind: TypeKind::Single(json_type) } => {
            format!("{} is expected", with_article(*json_type))
        }
        Kind::Type { kind: TypeKind::Multiple(types) } => format!("{} is expected", any_of(*types)),
        Kind::Constant { expected_value } => one_of(std::slice::from_ref(&**expected_value)),
        Kind::Enum { options } => one_of(options.as_array().map_or(&[], Vec::as_slice)),
        Kind::Minimum { limit } => format!("at least {limit} is expected"),
        Kind::Maximum { limit } => format!("at most {limit} is expected"),
        Kind::ExclusiveMinimum { limit } => format!("more than {limit} is expected"),
        Kind::ExclusiveMaximum { limit } => format!("less than {limit} is expected"),
        Kind::MultipleOf { multiple_of } => format!("a multiple of {multiple_of} is expected"),
        Kind::MinLength { limit } => format!("at least {limit} characters are expected"),
        Kind::MaxLength { limit } => format!("at most {limit} characters are expected"),
        Kind::MinItems { limit } => format!("at least {limit} items are expected"),
        Kind::MaxItems { limit } => format!("at most {limit} items are expected"),
        Kind::AdditionalItems { limit } => format!("{limit} items are expected"),
        Kind::MinProperties { limit } => format!("at least {limit} fields are expected"),
        Kind::MaxProperties { limit } => format!("at most {limit} fields are expected"),
        Kind::UniqueItems => "items that differ are expected".to_owned(),
        Kind::Pattern { pattern } => format!("text that matches `{pattern}` is expected"),
        Kind::Format { format } => format!("text of the format `{format}` is expected"),
        Kind::OneOfMultipleValid { .. } => "it fits more than one variant, one is expected".into(),
        Kind::FalseSchema => "there is no such field".to_owned(),
        kind => format!("it does not fit `{}` of the schema", kind.keyword()),
    }
}

fn any_of(types: JsonTypeSet) -> String {
    let names: Vec<_> = types.iter().map(with_article).collect();
    names.join(" or ")
}

fn with_article(json_type: JsonType) -> &'static str {
    match json_type {
        JsonType::Array => "an array",
        JsonType::Boolean => "true or false",
        JsonType::Integer => "an integer",
        JsonType::Null => "null",
        JsonType::Number => "a number",
        JsonType::Object => "an object",
        JsonType::String => "a string",
    }
}

fn one_of(values: &[Value]) -> String {
    let listed: Vec<_> =
        values.iter().take(MOST_VALUES).map(|value| format!("`{value}`")).collect();
    let more = values.len().saturating_sub(MOST_VALUES);
    let more = if more == 0 { String::new() } else { format!(" or {more} others") };
    match listed.len() {
        1 => format!("{}{more} is expected", listed[0]),
        _ => format!("one of {}{more} is expected", listed.join(", ")),
    }
}

/// Writes a path, such as `items[2].price`, with the name of a field that is not there.
fn path_of(location: &Location, field: Option<&str>) -> String {
    let mut path = String::new();
    for segment in location {
        match segment {
            LocationSegment::Property(name) => push_name(&mut path, &name),
            LocationSegment::Index(index) => push_index(&mut path, index),
        }
    }
    if let Some(name) = field {
        push_name(&mut path, name);
    }
    path
}

/// Writes the path of a value that a type refused.
pub(in crate::answer::structured_output) fn path_of_type(
    path: &serde_path_to_error::Path,
) -> String {
    let mut written = String::new();
    for segment in path {
        match segment {
            serde_path_to_error::Segment::Seq { index } => push_index(&mut written, *index),
            serde_path_to_error::Segment::Map { key } => push_name(&mut written, key),
            // Variants are not in the JSON of every form of an enum.
            _ => {}
        }
    }
    written
}

fn push_index(path: &mut String, index: usize) {
    // Writing to a string does not fail.
    let _ = write!(path, "[{index}]");
}

fn push_name(path: &mut String, name: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    let end = name.floor_char_boundary(LONGEST_NAME);
    path.push_str(&name[..end]);
    if end < name.len() {
        path.push('…');
    }
}
