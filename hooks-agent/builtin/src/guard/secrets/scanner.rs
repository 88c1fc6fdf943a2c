//! One pass over a text for secrets of all kinds.

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use aho_corasick::AhoCorasick;

use crate::guard::pii::{PiiDetector, PiiMatch, pii_clusters, settled_clusters};
use crate::guard::secrets::assigned::{LONGEST, Link, Value, value, value_of_flag};
use crate::guard::secrets::code;
use crate::guard::secrets::folded::{self, Copies};
use crate::guard::secrets::keys::{AHEAD, BACK, cut_key, is_word, of_form, part_of, starts_word};
use crate::guard::secrets::names::{WORDS, Word, names_secret};
use crate::guard::secrets::table::TABLE;
use crate::guard::secrets::values::is_secret;

/// The most bytes from a name to its value, and before a place at which a search begins.
const CONTEXT: usize = 384;
/// The most bytes of a name before and behind a word in it.
const NAME: usize = 48;

/// Kinds that are not of a provider. They name what no row of the table names.
const OTHERS: [&str; 8] = [
    "private_key",
    "jwt",
    "url_password",
    "login",
    "bearer_token",
    "authorization",
    "token",
    "password",
];

/// A kind of secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SecretKind {
    /// The name that replacements and errors show, such as `github_pat`.
    pub name: &'static str,
    /// Who gives such keys out. `None` if anybody does.
    pub provider: Option<&'static str>,
    /// Where the form is described, if it is that of a provider.
    pub source: Option<&'static str>,
}

/// There is no kind of secrets of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no kind of secrets is named `{name}`; `SecretScanner::kinds` lists them")]
pub struct UnknownSecret {
    /// The name.
    pub name: String,
}

/// Finds keys, tokens and passwords, by a table of the forms of providers and by the names that values are
/// given. It asks nobody whether a key is valid.
///
/// | kind | what is found |
/// |---|---|
/// | such as `github_pat` | keys of providers, by the [table](SecretScanner::kinds): with a fixed beginning, or of a form and assigned to a name with that of the provider |
/// | `private_key` | private keys in PEM, up to their last line |
/// | `jwt` | JSON web tokens |
/// | `url_password` | the password in `scheme://user:password@host` |
/// | `login` | the name and the password in `curl -u name:password` |
/// | `authorization`, `bearer_token` | what follows `Authorization:` and `Bearer` |
/// | `token` | a value without words in it, assigned to a name with `token`, `secret`, `key` and the like |
/// | `password` | a value assigned to a name with `password`, in the words of many languages |
///
/// The match is the secret without its name. What stands for a secret, such as `xxxx` or `${TOKEN}`, is none.
/// Keys are found in other forms too, as [`PiiScanner`](crate::guard::pii::PiiScanner) does, but not over a line
/// break.
///
/// ```
/// use hooks_agent::builtin::guard::SecretScanner;
/// use hooks_agent::builtin::guard::pii::PiiDetector;
///
/// let scanner = SecretScanner::new();
/// let text = "export GITLAB_TOKEN=glpat-in51j7rfpgxixxlpzahi";
/// let found = scanner.find(text, 0).unwrap();
/// assert_eq!((&*found.kind, &text[found.range]), ("gitlab_pat", "glpat-in51j7rfpgxixxlpzahi"));
/// assert!(scanner.find("token = ${TOKEN}", 0).is_none());
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct SecretScanner {
    /// The ranks of kinds that are not looked for.
    without: Arc<[usize]>,
    /// Whether a wrong checksum says that a text is no key.
    is_checked: bool,
    /// Whether keys of another length are found, too.
    has_cut: bool,
}

/// What a text that is found says.
#[derive(Clone, Copy)]
enum Trigger {
    /// A part of a key of this row.
    Part(usize),
    /// A part of a name for a key of this row.
    Beside(usize),
    Named(Word),
    PrivateKey,
    Jwt,
    Url,
    Bearer,
    Login,
}

/// What is searched for, and what each text says.
struct Engine {
    texts: AhoCorasick,
    triggers: Vec<Vec<Trigger>>,
}

