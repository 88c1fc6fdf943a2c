//! The first byte of a packed value.

pub(super) const MAP: u8 = 1;
pub(super) const LIST: u8 = 2;
/// Ends a map or a list.
pub(super) const END: u8 = 3;
pub(super) const NULL: u8 = 4;
pub(super) const TRUE: u8 = 5;
pub(super) const FALSE: u8 = 6;
/// Numbers of 8 bytes, the lowest first.
pub(super) const UNSIGNED: u8 = 7;
pub(super) const SIGNED: u8 = 8;
pub(super) const FLOAT: u8 = 9;
/// A number of 4 bytes.
pub(super) const SHORT_FLOAT: u8 = 10;
/// A text, after its length in 4 bytes.
pub(super) const LONG_TEXT: u8 = 11;
/// A number as its text, of `serde_json` with all digits: the text follows.
pub(super) const DIGITS: u8 = 12;
/// From here on up to `TEXT`: a number below 64.
pub(super) const NUMBER: u8 = 0x40;
/// From here on: a text of less than 128 bytes.
pub(super) const TEXT: u8 = 0x80;
