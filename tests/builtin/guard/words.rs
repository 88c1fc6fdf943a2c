//! Matches of a list of words, in any form and at any cut.

use std::fs;
use std::ops::Range;

use hooks_agent_builtin::guard::{WordList, WordListError};

fn list(words: &[&str]) -> WordList {
    WordList::new(words).unwrap()
}

#[test]
fn small_and_capital_letters_are_the_same() {
    let words = list(&["Straße", "secret", "ΣΊΣΥΦΟΣ", "секрет"]);
    assert_eq!(words.mask("a SECRET, STRAßE, Secret"), "a ******, ******, ******");
    assert_eq!(words.mask("σίσυφος Секрет СЕКРЕТ."), "******* ****** ******.");
    // The Kelvin sign and the long s.
    assert_eq!(list(&["kiss"]).mask("\u{212A}i\u{17F}s"), "****");
}

#[test]
fn words_are_found_whole_unless_anywhere() {
    let words = list(&["ass", "cat"]);
    assert_eq!(words.mask("class assess cat's Cat_ cat"), "class assess ***'s Cat_ ***");
    assert_eq!(words.anywhere().mask("class assess cat_"), "cl*** ***ess ***_");
}

#[test]
fn scripts_without_spaces_have_no_boundaries() {
    let words = list(&["机密", "秘密", "비밀", "ความลับ", "vip"]);
    assert_eq!(words.mask("这是机密文件"), "这是**文件");
    assert_eq!(words.mask("それは秘密です"), "それは**です");
    assert_eq!(words.mask("비밀은 없다"), "**은 없다");
    assert_eq!(words.mask("นี่คือความลับของเรา"), "นี่คือ*******ของเรา");
    assert_eq!(words.mask("他是VIP客户"), "他是***客户");
}

#[test]
fn width_and_invisible_characters_hide_nothing() {
    let words = list(&["secret", "ガイド", "top secret"]);
    assert_eq!(words.mask("Ｓｅｃｒｅｔ！"), "******！");
    assert_eq!(words.mask("ｶﾞｲﾄﾞ ガイド カ\u{3099}イト\u{3099}"), "***** *** *****");
    assert_eq!(words.mask("se\u{200B}cr\u{AD}et"), "********");
    assert_eq!(words.mask("top\u{3000}secret"), "**********");
    let many = format!("se{}cret", "\u{200B}".repeat(17));
    assert_eq!(words.mask(&many), many);
}

#[test]
fn forms_and_escapes_of_characters_hide_nothing() {
    let words = list(&["secret", "\u{673a}\u{5bc6}", "top secret", "file-2", "caf\u{e9}"]);
    for text in [
        "\u{1d42c}\u{1d41e}\u{1d41c}\u{1d42b}\u{1d41e}\u{1d42d}",
        "\u{24e2}ecret",
        "\u{ff33}\u{ff45}cret",
        "&#115;ecret",
        "s&#x65;cret",
        "secre&#116;",
        "%73ec%72et",
        "\\u0073ecret",
        "sec&shy;ret",
        "sec\\u200bret",
        "\\u673a\\u5bc6",
        "\u{673a}&#23494;",
        "%E6%9C%BA%E5%AF%86",
        "top&nbsp;secret",
        "top\\nsecret",
        "top%20secret",
        "\u{fb01}le\u{2010}\u{0662}",
        "%66ile\u{2212}\u{ff12}",
        "caf\\u00E9",
        "caf%C3%A9",
    ] {
        let masked = words.mask(&format!("a {text}, b"));
        assert_eq!(masked, format!("a {}, b", "*".repeat(text.chars().count())), "{text}");
    }
    let same =
        ["&secret2;", "%7secretary", "insecret", "%E6%9C", "\\u673", "&#115", "topsecret", "R&D"];
    for text in same {
        assert_eq!(words.mask(text), text);
    }
    assert_eq!(list(&["R&D"]).mask("our R&D, our r&amp;d"), "our ***, our *******");
}

#[test]
fn boundaries_of_words_are_those_of_what_escapes_stand_for() {
    let words = list(&["secret"]);
    for text in [
        "my%20secret",
        "my\\nsecret",
        "my\\u0020secret",
        "a:\\tsecret",
        "q=%3Asecret",
        "%22secret%22",
        "\\u0022secret\\u0022",
        "&lpar;secret&rpar;",
    ] {
        assert_eq!(words.mask(text), text.replace("secret", "******"), "{text}");
    }
    for text in
        ["in&#115;ecret", "secret&#115;", "secret%73", "secret\\u0073", "&#105;secret", "%69secret"]
    {
        assert_eq!(words.mask(text), text, "{text}");
    }
    let pair = list(&["\u{20bb7}\u{91ce}"]);
    assert_eq!(pair.mask("a \\ud842\\udfb7\u{91ce}"), format!("a {}", "*".repeat(13)));
}

