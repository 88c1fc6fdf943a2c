//! Packs values.

use std::fmt::{self, Display};

use serde::ser::{
    self, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use crate::entry::packed::tag::{
    DIGITS, END, FALSE, FLOAT, LIST, LONG_TEXT, MAP, NULL, NUMBER, SHORT_FLOAT, SIGNED, TEXT, TRUE,
    UNSIGNED,
};

/// The name that `serde_json` gives its numbers, and their field, where a program keeps all their digits.
const DIGITS_OF: &str = "$serde_json::private::Number";

/// A value that cannot be packed: it failed to be written, has a key that is no text, or a number of more than 64 bits.
#[derive(Debug)]
pub(crate) struct NotPacked;

/// Adds a value to the bytes, which stay as they are if it cannot be packed.
pub(crate) fn pack<T: Serialize + ?Sized>(value: &T, into: &mut Vec<u8>) -> Result<(), NotPacked> {
    let start = into.len();
    let packed = value.serialize(Packer(into));
    if packed.is_err() {
        into.truncate(start);
    }
    packed
}

/// Adds values to bytes.
struct Packer<'a>(&'a mut Vec<u8>);

/// A map or a list that is being written, and how many ends it has.
struct Open<'a> {
    bytes: &'a mut Vec<u8>,
    ends: usize,
}

impl<'a> Packer<'a> {
    fn number(self, tag: u8, bytes: &[u8]) {
        self.0.push(tag);
        self.0.extend_from_slice(bytes);
    }

    fn text(&mut self, text: &str) -> Result<(), NotPacked> {
        match u8::try_from(text.len()) {
            Ok(len @ ..TEXT) => self.0.push(TEXT | len),
            _ => {
                let len = u32::try_from(text.len()).map_err(|_| NotPacked)?;
                self.0.push(LONG_TEXT);
                self.0.extend_from_slice(&len.to_le_bytes());
            }
        }
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }

    fn open(self, tag: u8) -> Open<'a> {
        self.0.push(tag);
        Open { bytes: self.0, ends: 1 }
    }

    fn open_variant(mut self, variant: &str, tag: u8) -> Result<Open<'a>, NotPacked> {
        self.0.push(MAP);
        self.text(variant)?;
        self.0.push(tag);
        Ok(Open { bytes: self.0, ends: 2 })
    }
}

impl Open<'_> {
    fn add<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotPacked> {
        value.serialize(Packer(self.bytes))
    }

    fn field<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), NotPacked> {
        Packer(self.bytes).text(key)?;
        self.add(value)
    }

    fn close(self) {
        for _ in 0..self.ends {
            self.bytes.push(END);
        }
    }
}

impl<'a> Serializer for Packer<'a> {
    type Ok = ();
    type Error = NotPacked;
    type SerializeSeq = Open<'a>;
    type SerializeTuple = Open<'a>;
    type SerializeTupleStruct = Open<'a>;
    type SerializeTupleVariant = Open<'a>;
    type SerializeMap = Open<'a>;
    type SerializeStruct = Open<'a>;
    type SerializeStructVariant = Open<'a>;

    fn serialize_bool(self, value: bool) -> Result<(), NotPacked> {
        self.0.push(if value { TRUE } else { FALSE });
        Ok(())
    }

    fn serialize_i8(self, value: i8) -> Result<(), NotPacked> {
        self.serialize_i64(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<(), NotPacked> {
        self.serialize_i64(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<(), NotPacked> {
        self.serialize_i64(value.into())
    }

    fn serialize_i64(self, value: i64) -> Result<(), NotPacked> {
        match u64::try_from(value) {
            Ok(value) => self.serialize_u64(value),
            Err(_) => {
                self.number(SIGNED, &value.to_le_bytes());
                Ok(())
            }
        }
    }

    fn serialize_u8(self, value: u8) -> Result<(), NotPacked> {
        self.serialize_u64(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<(), NotPacked> {
        self.serialize_u64(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<(), NotPacked> {
        self.serialize_u64(value.into())
    }

    fn serialize_u64(self, value: u64) -> Result<(), NotPacked> {
        match u8::try_from(value) {
            Ok(small @ ..NUMBER) => self.0.push(NUMBER | small),
            _ => self.number(UNSIGNED, &value.to_le_bytes()),
        }
        Ok(())
    }

    fn serialize_f32(self, value: f32) -> Result<(), NotPacked> {
        self.number(SHORT_FLOAT, &value.to_le_bytes());
        Ok(())
    }

    fn serialize_f64(self, value: f64) -> Result<(), NotPacked> {
        self.number(FLOAT, &value.to_le_bytes());
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<(), NotPacked> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(mut self, value: &str) -> Result<(), NotPacked> {
        self.text(value)
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), NotPacked> {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> Result<(), NotPacked> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), NotPacked> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), NotPacked> {
        self.0.push(NULL);
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), NotPacked> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), NotPacked> {
        self.text(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), NotPacked> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), NotPacked> {
        let mut open = self.open(MAP);
        open.field(variant, value)?;
        open.close();
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Open<'a>, NotPacked> {
        Ok(self.open(LIST))
    }

    fn serialize_tuple(self, _: usize) -> Result<Open<'a>, NotPacked> {
        Ok(self.open(LIST))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Open<'a>, NotPacked> {
        Ok(self.open(LIST))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Open<'a>, NotPacked> {
        self.open_variant(variant, LIST)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Open<'a>, NotPacked> {
        Ok(self.open(MAP))
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Open<'a>, NotPacked> {
        if name == DIGITS_OF {
            self.0.push(DIGITS);
            return Ok(Open { bytes: self.0, ends: 0 });
        }
        Ok(self.open(MAP))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Open<'a>, NotPacked> {
        self.open_variant(variant, MAP)
    }
}

/// Implements a trait of lists by `add`.
macro_rules! list {
    ($($list:ident, $add:ident;)+) => {$(
        impl $list for Open<'_> {
            type Ok = ();
            type Error = NotPacked;

            fn $add<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotPacked> {
                self.add(value)
            }

            fn end(self) -> Result<(), NotPacked> {
                self.close();
                Ok(())
            }
        }
    )+};
}

list! {
    SerializeSeq, serialize_element;
    SerializeTuple, serialize_element;
    SerializeTupleStruct, serialize_field;
    SerializeTupleVariant, serialize_field;
}

/// Implements a trait of named fields by `field`.
macro_rules! fields {
    ($($fields:ident)+) => {$(
        impl $fields for Open<'_> {
            type Ok = ();
            type Error = NotPacked;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), NotPacked> {
                if key == DIGITS_OF { self.add(value) } else { self.field(key, value) }
            }

            fn end(self) -> Result<(), NotPacked> {
                self.close();
                Ok(())
            }
        }
    )+};
}

fields! { SerializeStruct SerializeStructVariant }

impl SerializeMap for Open<'_> {
    type Ok = ();
    type Error = NotPacked;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), NotPacked> {
        let start = self.bytes.len();
        self.add(key)?;
        let is_text = self.bytes.get(start).is_some_and(|tag| *tag >= TEXT || *tag == LONG_TEXT);
        if is_text { Ok(()) } else { Err(NotPacked) }
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotPacked> {
        self.add(value)
    }

    fn end(self) -> Result<(), NotPacked> {
        self.close();
        Ok(())
    }
}

impl ser::Error for NotPacked {
    fn custom<T: Display>(_: T) -> Self {
        Self
    }
}

impl std::error::Error for NotPacked {}

impl Display for NotPacked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the value cannot be packed")
    }
}
