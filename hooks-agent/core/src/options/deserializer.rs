//! A deserializer of values with places.

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use crate::options::error::Mistake;
use crate::options::value::{Key, Node, Value};
use crate::options::words::{list_of, shown_key};

/// Deserializes a value. Each error has the place of the innermost value or key.
#[derive(Clone, Copy)]
pub(super) struct NodeDeserializer<'a>(pub(super) &'a Node);

impl<'a> NodeDeserializer<'a> {
    fn visit<'de, V: Visitor<'de>>(
        self,
        fields: Option<&'static [&'static str]>,
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        let visited = match &self.0.value {
            Value::Text { raw, resolved, .. } => {
                visitor.visit_str(resolved.as_ref().unwrap_or(raw))
            }
            Value::Integer(number) => match (i64::try_from(*number), u64::try_from(*number)) {
                (Ok(number), _) => visitor.visit_i64(number),
                (_, Ok(number)) => visitor.visit_u64(number),
                _ => visitor.visit_i128(*number),
            },
            Value::Float(number) => visitor.visit_f64(*number),
            Value::Boolean(it) => visitor.visit_bool(*it),
            Value::Other(_) | Value::Removed => Err(Mistake::of_type(&visitor, self.0)),
            Value::List(list) => visitor.visit_seq(Elements { list: list.iter(), index: 0 }),
            Value::Table(entries) => {
                visitor.visit_map(Entries { entries: entries.iter(), next: None, fields })
            }
        };
        visited.map_err(|mistake| mistake.or_at(self.0.span.start))
    }

    fn text(self) -> Option<&'a str> {
        match &self.0.value {
            Value::Text { raw, resolved, .. } => Some(resolved.as_ref().unwrap_or(raw)),
            _ => None,
        }
    }
}

impl<'de> Deserializer<'de> for NodeDeserializer<'_> {
    type Error = Mistake;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        self.visit(None, visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        self.visit(Some(fields), visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        let visited = match (&self.0.value, self.text()) {
            (_, Some(text)) => visitor.visit_enum(StrDeserializer::new(text)),
            (Value::Table(entries), _) if entries.len() == 1 => {
                let (key, node) = &entries[0];
                visitor.visit_enum(Variant { key, node })
            }
            _ => Err(Mistake::plain(list_of("value", None, variants.iter().copied()))),
        };
        visited.map_err(|mistake| mistake.or_at(self.0.span.start))
    }

    /// A value that the type of the options does not read is a mistake.
    fn deserialize_ignored_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Mistake> {
        Err(Mistake::plain("unknown key").or_at(self.0.span.start))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier
    }
}

struct Elements<'a> {
    list: std::slice::Iter<'a, Node>,
    index: usize,
}

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = Mistake;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Mistake> {
        let (index, node) = loop {
            let Some(node) = self.list.next() else { return Ok(None) };
            self.index += 1;
            if !node.is_removed() {
                break (self.index - 1, node);
            }
        };
        let value = seed.deserialize(NodeDeserializer(node));
        // What a type refuses after it was read is at its value.
        let place = |mistake: Mistake| mistake.or_at(node.span.start).below(format!("[{index}]"));
        value.map(Some).map_err(place)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.list.as_slice().iter().filter(|node| !node.is_removed()).count())
    }
}

struct Entries<'a> {
    entries: std::slice::Iter<'a, (Key, Node)>,
    next: Option<(&'a Key, &'a Node)>,
    /// The keys of the type, if it says them.
    fields: Option<&'static [&'static str]>,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Mistake;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Mistake> {
        let Some((key, node)) = self.entries.next() else { return Ok(None) };
        self.next = Some((key, node));
        let place = |mistake: Mistake| mistake.or_at(key.span.start).below(shown_key(&key.name));
        if let Some(fields) = self.fields.filter(|fields| !fields.contains(&&*key.name)) {
            return Err(place(Mistake::unknown_field(&key.name, fields)));
        }
        let name: StrDeserializer<'_, Mistake> = key.name.as_str().into_deserializer();
        seed.deserialize(name).map(Some).map_err(place)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Mistake> {
        let Some((key, node)) = self.next.take() else {
            return Err(Mistake::plain("expected a key before its value"));
        };
        let value = seed.deserialize(NodeDeserializer(node));
        value.map_err(|mistake| mistake.or_at(node.span.start).below(shown_key(&key.name)))
    }
}

/// A variant with values, as a table of one key.
struct Variant<'a> {
    key: &'a Key,
    node: &'a Node,
}

impl<'de, 'a> EnumAccess<'de> for Variant<'a> {
    type Error = Mistake;
    type Variant = VariantValue<'a>;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, VariantValue<'a>), Mistake> {
        let name: StrDeserializer<'_, Mistake> = self.key.name.as_str().into_deserializer();
        let variant = seed.deserialize(name).map_err(|it| it.or_at(self.key.span.start))?;
        Ok((variant, VariantValue(self)))
    }
}

struct VariantValue<'a>(Variant<'a>);

impl VariantValue<'_> {
    fn place(&self) -> impl FnOnce(Mistake) -> Mistake {
        let name = shown_key(&self.0.key.name);
        move |mistake| mistake.below(name)
    }
}

impl<'de> VariantAccess<'de> for VariantValue<'_> {
    type Error = Mistake;

    fn unit_variant(self) -> Result<(), Mistake> {
        Err(Mistake::plain("expected a string, without a value").or_at(self.0.node.span.start))
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Mistake> {
        seed.deserialize(NodeDeserializer(self.0.node)).map_err(self.place())
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Mistake> {
        NodeDeserializer(self.0.node).visit(None, visitor).map_err(self.place())
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        NodeDeserializer(self.0.node).visit(Some(fields), visitor).map_err(self.place())
    }
}
