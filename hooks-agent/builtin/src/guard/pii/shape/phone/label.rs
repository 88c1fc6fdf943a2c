//! The words before a number that say that it is one to call.

/// How many bytes before a number are read.
const BEFORE: usize = 48;
/// How many words may stand between the label and the number.
const BETWEEN: usize = 3;

/// Nouns: any digits behind them are a number.
const LABELS: &[&str] = &[
    "phone",
    "telephone",
    "tel",
    "mobile",
    "cell",
    "cellphone",
    "fax",
    "whatsapp",
    "sms",
    "telefax",
    "ph",
    "mob",
    "desk",
    "hotline",
    "landline",
    "pager",
    "telefon",
    "handy",
    "mobil",
    "rufnummer",
    "telefonnummer",
    "handynummer",
    "durchwahl",
    "telefono",
    "cellulare",
    "celular",
    "movil",
    "telefone",
    "telemovel",
    "portable",
    "telefoon",
    "mobiel",
    "gsm",
    "puhelin",
    "puh",
    "telefonszam",
    "komorka",
    "komorkowy",
    "tlf",
    "mobilnummer",
    "voicemail",
    "phonenumber",
    "mobilephone",
    "homephone",
    "workphone",
];

/// The same in other scripts, which stand right before the number or its colon.
const LABELS_OF_OTHER_SCRIPTS: &[&str] = &[
    "电话",
    "电话号码",
    "手机",
    "手机号",
    "手机号码",
    "電話",
    "電話番号",
    "携帯",
    "携帯電話",
    "携帯番号",
    "手機",
    "전화",
    "전화번호",
    "휴대폰",
    "핸드폰",
    "телефон",
    "тел",
    "моб",
    "факс",
    "τηλέφωνο",
    "τηλ",
    "هاتف",
    "فون",
    "फ़ोन",
    "मोबाइल",
    "โทร",
];

/// Words that may stand between a label and its number.
const FILLERS: &[&str] = &[
    "number", "numbers", "numero", "nummer", "num", "no", "nr", "is", "was", "at", "on", "to",
    "me", "us", "him", "her", "them", "you", "my", "your", "our", "the", "this", "new", "under",
    "it", "or", "via", "from", "ist", "est", "es", "unter", "au", "al", "home", "work",
];

/// Words of which people are spoken to, and others: digits in groups behind them are a number.
const WEAK: &[&str] = &[
    "call",
    "dial",
    "text",
    "ring",
    "reach",
    "reached",
    "contact",
    "message",
    "messages",
    "answering",
    "registered",
    "anrufen",
    "appeler",
];

/// How sure the word before a number is that it is one to call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Label {
    None,
    /// If it is in groups.
    Weak,
    Strong,
}

/// The label that stands before `at`, with at most a few words between.
pub(crate) fn label(text: &[u8], at: usize) -> Label {
    let start = at.saturating_sub(BEFORE);
    let mut rest = without_marks(&text[start..at]);
    if LABELS_OF_OTHER_SCRIPTS.iter().any(|label| rest.ends_with(label.as_bytes())) {
        return Label::Strong;
    }
    let (mut found, mut is_led) = (Label::None, false);
    for _ in 0..=BETWEEN {
        let Some((word, before)) = last_word(rest, start == 0) else { break };
        if LABELS.contains(&&*word) {
            return Label::Strong;
        }
        // `text 12 24 48` is none, `text me at 12 24 48` is.
        if WEAK.contains(&&*word) && (is_led || word == "call" || word == "dial") {
            found = Label::Weak;
        } else if !FILLERS.contains(&&*word) {
            break;
        }
        is_led = true;
        rest = without_blanks(before);
    }
    found
}

/// The last word in lower case, without marks on its letters, and what is before it. None if it may be cut.
fn last_word(text: &[u8], is_whole: bool) -> Option<(String, &[u8])> {
    let is_part = |byte: &&u8| byte.is_ascii_alphabetic() || **byte >= 0x80;
    let length = text.iter().rev().take_while(is_part).count();
    let start = text.len() - length;
    if length == 0 || (start == 0 && !is_whole) {
        return None;
    }
    // `homePhone` and `work_phone` end with the word.
    let word = std::str::from_utf8(&text[start..]).ok()?;
    let hump = word
        .rfind(|letter: char| letter.is_ascii_uppercase())
        .filter(|hump| word[..*hump].ends_with(|before: char| before.is_ascii_lowercase()));
    let word = &word[hump.unwrap_or(0)..];
    Some((word.chars().map(plain_letter).collect(), &text[..text.len() - word.len()]))
}

fn plain_letter(letter: char) -> char {
    match letter {
        'á' | 'à' | 'ã' | 'Á' => 'a',
        'é' | 'è' | 'ê' | 'É' => 'e',
        'í' | 'Í' => 'i',
        'ó' | 'ô' | 'ò' | 'Ó' => 'o',
        letter => letter.to_ascii_lowercase(),
    }
}

/// Without what stands between a label and its number: blanks, a colon, quotes, brackets.
fn without_marks(text: &[u8]) -> &[u8] {
    let text = without_blanks(text);
    let text = text.strip_suffix("：".as_bytes()).unwrap_or(text);
    let is_mark = |byte: &&u8| b" \t\r\n:=.#\"'(-_\\>".contains(byte);
    let marks = text.len() - text.iter().rev().take_while(is_mark).count();
    // A label of the next line has a colon.
    let has = |mark: u8| text[marks..].contains(&mark);
    if has(b'\n') && !has(b':') && !has(b'>') { b"" } else { &text[..marks] }
}

fn without_blanks(text: &[u8]) -> &[u8] {
    let is_blank = |byte: &&u8| b" _-".contains(byte);
    &text[..text.len() - text.iter().rev().take_while(is_blank).count()]
}

#[cfg(test)]
mod tests {
    use super::{Label, label};

    #[test]
    fn a_label_before_a_number_is_known() {
        for text in [
            "Phone: ",
            "phone number is ",
            "Tel. ",
            "Fax:\n",
            "call me on ",
            "\"homePhone\": \"",
            "work_phone=",
            "手机号：",
            "Teléfono: ",
            "电话",
            "тел. ",
            "<phone>",
            "not answering at ",
            "Call ",
        ] {
            let weak = if text.starts_with("not") || text.to_ascii_lowercase().starts_with("call") {
                Label::Weak
            } else {
                Label::Strong
            };
            assert_eq!(label(text.as_bytes(), text.len()), weak, "{text}");
        }
        for text in ["order ", "", "hotel ", "phone order ", "recall ", "at ", "port "] {
            assert_eq!(label(text.as_bytes(), text.len()), Label::None, "{text}");
        }
        let cut = format!("{}tel {}", "x".repeat(3), " ".repeat(44));
        assert_eq!(label(cut.as_bytes(), cut.len()), Label::None, "cut inside of a word");
    }
}
