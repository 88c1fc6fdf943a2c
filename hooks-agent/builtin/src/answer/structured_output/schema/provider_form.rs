//! A schema as providers accept it.

use serde_json::{Map, Value, json};

/// How many references are replaced at most: definitions that use each other several times multiply.
const MOST_INLINED: usize = 1000;

/// A schema as providers accept it: of an object, without what only some of them know.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::answer::structured_output) struct ProviderForm {
    pub(in crate::answer::structured_output) schema: Value,
    /// Whether the value is a field of the object that is sent, because it is no object itself.
    pub(in crate::answer::structured_output) is_wrapped: bool,
    /// Whether providers that hold a model to a schema can hold it to this one.
    pub(in crate::answer::structured_output) is_strict: bool,
}

impl ProviderForm {
    /// The field of the value in an object that is made for it.
    pub(in crate::answer::structured_output) const FIELD: &'static str = "answer";

    pub(in crate::answer::structured_output) fn of(schema: &Value) -> Self {
        let is_object = schema.get("type").and_then(Value::as_str) == Some("object");
        let is_wrapped = !is_object;
        let mut inliner = Inliner {
            whole: schema,
            open: Vec::new(),
            left: MOST_INLINED,
            keeps_references: false,
        };
        let mut form = inliner.inlined(schema);
        if inliner.keeps_references {
            form = with_references(schema, is_wrapped);
        } else if let Some(object) = form.as_object_mut() {
            object.remove("$defs");
            object.remove("definitions");
        }
        simplify(&mut form);
        if is_wrapped {
            form = wrapped(form);
        }
        let is_strict = is_strict(&form);
        Self { schema: form, is_wrapped, is_strict }
    }
}

// Input: `{ "type": "array", "$defs": .. }`
// Output: `{ "type": "object", "properties": { "answer": { "type": "array" } }, "$defs": .. }`
fn wrapped(mut inner: Value) -> Value {
    let definitions = inner.as_object_mut().and_then(|object| object.remove("$defs"));
    let mut outer = json!({
        "type": "object",
        "properties": { ProviderForm::FIELD: inner },
        "required": [ProviderForm::FIELD],
        "additionalProperties": false,
    });
    if let Some(definitions) = definitions {
        outer["$defs"] = definitions;
    }
    outer
}

/// Returns a schema that refers to itself, with a definition of the whole if that moves.
fn with_references(schema: &Value, is_wrapped: bool) -> Value {
    const WHOLE: &str = "Whole";
    if !is_wrapped {
        return schema.clone();
    }
    let mut schema = schema.clone();
    rename_root(&mut schema, &format!("#/$defs/{WHOLE}"));
    let object = schema.as_object_mut();
    let mut definitions = match object.and_then(|object| object.remove("$defs")) {
        Some(Value::Object(definitions)) => definitions,
        _ => Map::new(),
    };
    definitions.insert(WHOLE.to_owned(), schema);
    json!({ "$ref": format!("#/$defs/{WHOLE}"), "$defs": definitions })
}

/// Changes references to the whole schema.
fn rename_root(schema: &mut Value, to: &str) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::String(reference)) = object.get_mut("$ref")
                && reference == "#"
            {
                to.clone_into(reference);
            }
            object.values_mut().for_each(|inner| rename_root(inner, to));
        }
        Value::Array(items) => items.iter_mut().for_each(|inner| rename_root(inner, to)),
        _ => {}
    }
}

/// Replaces references by what they refer to.
struct Inliner<'a> {
    whole: &'a Value,
    open: Vec<String>,
    /// How many more references are replaced.
    left: usize,
    /// Whether a reference stays: to a schema that it is a part of, or of too many.
    keeps_references: bool,
}

impl Inliner<'_> {
    // Input: `{ "$ref": "#/$defs/Item", "description": "The first." }`
    // Output: `{ "type": "object", .., "description": "The first." }`
    fn inlined(&mut self, schema: &Value) -> Value {
        match schema {
            Value::Object(object) => {
                let Some(Value::String(reference)) = object.get("$ref") else {
                    let fields = object.iter().filter(|(key, _)| *key != "$defs");
                    let fields = fields.map(|(key, inner)| (key.clone(), self.inlined(inner)));
                    return Value::Object(fields.collect());
                };
                let target = self.whole.pointer(reference.trim_start_matches('#'));
                let is_open = self.left == 0 || self.open.contains(reference);
                let Some(target) = target.filter(|_| !is_open) else {
                    self.keeps_references = true;
                    return schema.clone();
                };
                self.left -= 1;
                self.open.push(reference.clone());
                let mut inlined = self.inlined(target);
                self.open.pop();
                if let Some(inlined) = inlined.as_object_mut() {
                    let own = object.iter().filter(|(key, _)| *key != "$ref");
                    inlined.extend(own.map(|(key, inner)| (key.clone(), inner.clone())));
                }
                inlined
            }
            Value::Array(items) => items.iter().map(|inner| self.inlined(inner)).collect(),
            other => other.clone(),
        }
    }
}

/// Removes what says nothing to a model, and words of a union that some providers refuse.
fn simplify(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    object.remove("$schema");
    object.remove("title");
    // Providers make each field required.
    object.remove("default");
    // Formats of numbers, such as `uint32`: the limits are beside them.
    if object.get("type").is_none_or(|kind| !has_type(kind, "string")) {
        object.remove("format");
    }
    if !object.contains_key("anyOf")
        && let Some(variants) = object.remove("oneOf")
    {
        object.insert("anyOf".to_owned(), variants);
    }
    for (key, inner) in object.iter_mut() {
        match (key.as_str(), inner) {
            (
                "properties" | "$defs" | "definitions" | "patternProperties",
                Value::Object(fields),
            ) => {
                fields.values_mut().for_each(simplify);
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(items)) => {
                items.iter_mut().for_each(simplify);
            }
            ("items" | "additionalProperties" | "not", inner) => simplify(inner),
            _ => {}
        }
    }
}

fn has_type(kind: &Value, name: &str) -> bool {
    match kind {
        Value::String(kind) => kind == name,
        Value::Array(kinds) => kinds.iter().any(|kind| kind == name),
        _ => false,
    }
}

/// Returns whether a schema has only what providers hold a model to: each value has a type, constants
/// or variants, and the names of all fields are known.
fn is_strict(schema: &Value) -> bool {
    let Value::Object(object) = schema else { return false };
    let has = |key: &str| object.contains_key(key);
    if ["allOf", "not", "patternProperties", "oneOf", "if", "prefixItems"].into_iter().any(has) {
        return false;
    }
    let is_object = object.get("type").is_some_and(|kind| has_type(kind, "object"));
    let is_map = match object.get("additionalProperties") {
        None | Some(Value::Bool(false)) => is_object && !has("properties"),
        Some(_) => true,
    };
    let is_known = ["type", "enum", "const", "anyOf", "$ref"].into_iter().any(has);
    let inner = object.iter().flat_map(|(key, inner)| match (key.as_str(), inner) {
        ("properties" | "$defs", Value::Object(fields)) => fields.values().collect(),
        ("anyOf", Value::Array(items)) => items.iter().collect(),
        ("items", inner) => vec![inner],
        _ => Vec::new(),
    });
    is_known && !is_map && inner.into_iter().all(is_strict)
}
