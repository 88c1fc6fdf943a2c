//! What people are reached at, when they were born, where they are, and their documents.

use hooks_agent_builtin::guard::pii::{
    Kinds, PiiConfidence, PiiDetector, PiiKind, PiiScanner, UnknownRegion,
};

use crate::pii_find::values;

fn of(scanner: &PiiScanner, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    scanner.scan(text, 0, &mut found);
    found.into_iter().map(|found| text[found.range].to_owned()).collect()
}

#[test]
fn numbers_of_all_regions_are_found_with_their_country_code() {
    for number in [
        "+24762889",
        "+1 242-345-6789",
        "+49 800 1234567890",
        "+61 1300 123 456",
        "+972 1599-123456",
        "+41 860 12 345 67 89",
        "+55 4004-1234",
        "+90 4441444",
        "+86 16812345",
        "+7 900 123-45-67",
    ] {
        assert_eq!(values(PiiKind::Phone, &format!("see {number} there")), [number], "{number}");
    }
    // Too short to be one by itself.
    assert!(values(PiiKind::Phone, "a +98 9601 b").is_empty());
    assert_eq!(values(PiiKind::Phone, "tel +98 9601 b"), ["+98 9601"]);
    for text in ["+999 123 456 789", "+12 345", "1+4912345678", "+49 12"] {
        assert!(values(PiiKind::Phone, text).is_empty(), "{text}");
    }
}

#[test]
fn a_word_before_digits_says_that_they_are_called() {
    for (text, number) in [
        ("Phone:\n60-56-85-91", "60-56-85-91"),
        ("call me on 467 3395", "467 3395"),
        ("Fax: 345-899-3560x4587", "345-899-3560x4587"),
        ("\"homePhone\": \"9498777106\"", "9498777106"),
        ("Teléfono 91 234 5678.", "91 234 5678"),
        ("手机号：98765432", "98765432"),
        ("тел. 234 56 78", "234 56 78"),
        ("They are not answering at 78 651 450", "78 651 450"),
    ] {
        assert_eq!(values(PiiKind::Phone, text), [number], "{text}");
    }
    for text in [
        "order 467 3395",
        "phone order 4673395",
        "call 12345",
        "tel 2024-05-01",
        "fax 01.02.2024",
        "phone 192.168.10.20",
        "the hotel 467 3395",
        "answering at 12345678",
    ] {
        assert!(values(PiiKind::Phone, text).is_empty(), "{text}");
    }
}

#[test]
fn numbers_of_a_region_that_is_named_need_no_country_code() {
    let scanner = PiiScanner::new([PiiKind::Phone]);
    let here = scanner.clone().phone_regions(["es", "US", "DE"]).unwrap();
    for number in ["612 34 56 78", "415 555 0132", "030901820123"] {
        assert_eq!(of(&here, &format!("see {number} there")), [number]);
    }
    for text in ["12 345 678", "4155550132", "312 456", "2024 05 01"] {
        assert!(of(&here, text).is_empty(), "{text}");
    }
    assert!(of(&scanner, "see 415 555 0132 there").is_empty());
    let error = scanner.phone_regions(["XX"]).unwrap_err();
    assert_eq!(error, UnknownRegion { name: "XX".to_owned() });
    assert!(error.to_string().contains("expected two letters"));
}

#[test]
fn a_slash_between_blanks_parts_a_number() {
    let german = PiiScanner::new([PiiKind::Phone]).phone_regions(["DE"]).unwrap();
    for number in ["030 / 90 18 20", "089 / 63648018", "+49 30 / 901820"] {
        assert_eq!(of(&german, &format!("office {number}, second floor")), [number]);
    }
}

#[test]
fn cards_of_no_known_issuer_are_found_behind_a_word() {
    for number in ["630427373398", "180016070420458", "3598899323053410"] {
        let text = format!("my card number is {number}.");
        assert_eq!(values(PiiKind::CreditCard, &text), [number]);
    }
    assert!(values(PiiKind::CreditCard, "order 3598899323053410").is_empty());
    assert!(
        values(PiiKind::CreditCard, "card 3598899323053411").is_empty(),
        "its checksum is wrong"
    );
    // The last group of one is not the first of the next.
    let text = "4012-8888-8888-1881 4012 8888 8888 1881";
    assert_eq!(values(PiiKind::CreditCard, text), ["4012-8888-8888-1881", "4012 8888 8888 1881"]);
}

