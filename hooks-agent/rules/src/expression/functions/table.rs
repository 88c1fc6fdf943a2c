//! The functions of expressions.

use crate::expression::check::types::Type;
use crate::expression::functions::glob::GlobOf;
use crate::expression::functions::numbers::{double_of, int_of, string_of, uint_of};
use crate::expression::functions::times::{Part, duration_of, timestamp_of};
use crate::expression::functions::{host, money};
use crate::expression::values::fault::{Fault, Steps};
use crate::expression::values::value::{List, Value};

/// A function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Size,
    Contains,
    StartsWith,
    EndsWith,
    LowerAscii,
    UpperAscii,
    Int,
    Uint,
    Double,
    String,
    Bool,
    Timestamp,
    Duration,
    Part(Part),
    Host,
    Amount,
    Path,
    Split,
    GlobOf,
}

/// How a function is called.
pub(crate) struct Signature {
    pub(crate) name: &'static str,
    pub(crate) function: Function,
    pub(crate) form: Form,
    /// The types of the arguments, that of a method's value first.
    pub(crate) takes: &'static [&'static [Type]],
    /// How many of them may be left out.
    pub(crate) optional: usize,
    pub(crate) returns: Type,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Function,
    Method,
    Both,
}

const TEXT: &[Type] = &[Type::Text];
const TIME: &[Type] = &[Type::Time];
const TIME_OR_SPAN: &[Type] = &[Type::Time, Type::Span];

const fn signature(
    name: &'static str,
    function: Function,
    form: Form,
    takes: &'static [&'static [Type]],
    returns: Type,
) -> Signature {
    Signature { name, function, form, takes, optional: 0, returns }
}

/// A method of times that takes a zone.
const fn part(name: &'static str, part: Part, of: &'static [&'static [Type]]) -> Signature {
    let (function, form) = (Function::Part(part), Form::Method);
    Signature { name, function, form, takes: of, optional: 1, returns: Type::Int }
}

/// All functions but those that take patterns, and the loops.
pub(crate) const SIGNATURES: [Signature; 27] = {
    use Form::{Both, Function as Global, Method};
    use Type::{Bool, Double, Int, List, Map, Span, Text, Time, Uint};
    [
        signature("size", Function::Size, Both, &[&[Text, List, Map]], Int),
        signature("contains", Function::Contains, Method, &[TEXT, TEXT], Bool),
        signature("startsWith", Function::StartsWith, Method, &[TEXT, TEXT], Bool),
        signature("endsWith", Function::EndsWith, Method, &[TEXT, TEXT], Bool),
        signature("lowerAscii", Function::LowerAscii, Method, &[TEXT], Text),
        signature("upperAscii", Function::UpperAscii, Method, &[TEXT], Text),
        signature("int", Function::Int, Global, &[&[Int, Uint, Double, Text, Time]], Int),
        signature("uint", Function::Uint, Global, &[&[Int, Uint, Double, Text]], Uint),
        signature("double", Function::Double, Global, &[&[Int, Uint, Double, Text]], Double),
        signature(
            "string",
            Function::String,
            Global,
            &[&[Int, Uint, Double, Text, Bool, Time, Span]],
            Text,
        ),
        signature("bool", Function::Bool, Global, &[&[Bool, Text]], Bool),
        signature("timestamp", Function::Timestamp, Global, &[&[Text, Time, Int]], Time),
        signature("duration", Function::Duration, Global, &[&[Text, Span]], Span),
        part("getFullYear", Part::FullYear, &[TIME, TEXT]),
        part("getMonth", Part::Month, &[TIME, TEXT]),
        part("getDate", Part::Date, &[TIME, TEXT]),
        part("getDayOfMonth", Part::DayOfMonth, &[TIME, TEXT]),
        part("getDayOfWeek", Part::DayOfWeek, &[TIME, TEXT]),
        part("getDayOfYear", Part::DayOfYear, &[TIME, TEXT]),
        part("getHours", Part::Hours, &[TIME_OR_SPAN, TEXT]),
        part("getMinutes", Part::Minutes, &[TIME_OR_SPAN, TEXT]),
        part("getSeconds", Part::Seconds, &[TIME_OR_SPAN, TEXT]),
        part("getMilliseconds", Part::Milliseconds, &[TIME_OR_SPAN, TEXT]),
        signature("split", Function::Split, Method, &[TEXT, TEXT], List),
        signature("path", Function::Path, Global, &[TEXT], Text),
        signature("host", Function::Host, Global, &[TEXT], Text),
        signature("amount", Function::Amount, Global, &[&[Text, Int, Uint, Double]], Double),
    ]
};

impl Function {
    /// Calls the function with arguments of any types.
    pub(crate) fn call<'a>(self, args: &[Value<'a>], steps: &Steps) -> Result<Value<'a>, Fault> {
        let size: usize = args.iter().map(Value::size).sum();
        steps.read(size)?;
        match (self, args) {
            (Self::Size, [value]) => size_of(value),
            (Self::Contains, [Value::Text(text), Value::Text(part)]) => {
                Ok(Value::Bool(text.as_str().contains(part.as_str())))
            }
            (Self::StartsWith, [Value::Text(text), Value::Text(part)]) => {
                Ok(Value::Bool(text.as_str().starts_with(part.as_str())))
            }
            (Self::EndsWith, [Value::Text(text), Value::Text(part)]) => {
                Ok(Value::Bool(text.as_str().ends_with(part.as_str())))
            }
            (Self::LowerAscii, [Value::Text(text)]) => {
                steps.copy(size)?;
                Ok(Value::made(text.as_str().to_ascii_lowercase()))
            }
            (Self::UpperAscii, [Value::Text(text)]) => {
                steps.copy(size)?;
                Ok(Value::made(text.as_str().to_ascii_uppercase()))
            }
            (Self::Int, [value]) => int_of(value).map(Value::Int),
            (Self::Uint, [value]) => uint_of(value).map(Value::Uint),
            (Self::String, [value]) => string_of(value),
            (Self::Bool, [Value::Bool(it)]) => Ok(Value::Bool(*it)),
            (Self::Bool, [Value::Text(text)]) => match text.as_str() {
                "true" => Ok(Value::Bool(true)),
                "false" => Ok(Value::Bool(false)),
                _ => Err(Fault::new("`bool` expects `true` or `false`")),
            },
            (Self::Timestamp, [value]) => timestamp_of(value),
            (Self::Duration, [value]) => duration_of(value),
            (Self::Part(part), [value, zone @ ..]) => {
                // A zone is looked up.
                steps.take(zone.len() * 100)?;
                part.of(value, zone.first())
            }
            (Self::Split, [Value::Text(text), Value::Text(separator)]) => {
                steps.copy(size)?;
                let parts = text.as_str().split(separator.as_str()).map(|part| {
                    steps.take(1)?;
                    Ok(Value::made(part))
                });
                let parts: Result<Vec<_>, Fault> = parts.collect();
                parts.map(Value::list)
            }
            (Self::Path, [Value::Text(text)]) => {
                steps.copy(size)?;
                path_of(text.as_str()).map(Value::made)
            }
            (Self::Host, [Value::Text(text)]) => {
                steps.parse(size)?;
                let host = host::host_of(text.as_str()).map(Value::made);
                host.ok_or(Fault::new("`host` expects a URL with a host"))
            }
            (Self::Amount, [Value::Text(text)]) => {
                steps.parse(size)?;
                money::amount_of(text.as_str()).map(Value::Double).map_err(Fault::new)
            }
            (Self::Amount | Self::Double, [value]) => double_of(value).map(Value::Double),
            (Self::GlobOf, [Value::Text(text), Value::Text(pattern)]) => {
                steps.take(GlobOf::STEPS)?;
                steps.parse(size)?;
                GlobOf::is_match(pattern.as_str(), text.as_str()).map(Value::Bool)
            }
            _ => Err(self.no_overload(args)),
        }
    }

    fn no_overload(self, args: &[Value<'_>]) -> Fault {
        let name = SIGNATURES.iter().find(|it| it.function == self).map_or("glob", |it| it.name);
        let types: Vec<_> = args.iter().map(Value::type_name).collect();
        Fault::new(format!("`{name}` does not take {}", types.join(", ")))
    }
}

