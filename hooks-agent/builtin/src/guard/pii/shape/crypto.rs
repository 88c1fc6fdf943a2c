//! Addresses of crypto currencies: Bitcoin with its checksums, Ethereum by its form.

use std::ops::Range;

use sha2::{Digest, Sha256};

use crate::guard::bech32::is_bech32;
use crate::guard::pii::shape::bytes::{ends_word, get, run_start, starts_word};

/// The most bytes of an address.
const LONGEST: usize = 90;
const BASE_58: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// The address that has its first digit at `at`.
pub(crate) fn at(text: &[u8], at: usize) -> Option<Range<usize>> {
    let start = run_start(text, at, at.saturating_sub(4), |byte| byte.is_ascii_alphabetic());
    let length =
        text[start..].iter().take(LONGEST + 1).take_while(|byte| byte.is_ascii_alphanumeric());
    let end = start + length.count();
    if !starts_word(text, start) || !ends_word(text, end) {
        return None;
    }
    let word = &text[start..end];
    let is_address = match word {
        [b'0', b'x', digits @ ..] => {
            digits.len() == 40 && digits.iter().all(u8::is_ascii_hexdigit) && !is_empty(digits)
        }
        [b'b' | b'B', b'c' | b'C', b'1', ..] => word.len() <= LONGEST && is_bech32(word),
        [b'1' | b'3', ..] => (25..=35).contains(&word.len()) && is_base_58_check(word),
        _ => false,
    };
    is_address.then_some(start..end)
}

/// Whether all digits are zero: the address of nobody.
fn is_empty(digits: &[u8]) -> bool {
    digits.iter().all(|digit| *digit == b'0')
}

/// Whether a text in base 58 is a version, 20 bytes, and the first four bytes of their hash.
fn is_base_58_check(text: &[u8]) -> bool {
    let mut bytes = [0_u8; 25];
    for byte in text {
        let Some(digit) = BASE_58.iter().position(|it| it == byte) else { return false };
        let mut carry = u16::try_from(digit).unwrap_or_default();
        for byte in bytes.iter_mut().rev() {
            let [high, low] = (carry + u16::from(*byte) * 58).to_be_bytes();
            (*byte, carry) = (low, u16::from(high));
        }
        if carry > 0 {
            return false;
        }
    }
    let hash = Sha256::digest(Sha256::digest(&bytes[..21]));
    matches!(bytes[0], 0 | 5) && bytes[21..] == hash[..4]
}

/// Where an address may start that more text completes, lengthens or refutes.
pub(crate) fn open(text: &[u8], from: usize) -> usize {
    let least = from.max(text.len().saturating_sub(LONGEST + 1));
    let start = run_start(text, text.len(), least, |byte| byte.is_ascii_alphanumeric());
    if get(text, start).is_some() { start } else { text.len() }
}

#[cfg(test)]
mod tests {
    use super::at;

    #[test]
    fn addresses_are_known_by_their_checksums() {
        for text in [
            // Of the first block, of BIP 13 and BIP 173, and of EIP 55.
            "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
            "3P14159f73E4gFr7JterCCQh9QjiTjiZrG",
            "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
            "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
        ] {
            let digit = text.bytes().position(|byte| byte.is_ascii_digit()).unwrap();
            assert_eq!(at(text.as_bytes(), digit), Some(0..text.len()), "{text}");
        }
        for text in [
            "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb",
            "0x0000000000000000000000000000000000000000",
            "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe",
            "1234567890123456789012345678901234",
        ] {
            assert_eq!(at(text.as_bytes(), 0), None, "{text}");
        }
    }
}
