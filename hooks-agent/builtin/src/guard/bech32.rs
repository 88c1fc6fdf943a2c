//! The checksum of Bech32 (BIP 173) and Bech32m (BIP 350).

const CHARSET: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";

/// Whether the checksum of a text in one case is right: a prefix, `1`, and the data.
pub(crate) fn is_bech32(text: &[u8]) -> bool {
    let has_cases =
        text.iter().any(u8::is_ascii_lowercase) && text.iter().any(u8::is_ascii_uppercase);
    let lower = text.to_ascii_lowercase();
    let Some(at) = lower.iter().rposition(|byte| *byte == b'1').filter(|at| *at > 0) else {
        return false;
    };
    let (prefix, data) = (&lower[..at], &lower[at + 1..]);
    let value =
        |byte: &u8| CHARSET.iter().position(|it| it == byte).and_then(|it| u8::try_from(it).ok());
    let Some(data) = data.iter().map(value).collect::<Option<Vec<u8>>>() else { return false };
    let high = prefix.iter().map(|byte| byte >> 5);
    let low = prefix.iter().map(|byte| byte & 31);
    let sum = high.chain([0]).chain(low).chain(data.iter().copied()).fold(1, next);
    !has_cases && data.len() >= 6 && matches!(sum, 1 | 0x2BC8_30A3)
}

fn next(sum: u32, value: u8) -> u32 {
    const PARTS: [u32; 5] = [0x3B6A_57B2, 0x2650_8E6D, 0x1EA1_19FA, 0x3D42_33DD, 0x2A14_62B3];
    let top = sum >> 25;
    let shifted = ((sum & 0x01FF_FFFF) << 5) ^ u32::from(value);
    let parts = PARTS.iter().enumerate().filter(|(bit, _)| (top >> bit) & 1 == 1);
    parts.fold(shifted, |sum, (_, part)| sum ^ part)
}

#[cfg(test)]
mod tests {
    use super::is_bech32;

    #[test]
    fn the_checksums_of_the_proposals_are_known() {
        // From BIP 173 and BIP 350.
        for text in [
            "A12UEL5L",
            "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4",
            "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
            "A1LQFN3A",
        ] {
            assert!(is_bech32(text.as_bytes()), "{text}");
        }
        for text in
            ["bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5", "A12UEl5L", "1nwldj5", "x1b4n0q5v", ""]
        {
            assert!(!is_bech32(text.as_bytes()), "{text}");
        }
    }
}