static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
    let mut texts: Vec<String> = Vec::new();
    let mut triggers: Vec<Vec<Trigger>> = Vec::new();
    let mut add = |text: &str, trigger| {
        let text = text.to_ascii_lowercase();
        match texts.iter().position(|known| *known == text) {
            Some(known) => triggers[known].push(trigger),
            None => {
                texts.push(text);
                triggers.push(vec![trigger]);
            }
        }
    };
    for (number, row) in TABLE.kinds.iter().enumerate() {
        row.literals.iter().for_each(|text| add(text, Trigger::Part(number)));
        row.beside.iter().for_each(|text| add(text, Trigger::Beside(number)));
    }
    for (text, word) in WORDS {
        add(text, Trigger::Named(*word));
    }
    add("-----BEGIN", Trigger::PrivateKey);
    add("eyJ", Trigger::Jwt);
    add("://", Trigger::Url);
    add("bearer", Trigger::Bearer);
    add(" -u", Trigger::Login);
    add(" --user", Trigger::Login);
    let built = AhoCorasick::builder().ascii_case_insensitive(true).build(&texts);
    Engine { texts: built.expect("the table is tested"), triggers }
});

/// The rank of a kind, and where it is.
pub(super) type Match = (usize, Range<usize>);

impl SecretScanner {
    /// A scanner for all kinds.
    pub fn new() -> Self {
        Self::default()
    }

    /// All kinds, those of providers first, by name.
    pub fn kinds() -> impl Iterator<Item = SecretKind> {
        let of_providers = TABLE.kinds.iter().map(|row| SecretKind {
            name: row.name,
            provider: Some(row.provider),
            source: Some(row.source),
        });
        let others = OTHERS.map(|name| SecretKind { name, provider: None, source: None });
        of_providers.chain(others)
    }

    /// The version of the table. It is another one when other keys are found.
    #[must_use]
    pub fn version() -> u32 {
        TABLE.version
    }

    /// Leaves kinds out, such as `password`.
    ///
    /// # Errors
    /// [`UnknownSecret`] if there is no kind of the name.
    pub fn without<N: AsRef<str>>(
        mut self,
        kinds: impl IntoIterator<Item = N>,
    ) -> Result<Self, UnknownSecret> {
        let mut without = self.without.to_vec();
        for name in kinds {
            let name = name.as_ref();
            let rank = Self::kinds().position(|kind| kind.name == name);
            without.push(rank.ok_or_else(|| UnknownSecret { name: name.to_owned() })?);
        }
        self.without = without.into();
        Ok(self)
    }

    /// Leaves out keys whose checksum is wrong, of providers that have one, such as GitHub: no such key opens
    /// anything. By default they are found, since they are mostly keys with a typing error.
    pub fn checked(mut self) -> Self {
        self.is_checked = true;
        self
    }

    /// Finds keys that are longer or shorter than their provider says, too, as one that was cut is: what begins
    /// with an unmistakable text such as `ghp_` and goes on at random. For places where a key that is half there
    /// is one too many; more is found that is none.
    pub fn with_cut_keys(mut self) -> Self {
        self.has_cut = true;
        self
    }

    /// Returns what is in the text and starts at `from` or later, sorted. `first_only` ends early, once the
    /// first cluster is complete.
    fn run(&self, text: &str, from: usize, first_only: bool) -> Vec<Match> {
        let bytes = text.as_bytes();
        let start = text.floor_char_boundary(from.saturating_sub(CONTEXT));
        let mut found = Vec::new();
        let mut copies = Copies::default();
        let mut at = start;
        let mut hits = ENGINE.texts.find_overlapping_iter(&bytes[start..]).peekable();
        // The hits of a block of the text, then its copies.
        while at < bytes.len() {
            let end = (at + 4 * CONTEXT).min(bytes.len());
            while let Some(hit) = hits.next_if(|hit| start + hit.end() <= end) {
                let (first, last) = (start + hit.start(), start + hit.end());
                self.take(bytes, first..last, hit.pattern().as_usize(), &mut found);
            }
            copies.search(text, at..end, |copy| self.of_copy(copy), &mut found);
            found.retain(|(_, range): &Match| range.start >= from);
            if first_only
                && let Some(cluster) = pii_clusters(&found).first()
                && cluster.range.end + 2 * (BACK + AHEAD) < end
            {
                break;
            }
            at = end;
        }
        found.sort_by_key(|(rank, range)| (range.start, *rank));
        found.dedup();
        found
    }

    /// Returns what is in a copy of a part of a text.
    fn of_copy(&self, copy: &[u8]) -> Vec<Match> {
        let mut found = Vec::new();
        for hit in ENGINE.texts.find_overlapping_iter(copy) {
            self.take(copy, hit.start()..hit.end(), hit.pattern().as_usize(), &mut found);
        }
        found
    }

