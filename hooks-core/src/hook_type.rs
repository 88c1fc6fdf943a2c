//! The names of things: phases, levels and hook types.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// When a hook runs, relative to the body of its method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// Before the body; may change the arguments or answer in its place.
    Pre,
    /// Around the body; may skip, wrap, repeat or replace it.
    Around,
    /// After the body; may change the output.
    Post,
    /// After a failure; may change the error or recover from it.
    Error,
    /// At the very end, however the call ended; looks only.
    Settled,
}

impl Phase {
    /// Every phase, in the order in which they run.
    pub const ALL: &'static [Phase] =
        &[Phase::Pre, Phase::Around, Phase::Post, Phase::Error, Phase::Settled];

    /// The prefix of the phase in the text form of a hook type: `pre`, `around`, `post`, `error`,
    /// `settled`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Phase::Pre => "pre",
            Phase::Around => "around",
            Phase::Post => "post",
            Phase::Error => "error",
            Phase::Settled => "settled",
        }
    }
}

impl FromStr for Phase {
    type Err = ParseNameError;

    fn from_str(text: &str) -> Result<Self, ParseNameError> {
        let found = Phase::ALL.iter().find(|phase| phase.as_str() == text);
        let expected = "one of pre, around, post, error, settled";
        found.copied().ok_or_else(|| ParseNameError::new(text, "a phase", expected))
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Where a hook is registered: on one instance, or on the class, which means every instance.
///
/// In each phase instance hooks run before class hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Level {
    /// For one instance only.
    Instance,
    /// For every instance of a type.
    Class,
}

impl Level {
    /// Every level, in the order in which they run.
    pub const ALL: &'static [Level] = &[Level::Instance, Level::Class];

    /// `instance` or `class`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Level::Instance => "instance",
            Level::Class => "class",
        }
    }
}

impl FromStr for Level {
    type Err = ParseNameError;

    fn from_str(text: &str) -> Result<Self, ParseNameError> {
        let found = Level::ALL.iter().find(|level| level.as_str() == text);
        let expected = "instance or class";
        found.copied().ok_or_else(|| ParseNameError::new(text, "a level", expected))
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A phase of a method, by name: `pre_reply`, `post_observe`.
///
/// The typed constants that [`#[hookable]`](crate::hookable) generates (`Assistant::PRE_REPLY`)
/// convert into it. The text form is for configuration files and for messages.
///
/// ```
/// use hooks_core::{HookType, Phase};
///
/// let hook_type: HookType = "pre_reply".parse()?;
/// assert_eq!((hook_type.phase(), hook_type.method()), (Phase::Pre, "reply"));
/// assert_eq!(hook_type.to_string(), "pre_reply");
/// assert!("reply".parse::<HookType>().is_err());
/// # Ok::<(), hooks_core::RegistryError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HookType {
    phase: Phase,
    method: Cow<'static, str>,
}

impl HookType {
    /// The given phase of the method with the given name.
    #[must_use]
    pub fn new(phase: Phase, method: impl Into<Cow<'static, str>>) -> Self {
        let method = method.into();
        Self { phase, method }
    }

    /// The phase.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The method, as it is written in the source.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }
}

impl fmt::Display for HookType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.phase, self.method)
    }
}

impl FromStr for HookType {
    type Err = ParseNameError;

    /// Reads `<phase>_<method>`. Whether an agent has such a method is checked where it is used.
    fn from_str(text: &str) -> Result<Self, ParseNameError> {
        let expected = "a phase and a method in lower case, as in pre_reply";
        let unknown = || ParseNameError::new(text, "a hook type", expected);
        let (prefix, method) = text.split_once('_').ok_or_else(unknown)?;
        let phase = prefix.parse().map_err(|_| unknown())?;
        if method.is_empty() {
            return Err(unknown());
        }
        Ok(Self::new(phase, method.to_owned()))
    }
}

/// A text that is not the name of a [`Phase`], a [`Level`] or a [`HookType`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is not {what}, expected {expected}")]
pub struct ParseNameError {
    text: String,
    what: &'static str,
    expected: &'static str,
}

impl ParseNameError {
    fn new(text: &str, what: &'static str, expected: &'static str) -> Self {
        Self { text: text.to_owned(), what, expected }
    }
}
