//! Values that do not fit: named by path, with what was expected, and without the value.

use std::collections::BTreeMap;

use futures::executor::block_on;
use hooks_agent_builtin::answer::StructuredOutput;
use hooks_agent_core::call::CallOptions;
use hooks_agent_core::testing::Script;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::structured_output::{bot, words};

/// The problems of a value of a type, without retries.
fn problems<T: DeserializeOwned + JsonSchema>(value: &Value) -> Vec<String> {
    let output = StructuredOutput::of::<T>().retries(0).build().unwrap();
    let agent = bot(&Script::new().says(value.to_string()));
    match block_on(output.call::<T>(&agent, CallOptions::new(), "Go")) {
        Ok(_) => Vec::new(),
        Err(error) => {
            assert!(!error.to_string().contains("hidden-value"), "{error}");
            words(&error)
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(dead_code)]
enum Payment {
    Card { number: String, year: u16 },
    Cash { euros: f64 },
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code)]
enum External {
    Nothing,
    Card { number: String },
    Cash(f64),
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code)]
enum Untagged {
    Id(u64),
    Named { name: String },
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code)]
struct Strict {
    payment: Option<Payment>,
    external: Option<External>,
    untagged: Option<Untagged>,
    #[serde(default)]
    sums: BTreeMap<String, i32>,
    small: Option<u8>,
    large: Option<u32>,
}

#[test]
fn values_that_fit_have_none() {
    for value in [
        json!({}),
        json!({ "payment": { "kind": "cash", "euros": 1.5 }, "external": "Nothing" }),
        json!({ "external": { "Cash": 2 }, "untagged": 3, "sums": { "a": -1 }, "small": 255 }),
        json!({ "external": { "Card": { "number": "1" } }, "untagged": { "name": "x" } }),
        json!({ "payment": null, "large": 4_294_967_295_u32 }),
    ] {
        assert_eq!(problems::<Strict>(&value), [""; 0], "{value}");
    }
}

#[test]
fn the_variant_that_was_meant_is_named() {
    let of = |payment: Value| problems::<Strict>(&json!({ "payment": payment }));
    assert_eq!(
        of(json!({ "kind": "card", "number": 4, "year": 2030 })),
        ["`payment.number`: a string is expected"]
    );
    assert_eq!(of(json!({ "kind": "cash" })), ["`payment.euros`: is required and missing"]);
    let of = |external: Value| problems::<Strict>(&json!({ "external": external }));
    assert_eq!(
        of(json!({ "Card": { "number": 4 } })),
        ["`external.Card.number`: a string is expected"]
    );
}

#[test]
fn an_unknown_variant_names_those_there_are() {
    let payment = json!({ "payment": { "kind": "hidden-value", "euros": 1 } });
    let [problem] = &problems::<Strict>(&payment)[..] else { panic!("not one") };
    assert!(problem.starts_with("`payment.kind`: "), "{problem}");
    assert!(problem.contains(r#"`"card"`"#) && problem.contains(r#"`"cash"`"#), "{problem}");
    let [problem] = &problems::<Strict>(&json!({ "external": "hidden-value" }))[..] else {
        panic!("not one")
    };
    assert!(problem.contains("Nothing") && !problem.contains("hidden-value"), "{problem}");
    let [problem] = &problems::<Strict>(&json!({ "untagged": true }))[..] else {
        panic!("not one")
    };
    assert!(problem.starts_with("`untagged`: "), "{problem}");
    assert!(problem.contains("integer") && problem.contains("object"), "{problem}");
}

#[test]
fn maps_unknown_fields_and_ranges_have_their_words() {
    assert_eq!(
        problems::<Strict>(&json!({ "sums": { "may": "hidden-value" } })),
        ["`sums.may`: an integer is expected"]
    );
    assert_eq!(
        problems::<Strict>(&json!({ "extra": "hidden-value" })),
        ["`extra`: there is no such field"]
    );
    assert_eq!(problems::<Strict>(&json!({ "small": 256 })), ["`small`: at most 255 is expected"]);
    // The schema has no upper limit for it, its type has.
    assert_eq!(
        problems::<Strict>(&json!({ "large": 5_000_000_000_u64 })),
        ["`large`: u32 is expected"]
    );
    assert_eq!(problems::<Strict>(&json!({ "sums": { "a": 1e300 } })).len(), 1);
}

#[test]
fn a_type_that_refuses_a_value_says_why_in_its_own_words() {
    #[derive(Deserialize, JsonSchema)]
    #[serde(try_from = "u32")]
    #[schemars(with = "u32")]
    struct Even;

    impl TryFrom<u32> for Even {
        type Error = &'static str;

        fn try_from(number: u32) -> Result<Self, Self::Error> {
            if number.is_multiple_of(2) { Ok(Self) } else { Err("an even number, please") }
        }
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code)]
    struct Pairs {
        pairs: Vec<Even>,
    }
    assert_eq!(
        problems::<Pairs>(&json!({ "pairs": [2, 4, 5] })),
        ["`pairs[2]`: an even number, please"]
    );
}

#[test]
fn many_problems_are_cut() {
    let many: Vec<_> = (0..1000).map(|_| "x").collect();
    let found = problems::<Vec<u32>>(&json!(many));
    assert_eq!(found.len(), 20);
    assert_eq!(found[0], "`[0]`: an integer is expected");
}

#[test]
fn a_long_name_is_cut() {
    let name = "ü".repeat(500);
    let [problem] = &problems::<Strict>(&json!({ name: 1 }))[..] else { panic!("not one") };
    assert!(problem.len() < 120 && problem.contains("ü…`"), "{problem}");
}