#[test]
fn a_word_with_escapes_is_held_back() {
    let words = list(&["secret", "top secret"]);
    for (text, settled) in [
        ("a s&#101;cre", 2),
        ("a top&nbsp;sec", 2),
        ("a s\\u0065cr", 2),
        ("a &#115;ecre", 2),
        ("a secret&#11", 2),
        ("a &#11", 2),
        ("a \\ud842\\ud", 2),
    ] {
        assert_eq!(words.settled(text, 0), settled, "{text}");
    }
}

#[test]
fn blanks_of_all_kinds_are_one_blank() {
    let words = list(&["top secret", "a  b\u{3000}c"]);
    let blanks = [
        "  ",
        "\n",
        "\r\n\t",
        "\u{a0}",
        "\u{2800}",
        "\u{3164}",
        "\u{ffa0}",
        "\u{115f}",
        "\u{1160}",
        "\u{200b}",
        "\u{2060} ",
        "\u{2003}\u{feff}",
        "\u{85}",
        "\u{2028}",
        "\u{202e}",
        "\u{e0020}",
        "\u{1b}",
    ];
    let many = " ".repeat(5000);
    for blank in blanks.into_iter().chain([many.as_str()]) {
        let text = format!("x top{blank}secret y");
        let found = words.find(&text, 0).unwrap_or_else(|| panic!("{blank:?}")).range;
        assert_eq!(found, 2..text.len() - 2, "{blank:?}");
        assert!(words.find(&format!("a{blank}b{blank}c"), 0).is_some(), "{blank:?}");
        assert_eq!(words.settled(&format!("x top{blank}"), 0), 2, "{blank:?}");
        // Letters may have invisible characters between them, and no blanks.
        assert_eq!(words.mask(&format!("to p{blank}secret")), format!("to p{blank}secret"));
    }
    assert_eq!(words.mask("topsecret ab c"), "topsecret ab c");
    assert_eq!(words.mask("t\u{200b}op\u{200b} \u{200b}sec\u{ad}ret"), "*".repeat(14));
}

#[test]
fn a_letter_without_its_mark_is_another_letter() {
    let words = list(&["カ"]);
    assert_eq!(words.mask("ガ ｶﾞ カ ｶ"), "ガ ｶﾞ * *");
    assert_eq!(list(&["cafe"]).mask("café cafe"), "café ****");
}

#[test]
fn offsets_are_those_of_the_text() {
    let words = list(&["secret"]);
    let text = "été Ｓecret";
    let found = words.find(text, 0).unwrap();
    assert_eq!((&text[found.range.clone()], &*found.word), ("Ｓecret", "secret"));
    assert!(words.find(text, found.range.end).is_none());
}

#[test]
fn words_that_overlap_are_one_range_of_the_longest() {
    let words = list(&["top secret", "secret files", "secret"]);
    let found = words.find("a top secret files x secret", 0).unwrap();
    assert_eq!((&*found.word, found.range), ("secret files", 2..18));
    assert_eq!(words.mask("top secret files"), "****************");
    let mut all = Vec::new();
    words.scan("top secret files", 0, &mut all);
    assert_eq!(all.len(), 3);
}

#[test]
fn a_list_from_a_file_skips_comments() {
    let path = std::env::temp_dir().join(format!("words-{}.txt", std::process::id()));
    fs::write(&path, "\u{FEFF}# heading\r\n\r\n  secret  \n\\#tag\n机密").unwrap();
    let words = WordList::from_file(&path).unwrap();
    assert_eq!(words.mask("secret heading #tag 机密"), "****** heading **** **");
    fs::write(&path, "ok\n# x\n\u{200B}\n").unwrap();
    let error = WordList::from_file(&path).unwrap_err();
    assert_eq!(error.to_string(), "line 3 of the list of words has no visible character");
    fs::write(&path, b"ok\n\xFF\n").unwrap();
    let error = WordList::from_file(&path).unwrap_err();
    assert_eq!(error.to_string(), "line 2 of the list of words is not UTF-8");
    fs::write(&path, "# nothing\n").unwrap();
    assert!(matches!(WordList::from_file(&path), Err(WordListError::Empty)));
    fs::remove_file(&path).unwrap();
    let error = WordList::from_file(&path).unwrap_err();
    assert!(matches!(error, WordListError::Io { .. }), "{error}");
    assert!(std::error::Error::source(&error).is_some());
}