    /// Adds what a text that was found is a sign of.
    fn take(&self, text: &[u8], hit: Range<usize>, pattern: usize, found: &mut Vec<Match>) {
        let mut assigned = None;
        for trigger in &ENGINE.triggers[pattern] {
            let taken = match trigger {
                Trigger::Part(row) => {
                    let key = part_of(text, &hit, *row);
                    let cut = || self.has_cut.then(|| cut_key(text, &hit)).flatten();
                    key.or_else(cut).map(|range| (*row, range))
                }
                Trigger::Beside(_) if !is_part(text, &hit) => None,
                Trigger::Beside(row) => {
                    let value = assigned.get_or_insert_with(|| value_of(text, &hit));
                    let range = value.as_ref().map(|value| value.range.clone());
                    range.and_then(|range| of_form(text, range, *row)).map(|range| (*row, range))
                }
                Trigger::Named(word) => {
                    let value = assigned.get_or_insert_with(|| value_of(text, &hit));
                    let is_one = |text: &[u8], quoted, said| is_secret(*word, text, quoted, said);
                    let value = value.as_ref().filter(|it| {
                        let is_whole = !it.is_open || !it.is_quoted || it.range.len() >= LONGEST;
                        starts_part(text, &hit, *word)
                            && is_whole
                            && (*word != Word::Pass || it.link == Link::Near)
                            && names_secret(&text[name_around(text, &hit)])
                            && is_one(&text[it.range.clone()], it.is_quoted, it.link == Link::Said)
                    });
                    value.map(|value| (rank_of(*word), value.range.clone()))
                }
                Trigger::PrivateKey => {
                    let is_new = found.iter().all(|(_, range)| !range.contains(&hit.start));
                    let key = is_new.then(|| code::private_key(text, hit.start)).flatten();
                    key.map(|range| (other("private_key"), range))
                }
                Trigger::Jwt => {
                    let is_exact = text[hit.clone()] == *b"eyJ" && starts_word(text, hit.start);
                    let token = is_exact.then(|| code::json_web_token(text, hit.start)).flatten();
                    token.map(|range| (other("jwt"), range))
                }
                Trigger::Url => {
                    let password = code::url_password(text, hit.start);
                    password.map(|range| (other("url_password"), range))
                }
                Trigger::Login => {
                    let login = is_of_curl(text, hit.start).then(|| code::login(text, hit.end));
                    login.flatten().map(|range| (other("login"), range))
                }
                Trigger::Bearer => {
                    let token =
                        code::bearer(text, hit.end).filter(|_| starts_word(text, hit.start));
                    token.map(|range| (other("bearer_token"), range))
                }
            };
            found.extend(taken.filter(|(rank, range)| {
                let row = TABLE.kinds.get(*rank).filter(|_| self.is_checked);
                let is_wrong = row.is_some_and(|row| row.is_wrong(&text[range.clone()]));
                !is_wrong && !self.without.contains(rank)
            }));
        }
    }

    /// The position from which on a secret may still appear, grow or go.
    fn open(text: &str, from: usize) -> usize {
        let bytes = text.as_bytes();
        let word = folded::last_word(text, from);
        let quoted = open_value(bytes, from).unwrap_or(word);
        let key = code::open_key(bytes, from).unwrap_or(word);
        word.min(quoted).min(key).max(from)
    }
}

/// The value in quotes that has not come to its end, if its name is that of a password.
fn open_value(text: &[u8], from: usize) -> Option<usize> {
    let start = text.len().saturating_sub(CONTEXT + LONGEST);
    let hits = ENGINE.texts.find_overlapping_iter(&text[start..]).filter(|hit| {
        let names = |it: &Trigger| matches!(it, Trigger::Named(Word::Password | Word::Pass));
        ENGINE.triggers[hit.pattern().as_usize()].iter().any(names)
    });
    let open = hits.filter_map(|hit| {
        let value = value_of(text, &(start + hit.start()..start + hit.end()))?;
        (value.is_quoted && value.is_open && value.range.len() < LONGEST)
            .then_some(value.range.start)
    });
    open.min().map(|at| at.max(from))
}

/// The value of the name that a word stands in.
fn value_of(text: &[u8], word: &Range<usize>) -> Option<Value> {
    let name = name_around(text, word);
    let is_flag = text[name.clone()].starts_with(b"--");
    value(text, word.end).or_else(|| is_flag.then(|| value_of_flag(text, name.end)).flatten())
}

