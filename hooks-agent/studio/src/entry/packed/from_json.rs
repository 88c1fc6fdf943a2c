//! Packs JSON in its own order: whether content is hidden is said by the first key.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::Serialize;

use crate::entry::packed::pack::pack;
use crate::entry::packed::tag::{END, LIST, MAP};

/// A value that was read from JSON, packed.
#[derive(Clone, Debug)]
pub(crate) struct FromJson(pub(crate) Vec<u8>);

impl<'de> Deserialize<'de> for FromJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut bytes = Vec::new();
        Packing(&mut bytes).deserialize(deserializer)?;
        Ok(Self(bytes))
    }
}

/// Adds the value that is read next.
struct Packing<'a>(&'a mut Vec<u8>);

impl Packing<'_> {
    fn add<T: Serialize + ?Sized, E: Error>(self, value: &T) -> Result<(), E> {
        pack(value, self.0).map_err(E::custom)
    }
}

impl<'de> DeserializeSeed<'de> for Packing<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Packing<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.add(&())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.add(&value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.add(&value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.add(&value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.add(&value)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        self.add(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.0.push(LIST);
        while items.next_element_seed(Packing(self.0))?.is_some() {}
        self.0.push(END);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        self.0.push(MAP);
        while members.next_key_seed(Packing(self.0))?.is_some() {
            members.next_value_seed(Packing(self.0))?;
        }
        self.0.push(END);
        Ok(())
    }
}
