//! Values that are written in another form are found, and their place is that in the text.

use hooks_agent_builtin::guard::pii::PiiKind;

use crate::pii_find::{found, not_found, values};

#[test]
fn invisible_characters_hide_no_value() {
    found(PiiKind::Email, &["ana\u{200b}@example.com", "an\u{ad}a@exam\u{2060}ple.com"]);
    found(PiiKind::CreditCard, &["4532\u{200b}015112830366", "4532 0151\u{feff} 1283 0366"]);
    found(PiiKind::Iban, &["DE89\u{200d}370400440532013000"]);
    found(PiiKind::Ipv4, &["192.168\u{200b}.10.7"]);
    found(PiiKind::Phone, &["+49\u{2061}30 901820"]);
    found(PiiKind::MacAddress, &["00:1A:\u{200b}2B:3C:4D:5E"]);
}

#[test]
fn full_width_and_other_forms_of_characters_hide_no_value() {
    found(
        PiiKind::Email,
        &["ａｎａ＠ｅｘａｍｐｌｅ．ｃｏｍ", "ana＠example.com", "ana@example。com"],
    );
    found(PiiKind::Email, &["𝐚𝐧𝐚@example.com", "ana﹫example.com"]);
    found(PiiKind::CreditCard, &["４５３２０１５１１２８３０３６６", "4532－0151－1283－0366"]);
    found(
        PiiKind::Phone,
        &["＋４９ ３０ ９０１８２０", "１３８ ００１３ ８０００", "+٤٩ ٣٠ ٩٠١٨٢٠"],
    );
    found(PiiKind::Iban, &["ＤＥ８９ ３７０４ ００４４ ０５３２ ０１３０ ００"]);
    found(PiiKind::Ipv4, &["１９２．１６８．１０．７"]);
}

#[test]
fn other_blanks_and_dashes_hide_no_value() {
    found(
        PiiKind::CreditCard,
        &[
            "4532\u{a0}0151\u{a0}1283\u{a0}0366",
            "4532\u{2009}0151\u{2009}1283\u{2009}0366",
            "4532–0151–1283–0366",
            "4532\u{2011}0151\u{2011}1283\u{2011}0366",
        ],
    );
    found(PiiKind::Iban, &["GB82\u{a0}WEST\u{a0}1234\u{a0}5698\u{a0}7654\u{a0}32"]);
    found(PiiKind::Phone, &["+49\u{202f}30\u{202f}901820", "212–555–2671"]);
}

#[test]
fn one_line_break_inside_of_a_value_hides_nothing() {
    found(
        PiiKind::CreditCard,
        &["4532 0151\n1283 0366", "4532 0151 \r\n  1283 0366", "45320151\n12830366"],
    );
    found(PiiKind::Iban, &["DE89 3704 0044\n0532 0130 00"]);
    found(PiiKind::Phone, &["+49 30\n901820"]);
    found(PiiKind::Email, &["ana@\nexample.com", "ana\n@example.com", "ana@example.\ncom"]);
}

#[test]
fn values_that_are_whole_in_their_lines_are_two() {
    let text = "ana@example.com\nbob@example.org";
    assert_eq!(values(PiiKind::Email, text), ["ana@example.com", "bob@example.org"]);
    let text = "+49 30 901820\n+49 30 901821";
    assert_eq!(values(PiiKind::Phone, text), ["+49 30 901820", "+49 30 901821"]);
    let text = "4532 0151 1283 0366\n4111 1111 1111 1111";
    assert_eq!(values(PiiKind::CreditCard, text), ["4532 0151 1283 0366", "4111 1111 1111 1111"]);
    assert_eq!(values(PiiKind::Email, "ask ana@example.\nThe answer"), [""; 0]);
}

#[test]
fn two_line_breaks_are_between_values() {
    not_found(PiiKind::CreditCard, &["4532 0151\n1283\n0366", "4532\n\n0151 1283 0366"]);
    not_found(PiiKind::Ipv4, &["1.2\n3.4", "1.2.\n3.4"]);
    not_found(PiiKind::CreditCard, &["4532\t0151\t1283\t0366"]);
}

#[test]
fn entities_and_escapes_hide_no_value() {
    found(
        PiiKind::Email,
        &["ana&#64;example.com", "ana&#x40;example&period;com", "ana&commat;example.com"],
    );
    found(PiiKind::Email, &["ana%40example.com", r"ana\u0040example.com", r"ana@example\u002ecom"]);
    found(
        PiiKind::CreditCard,
        &["4532&nbsp;0151&nbsp;1283&nbsp;0366", "4532&#45;0151&#45;1283&#45;0366"],
    );
    found(
        PiiKind::CreditCard,
        &["4532%200151%201283%200366", r"4532\u00a00151\u00a01283\u00a00366"],
    );
    found(PiiKind::Phone, &["&#43;49 30 901820", "%2B49 30 901820"]);
    let text = r#"{"url":"https:\/\/example.com\/ana"}"#;
    assert_eq!(values(PiiKind::Url, text), [r"https:\/\/example.com\/ana"]);
}

#[test]
fn a_value_does_not_have_the_letter_of_an_escape_before_it() {
    for space in [r"\n", r"\t", r"\r\n"] {
        for (kind, value) in [
            (PiiKind::Email, "ana@example.com"),
            (PiiKind::CreditCard, "4532015112830366"),
            (PiiKind::Phone, "+49 30 901820"),
            (PiiKind::Ipv4, "192.168.10.7"),
        ] {
            let text = format!(r#"{{"text":"see{space}{value}{space}and"}}"#);
            assert_eq!(values(kind, &text), [value], "in {text}");
        }
    }
}

#[test]
fn typography_and_code_are_no_values() {
    not_found(
        PiiKind::Phone,
        &["10\u{a0}000 €", "1–2", "pages 12–15", "2–3–2021", "٤٥", "§\u{a0}12"],
    );
    not_found(PiiKind::Email, &["a&amp;b", "100%40", "x &lt; y @ z", "«\u{a0}bonjour\u{a0}»"]);
    not_found(PiiKind::CreditCard, &["½ ⑩ ²", "1\u{a0}234\u{a0}567\u{a0}890\u{a0}123"]);
}

#[test]
fn a_long_text_in_another_form_is_read_in_linear_time() {
    let text = "ａｎａ＠ｅｘａｍｐｌｅ．ｃｏｍ ".repeat(2000);
    assert_eq!(values(PiiKind::Email, &text).len(), 2000);
    let text = r"\nana@example.com".repeat(20_000);
    let found = values(PiiKind::Email, &text);
    assert!(found.len() == 20_000 && found.iter().all(|value| *value == "ana@example.com"));
}