#[test]
fn dates_are_those_of_a_birth_behind_a_word() {
    for (text, date) in [
        ("She was born on 2/8/1935.", "2/8/1935"),
        ("born March 12, 1985 in Rome", "March 12, 1985"),
        ("Geburtsdatum: 12. März 1985", "12. März 1985"),
        ("{\"date_of_birth\": \"1985-03-12\"}", "1985-03-12"),
        ("出生日期：1985-03-12", "1985-03-12"),
        ("дата рождения 12.03.1985", "12.03.1985"),
    ] {
        assert_eq!(values(PiiKind::BirthDate, text), [date], "{text}");
    }
    for text in ["on 2/8/1935", "born 2/31/35/1", "born in 1935", "born 13/13/1935", "reborn 1.2"] {
        assert!(values(PiiKind::BirthDate, text).is_empty(), "{text}");
    }
}

#[test]
fn documents_are_found_behind_a_word_and_never_without() {
    for (kind, text, number) in [
        (PiiKind::Passport, "passport no. C01X00T47", "C01X00T47"),
        (PiiKind::Passport, "Reisepass: C01X00T47", "C01X00T47"),
        (PiiKind::Passport, "护照号 E12345678", "E12345678"),
        (PiiKind::DrivingLicence, "driver's license A1234567", "A1234567"),
        (PiiKind::DrivingLicence, "driving licence MORGA657054SM9IJ", "MORGA657054SM9IJ"),
    ] {
        assert_eq!(values(kind, text), [number], "{text}");
    }
    let low = PiiScanner::new(Kinds::documents()).min_confidence(PiiConfidence::Low);
    for text in ["A1234567", "part C01X00T47", "password A1234567"] {
        assert!(of(&low, text).is_empty(), "{text}");
    }
}

#[test]
fn plates_are_found_behind_a_word_by_choice_alone() {
    let plates = PiiScanner::new([PiiKind::LicencePlate]);
    for (text, plate) in [
        ("the number plate AB12 CDE, blue", "AB12 CDE"),
        ("Kennzeichen: M-AB 1234", "M-AB 1234"),
        ("Kfz-Kennzeichen HH-X 7", "HH-X 7"),
        ("immatriculation AA-229-BB", "AA-229-BB"),
        ("matr\u{ed}cula 1234 BCD", "1234 BCD"),
        ("kenteken 12-ABC-3", "12-ABC-3"),
        ("license plate 7ABC123", "7ABC123"),
        ("placa BRA2E19", "BRA2E19"),
        ("number plate: KA 01 AB 1234", "KA 01 AB 1234"),
        ("\u{8f66}\u{724c}\u{53f7} \u{4eac}A12345", "A12345"),
    ] {
        assert_eq!(of(&plates, text), [plate], "{text}");
        assert_eq!(of(&PiiScanner::all(), text), [""; 0], "{text}");
    }
    for text in ["AB12 CDE", "M-AB 1234", "the plate is blue", "number plate of a car"] {
        assert_eq!(of(&plates, text), [""; 0], "{text}");
    }
}

#[test]
fn places_and_addresses_of_currencies_are_found() {
    for (kind, text, value) in [
        (PiiKind::Coordinates, "gps 48.8566, 2.3522", "48.8566, 2.3522"),
        (PiiKind::Coordinates, "at 48.8566° N, 2.3522° E.", "48.8566° N, 2.3522° E"),
        (
            PiiKind::CryptoAddress,
            "to 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa!",
            "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
        ),
        (
            PiiKind::CryptoAddress,
            "(bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4)",
            "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
        ),
        (
            PiiKind::CryptoAddress,
            "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed.",
            "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
        ),
    ] {
        assert_eq!(values(kind, text), [value], "{text}");
    }
    for (kind, text) in [
        (PiiKind::Coordinates, "0.5000, 0.2500"),
        (PiiKind::Coordinates, "gps 98.8566, 2.3522"),
        (PiiKind::CryptoAddress, "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb"),
        (PiiKind::CryptoAddress, "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5"),
    ] {
        assert!(values(kind, text).is_empty(), "{text}");
    }
}
