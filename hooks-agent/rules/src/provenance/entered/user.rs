//! The words and addresses of the user.

use std::sync::Arc;

use crate::provenance::entered::choice::Said;
use crate::provenance::reading::address::{Address, each_address, words_beside};
use crate::provenance::reading::needle::{Needle, numbers};
use crate::provenance::reading::text::Text;

/// What is known of what the user said.
#[derive(Default)]
pub(crate) struct Known {
    pub(crate) texts: Vec<Arc<Text>>,
    pub(crate) said: Said,
    /// The addresses that the user wrote.
    pub(crate) given: Vec<Address>,
}

/// A passage that a hook puts into what the user said is no shorter, in bytes.
const LEAST_PASSAGE: usize = 24;

impl Known {
    /// Takes what others wrote out of the texts, as a hook may have put it there, and notes what is left.
    pub(crate) fn of(mut texts: Vec<Arc<Text>>, foreign: &[Arc<Text>]) -> Self {
        for text in &mut texts {
            for other in foreign.iter().map(|other| other.folded.trim()) {
                if other.len() >= LEAST_PASSAGE && text.folded.contains(other) {
                    *text = Arc::new(Text::new(text.folded.replace(other, "\n")));
                }
            }
        }
        let (mut said, mut given) = (Said::default(), Vec::new());
        for text in &texts {
            let words = words_beside(&text.folded);
            let words = words.into_iter().filter(|word| word.chars().count() >= 3);
            said.words.extend(words.map(str::to_owned));
            let is_large = |it: &String| it.split('.').next().is_some_and(|whole| whole.len() >= 2);
            said.numbers.extend(numbers(&text.folded).filter(is_large));
            each_address(&text.folded, None, |address, _| given.push(address));
        }
        Self { texts, said, given }
    }

    /// Whether the user wrote a value.
    pub(crate) fn has_said(&self, needle: &Needle) -> bool {
        self.texts.iter().any(|text| needle.is_named_in(&text.folded))
    }
}
