//! The files of the page, in the binary.

/// A file of the page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asset {
    pub(super) content_type: &'static str,
    pub(super) bytes: &'static [u8],
}

/// Returns the page.
pub(super) fn index() -> Asset {
    Asset { content_type: "text/html; charset=utf-8", bytes: include_bytes!("index.html") }
}

/// Returns the file of this name below `/assets/`.
pub(super) fn asset(_name: &str) -> Option<Asset> {
    None
}
