//! The language of a document, for the stems of its words.

use tantivy::tokenizer;
use whatlang::{Lang, Script};

/// How much of a document tells its language, in bytes.
const SAMPLE: usize = 4096;

macro_rules! languages {
    ($($name:ident $lang:ident $code:literal,)*) => {
        /// A language whose words have stems.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Language {
            $($name,)*
        }

        impl Language {
            /// Returns the code by which the index has it.
            pub(crate) fn code(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)*
                }
            }

            pub(crate) fn of_code(code: &[u8]) -> Option<Self> {
                [$(Self::$name),*].into_iter().find(|it| it.code().as_bytes() == code)
            }

            pub(crate) fn stemmer(self) -> tokenizer::Language {
                match self {
                    $(Self::$name => tokenizer::Language::$name,)*
                }
            }

            fn of_lang(lang: Lang) -> Option<Self> {
                match lang {
                    $(Lang::$lang => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}

languages! {
    English Eng "en",
    Arabic Ara "ar",
    Danish Dan "da",
    Dutch Nld "nl",
    Finnish Fin "fi",
    French Fra "fr",
    German Deu "de",
    Greek Ell "el",
    Hungarian Hun "hu",
    Italian Ita "it",
    Norwegian Nob "nb",
    Portuguese Por "pt",
    Romanian Ron "ro",
    Russian Rus "ru",
    Spanish Spa "es",
    Swedish Swe "sv",
    Tamil Tam "ta",
    Turkish Tur "tr",
}

impl Language {
    /// Detects the language of a text. It is English if it is not clear, or one without stems: the
    /// words with letters that stand in Chinese text are English for the most part.
    pub(crate) fn of_text(text: &str) -> Self {
        let end = (0..=SAMPLE.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
        let detected = whatlang::detect(&text[..end.unwrap_or(0)]);
        // Of other scripts, a short text is enough.
        let clear = detected.filter(|it| it.is_reliable() || it.script() != Script::Latin);
        clear.and_then(|info| Self::of_lang(info.lang())).unwrap_or(Self::English)
    }
}
