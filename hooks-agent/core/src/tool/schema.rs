//! Schemas of arguments, as providers accept them.

use schemars::generate::SchemaSettings;
use schemars::transform::transform_subschemas;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;

/// Returns the schema of a type in the form that providers accept: one object with inlined
/// subschemas, without references and metadata.
pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = SchemaGenerator::new(settings).into_root_schema_for::<T>();
    let whole = schema.clone().to_value();
    cut_references(&mut schema, &whole);
    let mut schema = schema.to_value();
    if let Some(object) = schema.as_object_mut() {
        object.remove("title");
        object.remove("$defs");
    }
    schema
}

// Input: `{ "$ref": "#/$defs/Tree" }`
// Output: `{ "type": "object", "description": "A tree." }`
/// Replaces references, which remain only inside of the type that they refer to.
fn cut_references(schema: &mut Schema, whole: &Value) {
    if let Some(Value::String(reference)) = schema.remove("$ref") {
        let path = reference.trim_start_matches('#');
        let target = whole.pointer(path).and_then(Value::as_object);
        for (key, value) in target.into_iter().flatten() {
            if matches!(key.as_str(), "type" | "description") && schema.get(key).is_none() {
                schema.insert(key.clone(), value.clone());
            }
        }
    }
    transform_subschemas(&mut |schema: &mut Schema| cut_references(schema, whole), schema);
}
