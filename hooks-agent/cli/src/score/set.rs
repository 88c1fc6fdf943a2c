//! Reads sets of texts whose values are known.

use std::ops::Range;
use std::path::Path;

use hooks_core::BoxError;
use serde::Deserialize;

use crate::score::labels::own_name;

/// A text and the values in it.
pub(super) struct LabelledText {
    /// The file and the line, or the number of the text in its array.
    pub(super) place: String,
    pub(super) text: String,
    pub(super) language: String,
    /// The region whose telephone numbers the text may have without a country code.
    pub(super) region: Option<String>,
    /// The values, by their range of bytes and the name of their kind.
    pub(super) values: Vec<(Range<usize>, String)>,
}

/// The texts of a file.
pub(super) struct Set {
    pub(super) texts: Vec<LabelledText>,
}

/// A text as one of the two forms has it.
#[derive(Deserialize)]
struct Raw {
    #[serde(alias = "full_text")]
    text: String,
    spans: Vec<RawSpan>,
    language: Option<String>,
    region: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RawSpan {
    Triple(usize, usize, String),
    Presidio { entity_type: String, start_position: usize, end_position: usize },
}

impl Set {
    /// Reads a file: lines of JSON, or an array.
    pub(super) fn read(file: &Path) -> Result<Self, BoxError> {
        let name = file.display();
        let content = std::fs::read_to_string(file).map_err(|error| format!("{name}: {error}"))?;
        let mut texts = Vec::new();
        if content.trim_start().starts_with('[') {
            let all: Vec<Raw> = serde_json::from_str(&content)
                .map_err(|error| format!("{name}: expected an array of texts: {error}"))?;
            for (number, raw) in all.into_iter().enumerate() {
                texts.push(raw.labelled(format!("{name}[{number}]"))?);
            }
        } else {
            for (number, line) in content.lines().enumerate() {
                let place = format!("{name}:{}", number + 1);
                if line.trim().is_empty() {
                    continue;
                }
                let raw: Raw = serde_json::from_str(line).map_err(|error| {
                    format!(
                        "{place}: {error}; write \
                         {{\"text\": \"mail a@b.org\", \"spans\": [[5, 12, \"email\"]]}}"
                    )
                })?;
                texts.push(raw.labelled(place)?);
            }
        }
        Ok(Self { texts })
    }
}

impl Raw {
    /// Turns places in characters into places in bytes.
    fn labelled(self, place: String) -> Result<LabelledText, BoxError> {
        let Self { text, spans, language, region } = self;
        let starts: Vec<_> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let mut values = Vec::new();
        for span in spans {
            let (start, end, kind) = match span {
                RawSpan::Triple(start, end, kind) => (start, end, kind),
                RawSpan::Presidio { entity_type, start_position, end_position } => {
                    (start_position, end_position, entity_type)
                }
            };
            let (Some(from), Some(to)) = (starts.get(start), starts.get(end)) else {
                let count = starts.len() - 1;
                let error = format!("{place}: [{start}, {end}] ends behind the {count} characters");
                return Err(error.into());
            };
            if from >= to {
                let error = format!("{place}: [{start}, {end}] is empty; the end is exclusive");
                return Err(error.into());
            }
            values.push((*from..*to, own_name(&kind)));
        }
        values.sort_by_key(|(range, _)| (range.start, range.end));
        Ok(LabelledText { place, text, language: language.unwrap_or_default(), region, values })
    }
}