fn size_of<'a>(value: &Value<'_>) -> Result<Value<'a>, Fault> {
    let size = match value {
        Value::Text(text) => text.as_str().chars().count(),
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        _ => return Err(value.not_taken_by("size")),
    };
    Ok(Value::Int(i64::try_from(size).unwrap_or(i64::MAX)))
}

/// Returns a path without `.`, `..` and empty names in it. Links are not followed.
fn path_of(text: &str) -> Result<String, Fault> {
    const EXPECTED: &str = "`path` expects a path from the root, such as `/srv/data`";
    let rest = text.strip_prefix('/').ok_or(Fault::new(EXPECTED))?;
    if text.contains(['\\', '\0']) {
        return Err(Fault::new(EXPECTED));
    }
    let mut names = Vec::new();
    for name in rest.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop().ok_or(Fault::new("the path leads out of the root"))?;
            }
            name => names.push(name),
        }
    }
    Ok(format!("/{}", names.join("/")))
}

/// Returns whether an item is in a list, or a key in a map.
pub(crate) fn is_in(item: &Value<'_>, list: &Value<'_>, steps: &Steps) -> Result<bool, Fault> {
    match list {
        Value::List(List::Json(list)) => {
            // The most common list: texts.
            if let Value::Text(text) = item {
                steps.take(list.len() / 8)?;
                return Ok(list.iter().any(|it| it.as_str() == Some(text.as_str())));
            }
            any(list.iter().map(Value::of_json), item, steps)
        }
        Value::List(List::Made(list)) => any(list.iter().cloned(), item, steps),
        Value::Map(map) => Ok(map.get(item).is_some()),
        _ => Err(Fault::new(format!("`in` does not take {}", list.type_name()))),
    }
}

fn any<'a>(
    mut list: impl Iterator<Item = Value<'a>>,
    item: &Value<'_>,
    steps: &Steps,
) -> Result<bool, Fault> {
    list.try_fold(false, |found, it| Ok(found || it.equals(item, steps)?))
}
