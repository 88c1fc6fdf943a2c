//! Data of entries as they are kept: packed when they are written, made JSON when somebody reads.

mod from_json;
mod json;
mod pack;
mod tag;

use serde::de::DeserializeOwned;

pub(crate) use from_json::FromJson;
pub(crate) use pack::pack;

use crate::entry::packed::json::add_json;

/// Packed data of an entry; empty if it has none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packed<'a>(pub(crate) &'a [u8]);

impl<'a> Packed<'a> {
    pub(crate) fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The bytes, in which each text stands as it is.
    pub(crate) fn bytes(self) -> &'a [u8] {
        self.0
    }

    /// Returns whether its content is hidden.
    pub(crate) fn is_hidden(self) -> bool {
        // Names and sizes begin with it.
        self.0.starts_with(b"\x01\x86hidden\x05")
    }

    /// Adds its JSON.
    pub(crate) fn add_json(self, json: &mut Vec<u8>) {
        add_json(self.0, json);
    }

    /// Reads it; nothing if its content is hidden.
    pub(crate) fn read<T: DeserializeOwned>(self) -> Option<T> {
        if self.is_hidden() { None } else { self.read_any() }
    }

    /// Reads it, also with hidden content.
    pub(crate) fn read_any<T: DeserializeOwned>(self) -> Option<T> {
        let mut json = Vec::with_capacity(self.0.len() * 2);
        self.add_json(&mut json);
        serde_json::from_slice(&json).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Serialize;
    use serde_json::{Value, json};

    use super::{FromJson, Packed, pack};

    #[derive(Serialize)]
    enum Kind {
        One,
        Two(u8),
        Three(i8, char),
        Four { five: Option<()> },
    }

    #[derive(Serialize)]
    #[serde(tag = "type")]
    enum Tagged {
        Inner(Flat),
    }

    #[derive(Serialize)]
    struct Flat {
        first: f32,
        #[serde(flatten)]
        rest: BTreeMap<String, Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        left_out: Option<u8>,
    }

    /// Expects the JSON that `serde_json` writes.
    fn same(value: &impl Serialize) {
        let mut bytes = b"before".to_vec();
        pack(value, &mut bytes).unwrap();
        let mut json = Vec::new();
        Packed(&bytes[6..]).add_json(&mut json);
        assert_eq!(String::from_utf8(json).unwrap(), serde_json::to_string(value).unwrap());
    }

    #[test]
    fn its_json_is_that_of_the_value() {
        for value in [
            json!(null),
            json!([]),
            json!({}),
            json!([[], {}, [{ "a": [1, { "b": [] }] }], "x"]),
            json!({ "": "", "quotes \" \\": "lines\n\u{0}\u{7f}\u{1f600}", "Ä": [true, false, null] }),
            json!([0, 63, 64, 127, 128, 255, 256, -1, -64, i64::MIN, u64::MAX, 0.1, -1.5e300]),
            json!(["x".repeat(126), "y".repeat(127), "z".repeat(128), "ä".repeat(70_000)]),
        ] {
            same(&value);
        }
        same(&[Kind::One, Kind::Two(2), Kind::Three(-3, 'ß'), Kind::Four { five: Some(()) }]);
        let rest = BTreeMap::from([("more".to_owned(), json!([1.5]))]);
        same(&Tagged::Inner(Flat { first: 0.1, rest, left_out: None }));
        same(&(1u8, "two", [3.0f32, f32::NAN], Some(4)));
        same(&BTreeMap::from([(Some("key"), f64::INFINITY)]));
        same(&b"bytes");
    }

    #[test]
    fn numbers_keep_their_digits() {
        struct Digits;
        impl Serialize for Digits {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeStruct;
                let name = "$serde_json::private::Number";
                let mut number = serializer.serialize_struct(name, 1)?;
                number.serialize_field(name, "1.2000000000000000001")?;
                number.end()
            }
        }
        let (mut bytes, mut json) = (Vec::new(), Vec::new());
        pack(&[Digits, Digits], &mut bytes).unwrap();
        Packed(&bytes).add_json(&mut json);
        assert_eq!(json, b"[1.2000000000000000001,1.2000000000000000001]");
    }

    #[test]
    fn json_is_packed_in_its_own_order() {
        for json in [
            "null",
            "{\"hidden\":true,\"a\":[{\"z\":1,\"b\":null,\"a\":{}}]}",
            "[0,63,64,18446744073709551615,-1,-9223372036854775808,0.1,-1.5,\"\\u0000\\\"ä\"]",
        ] {
            let FromJson(bytes) = serde_json::from_str(json).unwrap();
            let mut written = Vec::new();
            Packed(&bytes).add_json(&mut written);
            assert_eq!(String::from_utf8(written).unwrap(), json);
        }
        let FromJson(hidden) = serde_json::from_str("{\"hidden\":true,\"a\":1}").unwrap();
        assert!(Packed(&hidden).is_hidden());
    }

    #[test]
    fn what_cannot_be_packed_leaves_nothing() {
        let mut bytes = b"before".to_vec();
        let keys_are_numbers = [BTreeMap::from([(1, "one")])];
        pack(&keys_are_numbers, &mut bytes).unwrap_err();
        assert_eq!(bytes, b"before");
    }

    #[test]
    fn hidden_content_is_not_read() {
        let mut bytes = Vec::new();
        pack(&json!({ "hidden": true }), &mut bytes).unwrap();
        assert!(Packed(&bytes).is_hidden());
        assert_eq!(Packed(&bytes).read::<Value>(), None);
        assert_eq!(Packed(&bytes).read_any::<Value>(), Some(json!({ "hidden": true })));
        bytes.clear();
        pack(&json!({ "hidden": false }), &mut bytes).unwrap();
        assert_eq!(Packed(&bytes).read::<Value>(), Some(json!({ "hidden": false })));
    }

    #[test]
    fn bytes_that_are_cut_are_no_value() {
        let mut bytes = Vec::new();
        let value = json!({ "text": "x".repeat(300), "numbers": [1, 1_000, -1, 1.5] });
        pack(&value, &mut bytes).unwrap();
        for end in 0..bytes.len() {
            assert_eq!(Packed(&bytes[..end]).read::<Value>(), None, "{end}");
        }
    }
}
