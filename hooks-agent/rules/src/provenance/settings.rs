//! Settings: which sources may bring what.

/// Which values of records may be destinations, if they are no addresses: ids, names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Handles {
    /// All that a tool returned and that no text names.
    #[default]
    Any,
    /// Those of records that the user's words choose.
    Chosen,
}

#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub(crate) struct Settings {
    pub(crate) handles: Handles,
    /// Whether what the user named may bring destinations.
    pub(crate) named_sources: bool,
    /// Whether links in what the user named may be opened.
    pub(crate) named_links: bool,
    /// Whether addresses in contents are traced.
    pub(crate) links: bool,
    /// Whether calls are asked about of which others alone speak.
    pub(crate) unasked: bool,
    /// The most text that is looked through, in bytes.
    pub(crate) max_read: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            handles: Handles::Any,
            named_sources: true,
            named_links: true,
            links: true,
            unasked: true,
            max_read: 16 << 20,
        }
    }
}
