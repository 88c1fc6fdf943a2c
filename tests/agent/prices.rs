//! Prices of tokens.

use hooks_agent_core::message::Usage;
use hooks_agent_core::model::{PriceError, PriceTable};

#[test]
fn prices_of_a_file_are_those_of_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("prices.json");
    std::fs::write(
        &path,
        r#"{ "large": { "input": 3, "output": 15.0, "cache_read": 0.3, "cache_creation": 3.75 },
            "*": { "input": 0.1, "output": 0.000001 } }"#,
    )
    .unwrap();
    let expected = PriceTable::new()
        .model("large", 3_000_000, 15_000_000)
        .cached("large", 300_000, 3_750_000)
        .other_models(100_000, 1);
    let read = PriceTable::read(&path).unwrap();
    assert_eq!(read, expected);
    let usage = Usage::new(1_000_000, 0).cached(600_000, 400_000);
    assert_eq!(read.cost_of("large", usage), Some(180_000 + 1_500_000));
    let more_than_there_is = Usage::new(10, 0).cached(1_000_000, 1_000_000);
    assert_eq!(read.cost_of("large", more_than_there_is), Some(3));
    let missing = PriceTable::read(folder.path().join("none.json")).unwrap_err();
    assert!(missing.to_string().contains("none.json"), "{missing}");
}

#[test]
fn what_is_no_price_is_refused_in_words() {
    for text in [
        "",
        "[]",
        r#"{"large": 3}"#,
        r#"{"large": {"input": 3}}"#,
        r#"{"large": {"input": "3", "output": 1}}"#,
        r#"{"large": {"input": 3, "output": 1, "cached": 1}}"#,
    ] {
        let refused = PriceTable::from_json(text).unwrap_err();
        assert!(matches!(refused, PriceError::Json(_)), "{text}: {refused}");
    }
    for (price, shown) in [("-0.1", "-0.1"), ("1e10", "10000000000")] {
        let text = format!(r#"{{"large": {{"input": 1, "output": {price}}}}}"#);
        let refused = PriceTable::from_json(&text).unwrap_err().to_string();
        let expected = format!(
            "the price `output` of model `large` is {shown}, expected one from 0 to a billion"
        );
        assert_eq!(refused, expected);
    }
}
