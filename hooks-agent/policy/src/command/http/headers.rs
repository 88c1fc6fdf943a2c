//! The headers of a request.

use reqwest::header::{
    CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue,
    TRANSFER_ENCODING,
};

use crate::command::http::signature::HEADER;

/// Headers that belong to the exchange.
const OF_EXCHANGE: [HeaderName; 4] = [CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING];

/// Returns the headers with the values of their variables. The errors have names alone.
pub(super) fn headers_of(
    headers: &[(String, String)],
    variable: &dyn Fn(&str) -> Result<String, String>,
) -> Result<HeaderMap, Vec<String>> {
    let mut map = HeaderMap::new();
    map.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let mut problems = Vec::new();
    for (name, value) in headers {
        match header_of(name, value, variable) {
            Ok((name, value)) => {
                map.insert(name, value);
            }
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(map) } else { Err(problems) }
}

fn header_of(
    name: &str,
    value: &str,
    variable: &dyn Fn(&str) -> Result<String, String>,
) -> Result<(HeaderName, HeaderValue), String> {
    let header = HeaderName::try_from(name)
        .map_err(|_| format!("expected the name of a header, found {name:?}"))?;
    if OF_EXCHANGE.contains(&header) || header == HEADER {
        return Err(format!(
            "expected another header than `{header}`, which belongs to the request"
        ));
    }
    let text = filled(value, variable).map_err(|problem| format!("`{header}`: {problem}"))?;
    let mut value = HeaderValue::try_from(text)
        .map_err(|_| format!("`{header}`: expected a value of visible characters on one line"))?;
    value.set_sensitive(true);
    Ok((header, value))
}

// Input: `Bearer $TOKEN`
// Output: `Bearer 6c1..`
/// Returns the text with the values of `$NAME` and `${NAME}`. A `$` in front of something else is itself.
fn filled(text: &str, variable: &dyn Fn(&str) -> Result<String, String>) -> Result<String, String> {
    let (mut filled, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('$') {
        filled.push_str(before);
        let (name, behind) = match after.strip_prefix('{') {
            Some(inner) => inner.split_once('}').ok_or("expected `}` behind `${`")?,
            None => after.split_at(after.find(is_of_no_name).unwrap_or(after.len())),
        };
        let is_name = !name.is_empty() && !name.contains(is_of_no_name);
        if !is_name && after.starts_with('{') {
            return Err("expected the name of a variable in `${..}`".to_owned());
        }
        if is_name {
            filled.push_str(&variable(name)?);
        } else {
            filled.push('$');
        }
        rest = behind;
    }
    filled.push_str(rest);
    Ok(filled)
}

fn is_of_no_name(it: char) -> bool {
    !it.is_ascii_alphanumeric() && it != '_'
}