#[test]
fn a_list_in_code_is_checked() {
    assert!(matches!(WordList::new([""; 0]), Err(WordListError::Empty)));
    assert!(matches!(WordList::new(["a", " "]), Err(WordListError::Line { line: 2, .. })));
    let long = "x".repeat(2000);
    assert!(matches!(WordList::new([long]), Err(WordListError::Line { line: 1, .. })));
}

#[test]
fn debug_shows_no_words() {
    let words = list(&["hush"]);
    let found = words.find("hush", 0);
    assert!(!format!("{words:?} {found:?}").contains("hush"));
}

fn whole(words: &WordList, text: &str, from: usize) -> Vec<Range<usize>> {
    let (mut from, mut found) = (from, Vec::new());
    while let Some(next) = words.find(text, from) {
        from = next.range.end;
        found.push(next.range);
    }
    found
}

/// Feeds a text in parts, and forgets all but the last character of what is final.
fn streamed(words: &WordList, text: &str, cuts: &[usize]) -> Vec<Range<usize>> {
    let (mut base, mut from, mut found) = (0, 0, Vec::new());
    for end in cuts.iter().copied() {
        let known = &text[base..end];
        let settled = base + words.settled(known, from - base);
        assert!((from..=end).contains(&settled) && text.is_char_boundary(settled));
        while let Some(next) = words.find(known, from - base) {
            if base + next.range.start >= settled {
                break;
            }
            from = base + next.range.end;
            found.push(base + next.range.start..from);
        }
        from = from.max(settled);
        // The character before, or the escape that stands for it.
        base = text.floor_char_boundary(from.saturating_sub(12));
    }
    let rest = whole(words, &text[base..], from - base).into_iter();
    found.extend(rest.map(|range| base + range.start..base + range.end));
    found
}

#[test]
fn any_cut_of_any_text_finds_what_the_whole_text_has() {
    const PARTS: [&str; 53] = [
        "a", "b", "A", "ab", "abc", "bc", "c", " ", " ", "\n", "\u{2800}", "\u{202E}", "Ａ", "ｂ",
        "\u{200B}", "カ", "ｶ", "ﾞ", "ガ", "\u{3099}", "イ", "机", "密", "文", "é", "É", "😀", "_",
        "1", ".", "secret", "SEC", "ret", "&#97;", "%62", "\\u0063", "&", "%", "\\", "#9", "7;",
        "u673", "%E6%9C", "%BA", "\u{24d0}", "&nbsp;", "%20", "\\n", "\\ud842", "\\udfb7",
        "&#115;", "s&#101;", "%22",
    ];
    let words = list(&[
        "a",
        "ab",
        "abc",
        "bcd",
        "ガイ",
        "カ",
        "机密",
        "密文件",
        "é",
        "secret",
        "b c",
        "c a b",
    ]);
    let mut random = 0x2545_F491_4F6C_DD1D_u64;
    let mut below = |limit: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        usize::try_from(random % limit as u64).unwrap()
    };
    let rounds = std::env::var("WORDS_ROUNDS").map_or(1000, |rounds| rounds.parse().unwrap());
    let mut matches = 0;
    for _ in 0..rounds {
        let parts = 1 + below(14);
        let text: String = (0..parts).map(|_| PARTS[below(PARTS.len())]).collect();
        let places: Vec<_> = text.char_indices().map(|(at, _)| at).skip(1).collect();
        let some: Vec<_> = places.iter().copied().filter(|_| below(3) == 0).collect();
        for words in [words.clone(), words.clone().anywhere()] {
            let expected = whole(&words, &text, 0);
            matches += expected.len();
            for cuts in [&places, &some] {
                assert_eq!(streamed(&words, &text, cuts), expected, "{cuts:?} {text:?}");
            }
        }
    }
    assert!(matches > 2 * rounds);
}

#[test]
fn only_what_may_become_a_word_is_held_back() {
    let words = list(&["secret", "top secret"]);
    assert_eq!(words.settled("this is a sec", 0), 10);
    assert_eq!(words.settled("this is a set", 0), 13);
    assert_eq!(words.settled("insec", 0), 5);
    assert_eq!(words.settled("the top se", 0), 4);
    assert_eq!(words.settled("the secret", 0), 4);
    assert_eq!(words.settled("the secret ", 0), 11);
}
