//! The texts of a request that hooks are asked about.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use crate::model::guarded::Call;

/// A text of a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Place {
    /// Where it is, as a JSON pointer.
    pub(crate) at: String,
    pub(crate) said: Said,
    /// Whether the model has not answered it yet.
    pub(crate) is_latest: bool,
}

/// What a text is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Said {
    /// What the user says.
    Prompt,
    /// What a tool returned.
    Result(Arc<Call>),
}

/// The texts of a request, in order.
#[derive(Default)]
pub(crate) struct Texts {
    pub(crate) places: Vec<Place>,
    /// Where what the model has not answered begins.
    latest: usize,
    calls: HashMap<String, Arc<Call>>,
}

impl Texts {
    /// Notes an answer of the model.
    pub(crate) fn answered(&mut self) {
        self.latest = self.places.len();
    }

    /// Notes a tool call of the model.
    pub(crate) fn called(&mut self, id: &str, name: &str, input: Option<Value>) {
        let call = Call { id: id.to_owned(), name: name.to_owned(), input };
        self.calls.insert(id.to_owned(), Arc::new(call));
    }

    /// Notes the texts of what the user says.
    pub(crate) fn prompt(&mut self, content: &Value, at: &str) {
        self.all(content, at, &Said::Prompt);
    }

    /// Notes the texts of the result of a tool call.
    pub(crate) fn result(&mut self, id: &str, content: &Value, at: &str) {
        let unknown =
            || Arc::new(Call { id: id.to_owned(), name: "unknown".to_owned(), input: None });
        let call = self.calls.get(id).cloned().unwrap_or_else(unknown);
        self.all(content, at, &Said::Result(call));
    }

    /// Returns the texts, which know whether they are answered.
    pub(crate) fn into_places(mut self) -> Vec<Place> {
        for place in &mut self.places[self.latest..] {
            place.is_latest = true;
        }
        self.places
    }

    /// Notes the texts of a content: itself, or those of its parts. Images and files have none.
    fn all(&mut self, content: &Value, at: &str, said: &Said) {
        const TEXTS: [&str; 9] =
            ["text", "title", "context", "stdout", "stderr", "output", "logs", "error", "content"];
        match content {
            Value::String(_) => {
                let (at, said) = (at.to_owned(), said.clone());
                self.places.push(Place { at, said, is_latest: false });
            }
            Value::Array(parts) => {
                for (index, part) in parts.iter().enumerate() {
                    self.all(part, &format!("{at}/{index}"), said);
                }
            }
            Value::Object(fields) => {
                for name in TEXTS {
                    if let Some(field) = fields.get(name) {
                        self.all(field, &format!("{at}/{name}"), said);
                    }
                }
                if let Some(source) = fields.get("source") {
                    self.source(source, &format!("{at}/source"), said);
                }
            }
            _ => {}
        }
    }

    /// Notes the texts of the source of a document.
    fn source(&mut self, source: &Value, at: &str, said: &Said) {
        if source["type"] == "text" {
            self.all(&source["data"], &format!("{at}/data"), said);
        }
        self.all(&source["content"], &format!("{at}/content"), said);
    }
}
