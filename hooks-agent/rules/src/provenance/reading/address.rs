//! Addresses: what says by its form where something goes. E-mail addresses, URLs, accounts.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::provenance::reading::fold::{is_of_word, is_without_blanks, words};

/// The form of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Form {
    Email,
    Url,
    /// An IBAN, or a number of at least 8 digits.
    Account,
}

/// An address in a folded text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Address {
    pub(crate) form: Form,
    /// As all its spellings are written: a URL without its scheme, `www.` and the last slash, an account without
    /// blanks.
    pub(crate) canonical: String,
}

/// The ends of domains without which a host in a text is not taken for one: without a scheme and `www.`.
const ENDS: [&str; 40] = [
    "com", "org", "net", "edu", "gov", "int", "mil", "info", "biz", "io", "ai", "app", "dev", "co",
    "me", "tv", "cc", "ly", "xyz", "site", "online", "shop", "cloud", "link", "click", "top", "eu",
    "uk", "de", "fr", "nl", "ch", "at", "it", "es", "cn", "jp", "ru", "br", "in",
];

/// The ends of domains of countries, with which a host is taken for one if a path follows.
const COUNTRIES: &str = "ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bw by bz \
    ca cc cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg er es et eu fi fj fk fm fo fr ga gd ge gf gg \
    gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp ke kg kh ki km kn kp kr kw ky \
    kz la lb lc li lk lr ls lt lu lv ly ma mc md me mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw mx my mz na nc ne nf ng ni nl no np \
    nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro rs ru rw sa sb sc sd se sg sh si sk sl sm sn so sr ss st su sv sx \
    sy sz tc td tf tg th tj tk tl tm tn to tr tt tv tw tz ua ug uk us uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw";

/// Those of countries that files have too: `readme.md#install` is none.
const FILES: [&str; 10] = ["cc", "md", "ml", "pl", "ps", "py", "rs", "sh", "so", "tf"];

/// Letters of scripts without blanks, which end an address.
const CUT: &str = r"\u{3040}-\u{30ff}\u{3400}-\u{9fff}\u{ac00}-\u{d7af}\u{f900}-\u{faff}";

static EMAIL: LazyLock<Regex> = LazyLock::new(|| {
    regex(&format!(r"[[\w.+%-]--[{CUT}]]+@[[\w-]--[{CUT}]]+(?:\.[[\w-]--[{CUT}]]+)+"))
});
static URL: LazyLock<Regex> = LazyLock::new(|| {
    let ends = ENDS.join("|");
    let countries = COUNTRIES.split_whitespace().collect::<Vec<_>>();
    let no_files = countries.iter().copied().filter(|it| !FILES.contains(it)).collect::<Vec<_>>();
    let (countries, no_files) = (countries.join("|"), no_files.join("|"));
    let rest = format!(r#"[^\s<>"'(),;`\[\]*|{{}}\\{CUT}]"#);
    let host = format!(r"(?:[[\w-]--[{CUT}]]+\.)+");
    let forms = [
        format!(r"[a-z][a-z0-9+.-]{{1,15}}://{rest}+"),
        format!(r"www\.{rest}+"),
        // A browser opens these too.
        format!(r"https?:[/\\]+{rest}+"),
        format!(r"https?:(?:{host}[\w-]+|[\w-]+[。｡][\w.。｡-]+|[0-9]{{4,}})(?:[:/?#]{rest}*)?"),
        // What stands behind it is added where it is a URL.
        format!(r"[/\\]{{2,}}(?:{host}[a-z]{{2,24}}|[0-9]{{1,3}}(?:\.[0-9]{{1,3}}){{3}})"),
        format!(r"{host}(?:{countries})(?:/{rest}*|\?{rest}+)"),
        format!(r"{host}(?:{no_files})#{rest}+"),
        format!(r"{host}(?:{ends})(?:[:/?#]{rest}*)?"),
    ];
    regex(&forms.join("|"))
});
static ACCOUNT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"[a-z]{2}[0-9]{2}(?: ?[a-z0-9]{4}){2,7}(?: ?[a-z0-9]{1,3})?|\+?[0-9](?:[ -]?[0-9]){7,33}",
    )
});
static DATE: LazyLock<Regex> = LazyLock::new(|| regex(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"));

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is one")
}

impl Form {
    /// Returns the form of a value that is nothing but an address.
    pub(crate) fn of(value: &str) -> Option<Self> {
        let is_one = !value.contains(char::is_whitespace);
        if is_one
            && value
                .split_once("://")
                .is_some_and(|(scheme, rest)| is_scheme(scheme) && !rest.is_empty())
        {
            return Some(Self::Url);
        }
        let is_mail = value.split_once('@').is_some_and(|(name, host)| {
            !name.is_empty() && !host.is_empty() && !value.contains(['/', ',', ';', '<', '>'])
        });
        if is_one && is_mail {
            return Some(Self::Email);
        }
        let is_all = |pattern: &Regex| {
            pattern.find(value).is_some_and(|found| found.range() == (0..value.len()))
        };
        if is_all(&EMAIL) {
            Some(Self::Email)
        } else if is_url(value) {
            Some(Self::Url)
        } else if is_all(&ACCOUNT) && !DATE.is_match(value)
            || is_long_account(value)
            || is_phone(value)
        {
            Some(Self::Account)
        } else {
            None
        }
    }

    /// Returns the one spelling of an address of this form.
    pub(crate) fn canonical(self, value: &str) -> Cow<'_, str> {
        match self {
            Self::Email => value.trim_end_matches('.').into(),
            Self::Url => {
                let value = value.trim_end_matches(['.', ',', ';', ':', '!', '?']);
                let value = without_scheme(value);
                value.strip_prefix("www.").unwrap_or(value).trim_end_matches('/').into()
            }
            Self::Account => value.replace([' ', '-', '+', '(', ')', '/', '.'], "").into(),
        }
    }

    /// The name of the forms.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Email => "e-mail addresses",
            Self::Url => "URLs",
            Self::Account => "accounts",
        }
    }
}

