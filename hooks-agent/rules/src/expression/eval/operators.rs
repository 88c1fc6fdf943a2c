//! Applies operators to values.

use std::cmp::Ordering;

use crate::expression::syntax::tree::Binary;
use crate::expression::values::fault::{Fault, Steps};
use crate::expression::values::value::Value;

const OVERFLOW: Fault = Fault::Failed(std::borrow::Cow::Borrowed("the number is out of range"));
const BY_ZERO: Fault = Fault::Failed(std::borrow::Cow::Borrowed("division by zero"));

/// Returns a field of a map, if it has it.
pub(crate) fn field<'a>(value: &Value<'a>, field: &str) -> Result<Option<Value<'a>>, Fault> {
    match value {
        Value::Map(map) => Ok(map.field(field)),
        other => Err(Fault::new(format!("{} has no fields, so no `{field}`", other.type_name()))),
    }
}

/// Returns an item of a list, or of a map.
pub(crate) fn index<'a>(value: &Value<'a>, index: &Value<'_>) -> Result<Value<'a>, Fault> {
    let found = match (value, index) {
        (Value::List(list), Value::Int(at)) => {
            usize::try_from(*at).ok().and_then(|at| list.get(at))
        }
        (Value::List(list), Value::Uint(at)) => {
            usize::try_from(*at).ok().and_then(|at| list.get(at))
        }
        (Value::Map(map), key) => map.get(key),
        _ => {
            let (value, index) = (value.type_name(), index.type_name());
            return Err(Fault::new(format!("{value} has no index that is {index}")));
        }
    };
    found.ok_or(Fault::new("there is no item of this index"))
}

/// Returns `-value`.
pub(crate) fn negate<'a>(value: &Value<'a>) -> Result<Value<'a>, Fault> {
    match value {
        Value::Int(number) => number.checked_neg().map(Value::Int).ok_or(OVERFLOW),
        Value::Double(number) => Ok(Value::Double(-number)),
        other => Err(Fault::new(format!("`-` does not take {}", other.type_name()))),
    }
}

/// Returns what an operator makes of two values.
pub(crate) fn binary<'a>(
    operator: Binary,
    one: &Value<'a>,
    other: &Value<'a>,
    steps: &Steps,
) -> Result<Value<'a>, Fault> {
    let no_overload = || {
        let (one, other) = (one.type_name(), other.type_name());
        Fault::new(format!("`{}` does not take {one} and {other}", operator.sign()))
    };
    match operator {
        Binary::Equal => one.equals(other, steps).map(Value::Bool),
        Binary::Unequal => one.equals(other, steps).map(|it| Value::Bool(!it)),
        Binary::Less | Binary::LessOrEqual | Binary::Greater | Binary::GreaterOrEqual => {
            steps.read(one.size())?;
            let holds = match one.compare(other) {
                Some(order) => is_so(operator, order),
                None if are_numbers(one, other) => {
                    return Err(Fault::new("what is no number has no order"));
                }
                None => return Err(no_overload()),
            };
            Ok(Value::Bool(holds))
        }
        Binary::Add => match (one, other) {
            (Value::Text(one), Value::Text(other)) => {
                let (one, other) = (one.as_str(), other.as_str());
                steps.copy(one.len() + other.len())?;
                Ok(Value::made([one, other].concat()))
            }
            (Value::List(one), Value::List(other)) => {
                steps.take(one.len() + other.len())?;
                let items = (0..one.len()).filter_map(|at| one.get(at));
                let others = (0..other.len()).filter_map(|at| other.get(at));
                Ok(Value::list(items.chain(others)))
            }
            (Value::Time(time), Value::Span(span)) | (Value::Span(span), Value::Time(time)) => {
                let sum = time.checked_add(*span).map_err(|_| OVERFLOW)?;
                Ok(Value::Time(sum.into()))
            }
            (Value::Span(one), Value::Span(other)) => {
                one.checked_add(*other).map(Value::Span).ok_or(OVERFLOW)
            }
            _ => arithmetic(operator, one, other).unwrap_or_else(|| Err(no_overload())),
        },
        Binary::Subtract => match (one, other) {
            (Value::Time(one), Value::Time(other)) => Ok(Value::Span(one.duration_since(other))),
            (Value::Time(time), Value::Span(span)) => {
                let difference = time.checked_sub(*span).map_err(|_| OVERFLOW)?;
                Ok(Value::Time(difference.into()))
            }
            (Value::Span(one), Value::Span(other)) => {
                one.checked_sub(*other).map(Value::Span).ok_or(OVERFLOW)
            }
            _ => arithmetic(operator, one, other).unwrap_or_else(|| Err(no_overload())),
        },
        _ => arithmetic(operator, one, other).unwrap_or_else(|| Err(no_overload())),
    }
}

fn is_so(operator: Binary, order: Ordering) -> bool {
    match operator {
        Binary::Less => order.is_lt(),
        Binary::LessOrEqual => order.is_le(),
        Binary::Greater => order.is_gt(),
        _ => order.is_ge(),
    }
}

fn are_numbers(one: &Value<'_>, other: &Value<'_>) -> bool {
    let is_number =
        |it: &Value<'_>| matches!(it, Value::Int(_) | Value::Uint(_) | Value::Double(_));
    is_number(one) && is_number(other)
}

/// Calculates with two whole numbers.
macro_rules! whole {
    ($kind:ident, $operator:expr, $one:expr, $other:expr) => {
        match ($operator, *$other) {
            (Binary::Divide | Binary::Remainder, 0) => Err(BY_ZERO),
            (operator, other) => {
                let number = match operator {
                    Binary::Add => $one.checked_add(other),
                    Binary::Subtract => $one.checked_sub(other),
                    Binary::Multiply => $one.checked_mul(other),
                    Binary::Divide => $one.checked_div(other),
                    _ => $one.checked_rem(other),
                };
                number.map(Value::$kind).ok_or(OVERFLOW)
            }
        }
    };
}

/// Calculates with two numbers of one type; `None` for others.
fn arithmetic<'a>(
    operator: Binary,
    one: &Value<'_>,
    other: &Value<'_>,
) -> Option<Result<Value<'a>, Fault>> {
    Some(match (one, other) {
        (Value::Int(one), Value::Int(other)) => whole!(Int, operator, one, other),
        (Value::Uint(one), Value::Uint(other)) => whole!(Uint, operator, one, other),
        (Value::Double(one), Value::Double(other)) => Ok(Value::Double(match operator {
            Binary::Add => one + other,
            Binary::Subtract => one - other,
            Binary::Multiply => one * other,
            Binary::Divide => one / other,
            _ => return None,
        })),
        _ => return None,
    })
}
