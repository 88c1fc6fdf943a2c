//! The parts of a request on a tape, and requests as differences to an earlier one.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::error::TapeError;
use crate::format::canonical::text_of;

/// What the model gets, each part as JSON with sorted keys. Requests share the texts of their messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) messages: Vec<Arc<str>>,
    pub(crate) options: Arc<str>,
    pub(crate) tools: Arc<str>,
}

/// A message of a request on a line: it is there, or in the earlier request.
enum Piece {
    Own(Arc<str>),
    /// From this index of the earlier request to before this one.
    Range(usize, usize),
}

impl Parts {
    /// Returns the request as a line has it if no earlier one is like it.
    pub(crate) fn whole(&self) -> String {
        let messages = joined(self.messages.iter().map(|text| &**text));
        let Self { options, tools, .. } = self;
        format!("{{\"messages\":[{messages}],\"options\":{options},\"tools\":{tools}}}")
    }

    // Input: messages a, b, c; those of line 3 are a, b
    // Output: {"like":3,"messages":[[0,2],c]}
    /// Returns the request as its difference to an earlier one, by the number of its line. What comes of
    /// it is short if both have the same messages, in whatever place.
    pub(crate) fn since(&self, line: usize, before: &Self) -> String {
        let mut ranges: Vec<Result<(usize, usize), &str>> = Vec::new();
        for text in &self.messages {
            let is_same = |known: &Arc<str>| Arc::ptr_eq(known, text) || known == text;
            if let Some(Ok((_, end))) = ranges.last_mut()
                && before.messages.get(*end).is_some_and(is_same)
            {
                *end += 1;
            } else if let Some(start) = before.messages.iter().position(is_same) {
                ranges.push(Ok((start, start + 1)));
            } else {
                ranges.push(Err(text));
            }
        }
        if !self.messages.is_empty() && ranges.iter().all(Result::is_err) {
            return self.whole();
        }
        let pieces: Vec<_> = ranges
            .into_iter()
            .map(|piece| match piece {
                Ok((start, end)) => format!("[{start},{end}]"),
                Err(text) => text.to_owned(),
            })
            .collect();
        let messages = joined(pieces.iter().map(String::as_str));
        let mut text = format!("{{\"like\":{line},\"messages\":[{messages}]");
        for (name, part, known) in
            [("options", &self.options, &before.options), ("tools", &self.tools, &before.tools)]
        {
            if part != known {
                text.extend([",\"", name, "\":", part]);
            }
        }
        text.push('}');
        text
    }

    /// Returns the request as a value, with the name of the model.
    pub(crate) fn value(&self, model: Option<&str>) -> Result<Value, TapeError> {
        let mut value: Value = serde_json::from_str(&self.whole())?;
        if let Some(model) = model {
            value["model"] = model.into();
        }
        Ok(value)
    }
}

/// A request as it is on a line.
pub(crate) struct Written {
    /// The line of the request that it is the difference to.
    pub(crate) like: Option<usize>,
    pieces: Vec<Piece>,
    options: Option<Arc<str>>,
    tools: Option<Arc<str>>,
}

impl Written {
    /// Reads a request of a line.
    pub(crate) fn read(mut request: Value) -> Result<Self, String> {
        let number = |line: &Value| line.as_u64().and_then(|line| usize::try_from(line).ok());
        let like = match request.get("like").map(number) {
            Some(None) => return Err("`like` is no number of a line".to_owned()),
            known => known.flatten(),
        };
        let messages = request.get_mut("messages").map(Value::take).unwrap_or_default();
        let Value::Array(messages) = messages else {
            return Err("the request has no list of `messages`".to_owned());
        };
        let pieces = messages.into_iter().map(|message| match message {
            Value::Array(range) => match range.as_slice() {
                [start, end] => index(start)
                    .zip(index(end))
                    .map(|(start, end)| Piece::Range(start, end))
                    .ok_or_else(|| "a range of messages has no numbers".to_owned()),
                _ => Err("a range of messages has no two numbers".to_owned()),
            },
            message => Ok(Piece::Own(text_of(&message).into())),
        });
        let pieces = pieces.collect::<Result<_, _>>()?;
        let part = |name: &str| -> Option<Arc<str>> { Some(text_of(request.get(name)?).into()) };
        Ok(Self { like, pieces, options: part("options"), tools: part("tools") })
    }

    /// Returns the whole request. `before` is the one that it is the difference to.
    pub(crate) fn parts(self, before: Option<&Parts>) -> Result<Parts, String> {
        let mut messages = Vec::with_capacity(self.pieces.len());
        for piece in self.pieces {
            match piece {
                Piece::Own(text) => messages.push(text),
                Piece::Range(start, end) => {
                    let of_before = before.and_then(|before| before.messages.get(start..end));
                    let range = of_before.ok_or_else(|| {
                        format!("no earlier request has messages {start} to {end}")
                    })?;
                    messages.extend_from_slice(range);
                }
            }
        }
        let part = |own: Option<Arc<str>>, known: fn(&Parts) -> &Arc<str>, default: Value| {
            let known = || before.map(|before| known(before).clone());
            own.or_else(known).unwrap_or_else(|| text_of(&default).into())
        };
        let options = part(self.options, |before| &before.options, json!({}));
        let tools = part(self.tools, |before| &before.tools, json!([]));
        Ok(Parts { messages, options, tools })
    }
}

fn index(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|index| usize::try_from(index).ok())
}

fn joined<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let mut joined = String::new();
    for text in texts {
        if !joined.is_empty() {
            joined.push(',');
        }
        joined.push_str(text);
    }
    joined
}
