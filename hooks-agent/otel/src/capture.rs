//! Whether content is exported.

/// Whether and where messages, tool definitions, arguments and results are exported.
///
/// In the environment variable `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT`, these are
/// `no_content`, `span_only`, `event_only` and `span_and_event`, in upper or lower case; `true` is
/// `span_only`. Any other text is `no_content`.
///
/// ```
/// use hooks_agent::builtin::observe::Capture;
///
/// assert_eq!(Capture::default(), Capture::Nothing);
/// assert_eq!(Capture::from_text("SPAN_ONLY"), Capture::Spans);
/// assert_eq!(Capture::from_text("yes please"), Capture::Nothing);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Capture {
    /// No content.
    #[default]
    Nothing,
    /// In attributes of the spans.
    Spans,
    /// In events of the spans.
    Events,
    /// In attributes and in events.
    Both,
}

impl Capture {
    /// Reads the text of the environment variable.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        match text.trim().to_ascii_lowercase().as_str() {
            "span_only" | "true" => Self::Spans,
            "event_only" => Self::Events,
            "span_and_event" => Self::Both,
            _ => Self::Nothing,
        }
    }

    /// Returns whether content is exported at all.
    #[must_use]
    pub const fn is_on(self) -> bool {
        !matches!(self, Self::Nothing)
    }

    pub(super) const fn is_on_spans(self) -> bool {
        matches!(self, Self::Spans | Self::Both)
    }

    pub(super) const fn is_in_events(self) -> bool {
        matches!(self, Self::Events | Self::Both)
    }
}