/// Whether a value is nothing but a URL.
fn is_url(value: &str) -> bool {
    let mut is_whole = false;
    each_url(value, &[], |range| is_whole |= range == (0..value.len()));
    is_whole
}

/// Whether a text is the scheme of a URL.
fn is_scheme(text: &str) -> bool {
    text.starts_with(|it: char| it.is_ascii_alphabetic())
        && text.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'+' | b'.' | b'-'))
}

/// Whether a value is a number of a telephone with signs.
fn is_phone(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let is_of_phone =
        |it: u8| it.is_ascii_digit() || matches!(it, b' ' | b'(' | b')' | b'/' | b'-' | b'+');
    (8..=34).contains(&digits) && value.bytes().all(is_of_phone) && !DATE.is_match(value)
}

/// Returns a URL without its scheme.
fn without_scheme(url: &str) -> &str {
    let of_web = url.strip_prefix("https:").or_else(|| url.strip_prefix("http:"));
    let is_relative = url.len() - url.trim_start_matches(['/', '\\']).len() > 1;
    if let Some(rest) = of_web.or_else(|| is_relative.then_some(url)) {
        return rest.trim_start_matches(['/', '\\']);
    }
    match url.split_once("://") {
        Some((scheme, rest)) if is_scheme(scheme) => rest,
        _ => url,
    }
}

/// Whether a value is an account that has no blanks and is not in groups of four.
fn is_long_account(value: &str) -> bool {
    let bytes = value.as_bytes();
    (12..=34).contains(&bytes.len())
        && bytes.iter().all(u8::is_ascii_alphanumeric)
        && bytes[..2].iter().all(u8::is_ascii_alphabetic)
        && bytes[2..4].iter().all(u8::is_ascii_digit)
}

/// Calls `found` with the addresses of a folded text, of a form or of all, and where they stand.
pub(crate) fn each_address(
    text: &str,
    form: Option<Form>,
    mut found: impl FnMut(Address, Range<usize>),
) {
    let wants = |other: Form| form.is_none_or(|form| form == other);
    let mut add = |form: Form, range: Range<usize>| {
        let canonical = form.canonical(&text[range.clone()]).into_owned();
        if !canonical.is_empty() {
            found(Address { form, canonical }, range);
        }
    };
    let emails: Vec<_> = if text.contains('@') && (wants(Form::Email) || wants(Form::Url)) {
        EMAIL.find_iter(text).map(|it| it.range()).collect()
    } else {
        Vec::new()
    };
    if wants(Form::Email) {
        for range in &emails {
            add(Form::Email, range.clone());
        }
    }
    if wants(Form::Url) {
        each_url(text, &emails, |range| add(Form::Url, range));
    }
    if wants(Form::Account) {
        for account in ACCOUNT.find_iter(text) {
            let before = text[..account.start()].chars().next_back();
            let after = text[account.end()..].chars().next();
            let is_part =
                |it: Option<char>| it.is_some_and(|it| is_of_word(it) || it == '-' || it == '.');
            let ends = after == Some('.') && !text[account.end() + 1..].starts_with(is_of_word);
            if !is_part(before) && (!is_part(after) || ends) && !DATE.is_match(account.as_str()) {
                add(Form::Account, account.range());
            }
        }
    }
}

