//! Conversions between numbers and texts.

use crate::expression::values::fault::Fault;
use crate::expression::values::value::Value;

const OUT_OF_RANGE: Fault = Fault::Failed(std::borrow::Cow::Borrowed("the number is out of range"));

pub(crate) fn int_of(value: &Value<'_>) -> Result<i64, Fault> {
    match value {
        Value::Int(number) => Ok(*number),
        Value::Uint(number) => i64::try_from(*number).map_err(|_| OUT_OF_RANGE),
        Value::Double(number) => {
            // Both are exact as doubles.
            let most = 2.0_f64.powi(63);
            let is_within = *number > -most && *number < most;
            #[expect(clippy::cast_possible_truncation, reason = "it is within the bounds")]
            if is_within { Ok(number.trunc() as i64) } else { Err(OUT_OF_RANGE) }
        }
        Value::Text(text) => {
            let number = text.as_str().parse();
            number.map_err(|_| Fault::new("`int` expects a whole number"))
        }
        Value::Time(time) => Ok(time.timestamp().as_second()),
        _ => Err(value.not_taken_by("int")),
    }
}

pub(crate) fn uint_of(value: &Value<'_>) -> Result<u64, Fault> {
    match value {
        Value::Uint(number) => Ok(*number),
        Value::Int(number) => u64::try_from(*number).map_err(|_| OUT_OF_RANGE),
        Value::Double(number) => {
            let is_within = *number > -1.0 && *number < 18_446_744_073_709_551_615.0;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "it is within the bounds"
            )]
            if is_within { Ok(number.trunc() as u64) } else { Err(OUT_OF_RANGE) }
        }
        Value::Text(text) => {
            let number = text.as_str().parse();
            number.map_err(|_| Fault::new("`uint` expects a whole number from 0"))
        }
        _ => Err(value.not_taken_by("uint")),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a double is what is asked for")]
pub(crate) fn double_of(value: &Value<'_>) -> Result<f64, Fault> {
    match value {
        Value::Double(number) => Ok(*number),
        Value::Int(number) => Ok(*number as f64),
        Value::Uint(number) => Ok(*number as f64),
        Value::Text(text) => {
            let number = text.as_str().parse().ok().filter(|it: &f64| it.is_finite());
            number.ok_or(Fault::new("`double` expects a number"))
        }
        _ => Err(value.not_taken_by("double")),
    }
}

pub(crate) fn string_of<'a>(value: &Value<'a>) -> Result<Value<'a>, Fault> {
    Ok(Value::made(match value {
        Value::Text(_) => return Ok(value.clone()),
        Value::Bool(it) => it.to_string(),
        Value::Int(it) => it.to_string(),
        Value::Uint(it) => it.to_string(),
        Value::Double(it) => it.to_string(),
        Value::Time(it) => it.timestamp().to_string(),
        Value::Span(it) => format!("{}s", it.as_secs_f64()),
        _ => return Err(value.not_taken_by("string")),
    }))
}
