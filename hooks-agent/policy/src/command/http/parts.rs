//! The parts of a request.

use crate::command::http::hosts::Hosts;

/// What a request is made of, unchecked.
#[cfg_attr(not(feature = "command-http"), expect(dead_code, reason = "nothing is sent"))]
pub(crate) struct Parts<'a> {
    pub(crate) url: &'a str,
    pub(crate) headers: &'a [(String, String)],
    /// The key of the signature, if requests are signed.
    pub(crate) signing_key: Option<&'a [u8]>,
    pub(crate) hosts: &'a Hosts,
    /// Returns the value of a variable of a header, or what is wrong with it.
    pub(crate) variable: &'a dyn Fn(&str) -> Result<String, String>,
}