/// The name that a word stands in.
fn name_around(text: &[u8], word: &Range<usize>) -> Range<usize> {
    let is_name = |byte: &&u8| is_word(**byte) || matches!(byte, b'-' | b'.');
    let before = text[word.start.saturating_sub(NAME)..word.start].iter().rev().take_while(is_name);
    let behind = text[word.end..text.len().min(word.end + NAME)].iter().take_while(is_name);
    word.start - before.count()..word.end + behind.count()
}

/// Whether a word is a part of a name, as `meraki` is of `merakiKey` and not of `CameraKit`.
fn is_part(text: &[u8], word: &Range<usize>) -> bool {
    let before = word.start.checked_sub(1).map(|before| text[before]);
    let is_hump = |one: u8, next: u8| one.is_ascii_lowercase() && next.is_ascii_uppercase();
    let starts = before.is_none_or(|it| !it.is_ascii_alphabetic() || is_hump(it, text[word.start]));
    let last = &text[word.end - 2..word.end];
    let next = text.get(word.end).copied().unwrap_or(b' ');
    starts && !(is_hump(last[0], last[1]) && next.is_ascii_lowercase())
}

/// Whether a part of a name begins with a word, such as `Token` in `myToken`. What nobody writes inside of another
/// word may begin anywhere.
fn starts_part(text: &[u8], hit: &Range<usize>, word: Word) -> bool {
    let at = hit.start;
    let Some(before) = at.checked_sub(1).map(|before| text[before]) else {
        return word != Word::Pass || ends_part(text, hit);
    };
    let is_hump = before.is_ascii_lowercase() && text[at].is_ascii_uppercase();
    match word {
        // `/etc/passwd` is a file.
        Word::Password if before == b'/' => false,
        Word::Pass => (!before.is_ascii_alphanumeric() || is_hump) && ends_part(text, hit),
        Word::Password | Word::Secret | Word::Token => true,
        Word::Key | Word::Authorization => !before.is_ascii_alphabetic() || is_hump,
    }
}

/// Whether a command of `curl` goes up to `at`.
fn is_of_curl(text: &[u8], at: usize) -> bool {
    let before = &text[at.saturating_sub(CONTEXT)..=at];
    before.windows(5).any(|it| it == b"curl ")
}

/// Whether a part of a name ends with a word.
fn ends_part(text: &[u8], hit: &Range<usize>) -> bool {
    text.get(hit.end).is_none_or(|byte| !byte.is_ascii_alphabetic())
}

fn other(name: &str) -> usize {
    let rank = OTHERS.iter().position(|other| *other == name);
    TABLE.kinds.len() + rank.unwrap_or(OTHERS.len() - 1)
}

fn rank_of(word: Word) -> usize {
    other(match word {
        Word::Password | Word::Pass => "password",
        Word::Secret | Word::Token | Word::Key => "token",
        Word::Authorization => "authorization",
    })
}

fn name_of(rank: usize) -> &'static str {
    match rank.checked_sub(TABLE.kinds.len()) {
        None => TABLE.kinds[rank].name,
        Some(other) => OTHERS[other],
    }
}

impl PiiDetector for SecretScanner {
    fn find(&self, text: &str, from: usize) -> Option<PiiMatch> {
        let found = self.run(text, from, true);
        let cluster = pii_clusters(&found).into_iter().next()?;
        Some(PiiMatch::new(name_of(found[cluster.longest].0), cluster.range))
    }

    fn scan(&self, text: &str, from: usize, found: &mut Vec<PiiMatch>) {
        let all = self.run(text, from, false);
        let clusters = pii_clusters(&all).into_iter();
        found.extend(clusters.map(|it| PiiMatch::new(name_of(all[it.longest].0), it.range)));
    }

    /// The version of the table, and the kinds that are left out.
    fn id(&self) -> Option<String> {
        let (crate_version, table) = (env!("CARGO_PKG_VERSION"), Self::version());
        let Self { without, is_checked, has_cut } = self;
        Some(format!("secrets {crate_version} {table} {without:?} {is_checked} {has_cut}"))
    }

    fn window(&self) -> usize {
        CONTEXT + LONGEST
    }

    fn settled(&self, text: &str, from: usize) -> usize {
        let open = Self::open(text, from);
        if open == text.len() || open == from {
            return open;
        }
        settled_clusters(&self.run(text, from, false), open)
    }
}
