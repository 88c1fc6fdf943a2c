//! The texts in a message of a server, as hooks read them and leave them.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value, json};

/// The fields below which the protocol has content. What is below others is data, and hooks read all of it.
const CONTAINERS: [&str; 5] = ["content", "contents", "message", "messages", "resource"];

/// What hooks read of a value: all of it but the bytes of images, audio and files, and `_meta`.
#[derive(Debug)]
pub(crate) struct Readable {
    pub(crate) value: Value,
    form: Form,
    apart: Vec<Apart>,
}

#[derive(Debug)]
enum Form {
    /// The one text of a result, by itself.
    Text,
    /// The whole value.
    Whole,
}

/// A field that hooks do not read as it is.
#[derive(Debug)]
struct Apart {
    /// The places on the way to its object.
    way: Vec<Place>,
    field: &'static str,
    what: What,
}

#[derive(Clone, Debug)]
enum Place {
    Field(&'static str),
    Item(usize),
}

#[derive(Debug)]
enum What {
    /// It is not there for hooks.
    Meta(Value),
    /// It is empty for hooks.
    Bytes(Value),
    /// Hooks read the text that its bytes are.
    Text { encoded: Value, text: String },
}

impl Readable {
    /// Takes apart what hooks do not read.
    pub(crate) fn of(value: &Value) -> Self {
        let (mut value, mut apart) = (value.clone(), Vec::new());
        take_apart(&mut value, &mut Vec::new(), &mut apart);
        match single_text(&value) {
            Some(text) => Self { value: text.into(), form: Form::Text, apart },
            None => Self { value, form: Form::Whole, apart },
        }
    }

    /// Returns whether there is nothing to read.
    pub(crate) fn is_empty(&self) -> bool {
        match &self.value {
            Value::Null => true,
            Value::Object(fields) => fields.is_empty(),
            Value::String(text) => text.is_empty(),
            _ => false,
        }
    }

    /// Returns the value as hooks left it, with what they did not read: `None` if it has another form than
    /// the one that they read.
    pub(crate) fn changed(self, before: &Value, left: Value) -> Option<Value> {
        let mut value = match (self.form, left) {
            (Form::Text, left) => {
                let text = match left {
                    Value::String(text) => text,
                    other => other.to_string(),
                };
                let mut whole = before.clone();
                *whole.pointer_mut("/content/0/text")? = text.into();
                return Some(whole);
            }
            (Form::Whole, Value::String(text)) => return as_text(before, &text),
            (Form::Whole, left) => left,
        };
        for part in self.apart {
            put_back(&mut value, part)?;
        }
        has_same_form(before, &value).then_some(value)
    }
}

fn take_apart(value: &mut Value, way: &mut Vec<Place>, apart: &mut Vec<Apart>) {
    match value {
        Value::Array(items) => {
            for (place, item) in items.iter_mut().enumerate() {
                way.push(Place::Item(place));
                take_apart(item, way, apart);
                way.pop();
            }
        }
        Value::Object(fields) => {
            let mut take = |field, what| apart.push(Apart { way: way.clone(), field, what });
            if let Some(meta) = fields.remove("_meta") {
                take("_meta", What::Meta(meta));
            }
            let is_media = matches!(fields.get("type"), Some(Value::String(it)) if it == "image" || it == "audio");
            let media = is_media.then_some("data");
            for field in media.into_iter().chain(["blob"]) {
                if let Some(what) = fields.get_mut(field).and_then(bytes) {
                    take(field, what);
                }
            }
            for name in CONTAINERS {
                if let Some(below) = fields.get_mut(name) {
                    way.push(Place::Field(name));
                    take_apart(below, way, apart);
                    way.pop();
                }
            }
        }
        _ => {}
    }
}

/// Takes the bytes out of a field. Text that is no Base64 stays: a reader may show it as it is.
fn bytes(value: &mut Value) -> Option<What> {
    let decoded = BASE64_STANDARD.decode(value.as_str()?).ok()?;
    match String::from_utf8(decoded) {
        Ok(text) => {
            let encoded = std::mem::replace(value, text.clone().into());
            Some(What::Text { encoded, text })
        }
        Err(_) => Some(What::Bytes(std::mem::replace(value, "".into()))),
    }
}

fn put_back(value: &mut Value, part: Apart) -> Option<()> {
    let mut at = value;
    for place in part.way {
        at = match place {
            Place::Field(name) => at.get_mut(name)?,
            Place::Item(place) => at.get_mut(place)?,
        };
    }
    let fields = at.as_object_mut()?;
    let now = match (part.what, fields.get(part.field)) {
        (What::Meta(meta), _) => meta,
        (What::Bytes(bytes), Some(Value::String(left))) if left.is_empty() => bytes,
        (What::Text { encoded, text }, Some(Value::String(left))) if *left == text => encoded,
        (What::Text { .. }, Some(Value::String(left))) => BASE64_STANDARD.encode(left).into(),
        _ => return None,
    };
    fields.insert(part.field.to_owned(), now);
    Some(())
}

/// Returns the text of a result that has nothing else to read.
fn single_text(result: &Value) -> Option<String> {
    let fields = result.as_object()?;
    let [item] = fields.get("content")?.as_array()?.as_slice() else { return None };
    let item = item.as_object()?;
    let is_plain = item.get("type")? == "text"
        && has_only(item, &["type", "text"])
        && has_only(fields, &["content", "isError"])
        && fields.get("isError").is_none_or(Value::is_boolean);
    item.get("text")?.as_str().filter(|_| is_plain).map(str::to_owned)
}

fn has_only(fields: &Map<String, Value>, names: &[&str]) -> bool {
    fields.keys().all(|field| names.contains(&field.as_str()))
}

/// Returns the result of a tool with this text in place of all that it said.
fn as_text(before: &Value, text: &str) -> Option<Value> {
    let before = before.as_object()?;
    before.get("content")?.as_array()?;
    let mut result = json!({ "content": [{ "type": "text", "text": text }] });
    for field in ["isError", "_meta"] {
        if let Some(value) = before.get(field) {
            result[field] = value.clone();
        }
    }
    Some(result)
}

/// Returns whether both are objects, or lists, of the same kinds of fields at the top.
fn has_same_form(before: &Value, now: &Value) -> bool {
    let (Some(before), Some(now)) = (before.as_object(), now.as_object()) else { return false };
    before.iter().all(|(name, value)| match value {
        Value::Array(_) => now.get(name).is_some_and(Value::is_array),
        Value::Object(_) => now.get(name).is_some_and(Value::is_object),
        _ => true,
    })
}