/// Calls `found` with the places of the URLs in a folded text whose e-mail addresses are there.
fn each_url(text: &str, emails: &[Range<usize>], mut found: impl FnMut(Range<usize>)) {
    let mut from = 0;
    while let Some(url) = URL.find_at(text, from) {
        let (start, mut end) = (url.start(), url.end());
        let slashes = url.as_str().bytes().take_while(|it| matches!(it, b'/' | b'\\')).count();
        let before = text[..start].chars().next_back();
        let begins =
            |it: char| it.is_whitespace() || matches!(it, '"' | '\'' | '(' | '<' | '[' | '=');
        if slashes > 0 && before.is_some_and(|it| !begins(it)) {
            // In a path, or in code, two slashes are no URL; but one may follow.
            from = start + slashes;
            continue;
        }
        if slashes > 0 && text[end..].starts_with([':', '/', '?', '#', '\\']) {
            let ends =
                |it: char| it.is_whitespace() || is_without_blanks(it) || ENDS_URL.contains(it);
            let rest = text[end..].find(ends);
            end = rest.map_or(text.len(), |rest| end + rest);
        }
        // The host of an e-mail address is none, but one may be in a URL, and a URL behind it.
        let next = emails.partition_point(|email| email.end <= start);
        if let Some(email) = emails.get(next).filter(|email| email.start <= start) {
            from = email.end;
            continue;
        }
        from = end;
        let after = text[end..].chars().next();
        let is_part =
            |it: Option<char>| it.is_some_and(|it| is_of_word(it) || it == '@' || it == '-');
        let is_part = match url.as_str() {
            url if slashes > 0 || url.contains("://") || url.starts_with("www.") => false,
            url if url.starts_with("http:") || url.starts_with("https:") => {
                before.is_some_and(is_of_word)
            }
            _ => is_part(before) || is_part(after),
        };
        if !is_part {
            found(start..end);
        }
    }
}

/// What ends a URL, besides blanks.
const ENDS_URL: &str = "<>\"'(),;`[]*|{}";

/// Returns the words of a folded text that are in no e-mail address and no URL.
pub(crate) fn words_beside(text: &str) -> Vec<&str> {
    let mut ranges = Vec::new();
    each_address(text, None, |address, range| {
        if address.form != Form::Account {
            ranges.push(range);
        }
    });
    ranges.sort_by_key(|range| range.start);
    let (mut found, mut from) = (Vec::new(), 0);
    for range in ranges {
        if range.start >= from {
            found.extend(words(&text[from..range.start]));
        }
        from = from.max(range.end);
    }
    found.extend(words(&text[from..]));
    found
}

#[cfg(test)]
mod tests {
    use super::{Form, each_address, words_beside};

    #[test]
    fn addresses_have_one_spelling() {
        for (form, spellings) in [
            (Form::Url, &["https://www.example.com/a/", "www.example.com/a", "example.com/a"][..]),
            (Form::Account, &["de75 5121 0800 1245 1261 99", "de75512108001245126199"][..]),
            (Form::Account, &["+49 30 1234567", "49301234567"][..]),
            (Form::Email, &["ann@corp.example"][..]),
        ] {
            for spelling in spellings {
                assert_eq!(Form::of(spelling), Some(form), "{spelling}");
                assert_eq!(form.canonical(spelling), form.canonical(spellings[0]));
            }
        }
        for other in ["general", "new york", "2024-05-01", "v1.2.3", "bill.txt", "12.5", "a b@c.de"]
        {
            assert_eq!(Form::of(other), None, "{other}");
        }
    }

    #[test]
    fn addresses_are_found_in_a_text() {
        let text = "mail ann@corp.example, see (www.example.com/x), corp.com. iban: de75512108001245126199. on 2024-05-01";
        let mut found = Vec::new();
        each_address(text, None, |address, _| found.push(address.canonical));
        assert_eq!(
            found,
            ["ann@corp.example", "example.com/x", "corp.com", "de75512108001245126199"]
        );
        assert_eq!(
            words_beside(text).join(" "),
            "mail see iban de75512108001245126199 on 2024 05 01"
        );
    }
}
