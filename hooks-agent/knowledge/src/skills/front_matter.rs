//! The format of `SKILL.md`: YAML between two lines `---`, and a text.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_saphyr::{Location, Spanned};

/// The limits of the format, in characters.
const LONGEST_NAME: usize = 64;
const LONGEST_DESCRIPTION: usize = 1024;
const LONGEST_COMPATIBILITY: usize = 500;

const KEYS: [&str; 6] =
    ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];

const NAME: &str = "1 to 64 of `a` to `z`, `0` to `9` and `-`, with no `-` at the start, at the end or \
    beside another, as in `name: pdf-forms`";

/// What a `SKILL.md` says.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) license: Option<String>,
    pub(super) compatibility: Option<String>,
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) allowed_tools: Vec<String>,
    pub(super) body: String,
}

/// A mistake in a `SKILL.md`.
#[derive(Debug)]
pub(super) struct Mistake {
    pub(super) line: usize,
    pub(super) found: String,
    pub(super) expected: String,
}

impl Mistake {
    pub(super) fn new(line: usize, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { line, found: found.into(), expected: expected.into() }
    }
}

#[derive(Deserialize)]
struct Fields {
    name: Option<Spanned<String>>,
    description: Option<Spanned<String>>,
    license: Option<String>,
    compatibility: Option<Spanned<String>>,
    #[serde(default)]
    metadata: Option<BTreeMap<String, String>>,
    #[serde(rename = "allowed-tools")]
    allowed_tools: Option<ToolNames>,
}

/// Names with spaces between them, or a list.
#[derive(Deserialize)]
#[serde(untagged, expecting = "`allowed-tools` is neither text nor a list of texts")]
enum ToolNames {
    Text(String),
    List(Vec<String>),
}

/// The keys of the front matter.
struct Keys(Vec<Spanned<String>>);

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Keys;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("lines `key: value`")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
                let mut keys = Vec::new();
                while let Some((key, _)) = map.next_entry::<Spanned<String>, IgnoredAny>()? {
                    keys.push(key);
                }
                Ok(Keys(keys))
            }
        }
        deserializer.deserialize_map(Read)
    }
}

/// Reads a `SKILL.md` of a folder of this name.
pub(super) fn parse(text: &str, folder: &str, other_keys: bool) -> Result<Parsed, Mistake> {
    let (yaml, body) = split(text)?;
    let Keys(keys) = read(yaml)?;
    if let Some(key) = keys.iter().find(|key| !other_keys && !KEYS.contains(&key.value.as_str())) {
        let found = format!("the key `{}`", key.value);
        return Err(Mistake::new(
            line(key.referenced),
            found,
            format!("one of {}", KEYS.join(", ")),
        ));
    }
    let fields: Fields = read(yaml)?;
    let name = fields.name.ok_or_else(|| Mistake::new(1, "no `name`", NAME))?;
    check_name(&name, folder)?;
    let expected = format!(
        "1 to {LONGEST_DESCRIPTION} characters that say what the skill does and when to use it"
    );
    let missing = || Mistake::new(1, "no `description`", &expected);
    let description = fields.description.ok_or_else(missing)?;
    check_length(&description, "description", LONGEST_DESCRIPTION, &expected)?;
    if let Some(compatibility) = &fields.compatibility {
        let expected = format!("1 to {LONGEST_COMPATIBILITY} characters");
        check_length(compatibility, "compatibility", LONGEST_COMPATIBILITY, &expected)?;
    }
    let allowed_tools = match fields.allowed_tools {
        None => Vec::new(),
        Some(ToolNames::Text(text)) => text.split_whitespace().map(str::to_owned).collect(),
        Some(ToolNames::List(names)) => names,
    };
    Ok(Parsed {
        name: name.value,
        description: description.value.trim().to_owned(),
        license: fields.license,
        compatibility: fields.compatibility.map(|text| text.value),
        metadata: fields.metadata.unwrap_or_default(),
        allowed_tools,
        body: body.trim().to_owned(),
    })
}

// Input:  "---\nname: a\n---\nText"
// Output: ("name: a\n", "Text")
/// Parts the front matter from the body.
fn split(text: &str) -> Result<(&str, &str), Mistake> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    if first.trim_end() != "---" {
        let found = format!("`{}`", shown(first));
        return Err(Mistake::new(1, found, "`---`, the line before the front matter"));
    }
    let mut end = first.len();
    for line in lines {
        if line.trim_end() == "---" {
            return Ok((&text[first.len()..end], &text[end + line.len()..]));
        }
        end += line.len();
    }
    Err(Mistake::new(
        text.lines().count(),
        "the end of the file",
        "`---`, the line after the front matter",
    ))
}

fn read<'de, T: Deserialize<'de>>(yaml: &'de str) -> Result<T, Mistake> {
    let options = serde_saphyr::options! { with_snippet: false };
    serde_saphyr::from_str_with_options(yaml, options).map_err(|error| {
        let found = one_line(&error.render_with_formatter(&serde_saphyr::UserMessageFormatter));
        let Some(at) = error.location() else { return Mistake::new(2, found, EXPECTED) };
        // The line of the file is said before it.
        let place = format!(" at line {}, column {}", at.line(), at.column());
        Mistake::new(line(at), found.replace(&place, ""), EXPECTED)
    })
}

const EXPECTED: &str = "YAML lines `key: value`, with quotes around a value that has `: ` in it; values of \
    `metadata` are texts";

fn check_name(name: &Spanned<String>, folder: &str) -> Result<(), Mistake> {
    let is_allowed = |char: char| matches!(char, 'a'..='z' | '0'..='9' | '-');
    let (at, text) = (line(name.referenced), name.value.as_str());
    let is_valid = (1..=LONGEST_NAME).contains(&text.len())
        && text.chars().all(is_allowed)
        && !text.starts_with('-')
        && !text.ends_with('-')
        && !text.contains("--");
    if !is_valid {
        return Err(Mistake::new(at, format!("the name `{}`", shown(text)), NAME));
    }
    if text != folder {
        let expected = format!("the name of the folder, `{}`", shown(folder));
        return Err(Mistake::new(at, format!("the name `{text}`"), expected));
    }
    Ok(())
}

fn check_length(
    text: &Spanned<String>,
    key: &str,
    longest: usize,
    expected: &str,
) -> Result<(), Mistake> {
    let length = text.value.chars().count();
    if text.value.trim().is_empty() || length > longest {
        let found = format!("a `{key}` of {length} characters");
        return Err(Mistake::new(line(text.referenced), found, expected));
    }
    Ok(())
}

/// Returns the line in the file: the front matter begins in its second line.
fn line(location: Location) -> usize {
    usize::try_from(location.line()).unwrap_or(usize::MAX).saturating_add(1)
}

/// Returns the start of a text, for messages.
fn shown(text: &str) -> String {
    one_line(text.trim_end()).chars().take(80).collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
