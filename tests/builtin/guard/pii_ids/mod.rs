//! Identity and tax numbers of authorities are found by their check digits and the word before them.

mod america;
mod asia;
mod europe;
mod vat;

use std::sync::{Arc, Mutex};

use hooks_agent_builtin::guard::PiiDetection;
use hooks_agent_builtin::guard::pii::{Kinds, PiiConfidence, PiiDetector, PiiKind, PiiScanner};
use hooks_agent_core::message::ToolOutput;
use hooks_agent_core::prelude::*;
use serde_json::{Value, json};

/// A kind, numbers that are such a one, and numbers that are not.
type Example = (PiiKind, &'static [&'static str], &'static [&'static str]);

fn examples() -> impl Iterator<Item = &'static Example> {
    [america::EXAMPLES, asia::EXAMPLES, europe::EXAMPLES, vat::EXAMPLES].into_iter().flatten()
}

/// The values of a kind in a text.
fn values(scanner: &PiiScanner, kind: PiiKind, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    scanner.scan(text, 0, &mut found);
    found.retain(|found| found.kind == kind.name());
    found.iter().map(|found| text[found.range.clone()].to_owned()).collect()
}

/// A word that stands before numbers of a kind.
fn word(kind: PiiKind) -> &'static str {
    use PiiKind as K;
    match kind {
        K::UsSsn => "ssn",
        K::UsItin => "itin",
        K::UsAba => "routing number",
        K::UsNpi => "npi",
        K::UsDea => "dea number",
        K::CaSin => "social insurance number",
        K::BrCpf => "cpf",
        K::BrCnpj => "cnpj",
        K::ArCuit => "cuit",
        K::ClRut => "rut:",
        K::CoNit => "nit:",
        K::InAadhaar => "aadhaar",
        K::InPan => "permanent account number",
        K::JpMyNumber => "マイナンバー",
        K::KrRrn => "주민등록번호",
        K::IlId => "תעודת זהות",
        K::AuTfn => "tax file number",
        K::AuMedicare => "medicare",
        K::UkNhs => "nhs number",
        K::UkNino => "national insurance",
        K::DeSteuerId => "Steuer-ID",
        K::FrNir => "numéro de sécurité sociale",
        K::NlBsn => "bsn",
        K::PlPesel => "PESEL",
        _ => "",
    }
}

#[test]
fn every_kind_has_examples_that_are_found_and_others_that_are_not() {
    for kind in Kinds::ids() {
        assert!(examples().any(|(of, ..)| *of == kind), "{kind:?} has no examples");
    }
    for (kind, right, wrong) in examples() {
        let low = PiiScanner::new([*kind]).min_confidence(PiiConfidence::Low);
        for number in *right {
            for text in [
                (*number).to_owned(),
                format!("see {number}, and"),
                format!("\"{number}\""),
                format!("是{number}。"),
            ] {
                assert_eq!(values(&low, *kind, &text), [*number], "{kind:?} in {text}");
            }
        }
        for number in *wrong {
            assert_eq!(values(&low, *kind, number), [""; 0], "{kind:?}");
        }
    }
}

#[test]
fn a_word_before_a_number_makes_sure_of_it() {
    let scanner = PiiScanner::all();
    for (kind, right, wrong) in examples().filter(|(kind, ..)| !word(*kind).is_empty()) {
        let word = word(*kind);
        for number in *right {
            let text = format!("{word} {number}");
            assert_eq!(values(&scanner, *kind, &text), [*number], "{kind:?} in {text}");
        }
        for number in *wrong {
            assert_eq!(values(&scanner, *kind, &format!("{word} {number}")), [""; 0], "{kind:?}");
        }
    }
}

#[test]
fn a_key_of_json_is_a_word_before_a_number() {
    let scanner = PiiScanner::all();
    for (kind, text, number) in [
        (PiiKind::UsSsn, r#"{"ssn": 219099999}"#, "219099999"),
        (PiiKind::UsSsn, r#"{"socialSecurityNumber":"219-09-9999"}"#, "219-09-9999"),
        (PiiKind::DeSteuerId, r#"{"steuer_id": "86095742719"}"#, "86095742719"),
        (PiiKind::BrCpf, r#"{"cpf":"529.982.247-25"}"#, "529.982.247-25"),
    ] {
        assert_eq!(values(&scanner, kind, text), [number], "in {text}");
    }
}

#[test]
fn a_weak_check_alone_finds_nothing() {
    let scanner = PiiScanner::all();
    for text in
        ["order 219-09-9999", "219099999", "ref 1234567893", "530.981-2", "10 digits: 9434765919"]
    {
        let mut found = Vec::new();
        scanner.scan(text, 0, &mut found);
        found.retain(|found| Kinds::ids().any(|kind| found.kind == kind.name()));
        assert_eq!(found, [], "in {text}");
    }
}

#[test]
fn numbers_in_longer_numbers_and_in_words_are_none() {
    let low = PiiScanner::new(Kinds::ids()).min_confidence(PiiConfidence::Low);
    for text in [
        "v1.219-09-9999",
        "219-09-9999-1",
        "219-09-9999.5",
        "a219-09-9999",
        "219-09-9999b",
        "x_219099999",
        "1.219099999",
        "https://x.io/219-09-9999/4111",
    ] {
        assert_eq!(values(&low, PiiKind::UsSsn, text), [""; 0], "in {text}");
    }
}

#[test]
fn numbers_in_another_form_are_found() {
    let scanner = PiiScanner::all();
    for text in [
        "SSN 219\u{2011}09\u{2011}9999",
        "SSN ２１９－０９－９９９９",
        "SSN 219-09-\n9999",
        "SSN 219\u{200b}-09-9999",
        "SSN 219&#45;09&#45;9999",
    ] {
        let found = values(&scanner, PiiKind::UsSsn, text);
        assert_eq!(found.len(), 1, "in {text}");
    }
}

#[tokio::test]
async fn the_key_of_an_argument_is_a_word_before_it() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (ran, call) = (
        seen.clone(),
        json!({ "person": { "ssn": [665_123_456, "665-12-3456"] }, "order": 219_099_999, "ids": "219-09-9999" }),
    );
    let tool = FunctionTool::new("keep", "Keeps.", move |input: Value| {
        ran.lock().unwrap().push(input.clone());
        async move {
            ToolOutput::json(
                json!({ "nationalInsurance": "JG103059A", "other": "219099999", "ssn": 219_099_999 }),
            )
        }
    });
    let model = ScriptedModel::new("script", move |request| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(result) => result.output.structured().unwrap().to_string().into(),
            None => ToolUse::new("1", "keep", call.clone()).into(),
        }
    });
    let hook = PiiDetection::all().everywhere();
    let agent = ReActAgent::builder("bot").model(model).tool(tool).hook(hook).build().unwrap();
    let reply = agent.call("go").await.unwrap();
    let given = seen.lock().unwrap().clone();
    let hidden = "[REDACTED_US_SSN]";
    let expected = json!({ "person": { "ssn": [hidden, hidden] }, "order": 219_099_999, "ids": "219-09-9999" });
    assert_eq!(given, [expected]);
    let kept = serde_json::to_string(&agent.memory().messages()).unwrap();
    for value in ["665123456", "665-12-3456", "JG103059A"] {
        assert!(!kept.contains(value), "{value} is in memory");
    }
    let result: Value = serde_json::from_str(&reply.text()).unwrap();
    assert_eq!(
        result,
        json!({ "nationalInsurance": "[REDACTED_UK_NINO]", "other": "219099999", "ssn": hidden })
    );
}
