//! The built-in kinds of personal data.

use std::fmt;

/// A kind of personal data that a [`PiiScanner`](crate::guard::pii::PiiScanner) finds.
///
/// Boundaries of words are ASCII: an address that touches CJK text is found.
///
/// | kind | name | what is found |
/// |---|---|---|
/// | `Email` | `email` | letters, digits and `._%+-'` before `@`, a host with a top-level domain after it; Latin letters with marks are letters. Neither quoted local parts nor hosts in other scripts |
/// | `CreditCard` | `credit_card` | 13 to 19 digits that an issuer uses, with a Luhn checksum; together or in groups of three or more digits with spaces or with dashes |
/// | `Ipv4` | `ip` | four octets without leading zeros, not inside of a longer dotted number |
/// | `Ipv6` | `ip` | every form, with an embedded IPv4 address and a zone. Not `::`, and not two short groups such as `1::2`, which are slices and paths in code; `::1` is found |
/// | `MacAddress` | `mac_address` | six pairs with colons or with dashes, not inside of a longer chain of pairs |
/// | `Url` | `url` | with a scheme, with `www.`, or a host with a path and a well-known top-level domain; with path, query and fragment, without the punctuation of the sentence |
/// | `Phone` | `phone` | `+` or `00` with a country code and the length that this country has; national numbers of a clear shape: North America, mobile numbers of China, Russia with 8, and numbers with a leading zero and groups as in Europe, Japan and China |
/// | `Iban` | `iban` | the length of the country and the checksum; together or in groups of four |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum PiiKind {
    /// E-mail addresses.
    Email,
    /// Numbers of payment cards.
    CreditCard,
    /// IPv4 addresses.
    Ipv4,
    /// IPv6 addresses.
    Ipv6,
    /// MAC addresses.
    MacAddress,
    /// URLs.
    Url,
    /// Telephone numbers.
    Phone,
    /// International bank account numbers.
    Iban,
}

impl PiiKind {
    /// All kinds.
    pub const ALL: [Self; 8] = [
        Self::Email,
        Self::CreditCard,
        Self::Ipv4,
        Self::Ipv6,
        Self::MacAddress,
        Self::Url,
        Self::Phone,
        Self::Iban,
    ];

    /// The name that replacements and errors show. Both versions of IP are `ip`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::CreditCard => "credit_card",
            Self::Ipv4 | Self::Ipv6 => "ip",
            Self::MacAddress => "mac_address",
            Self::Url => "url",
            Self::Phone => "phone",
            Self::Iban => "iban",
        }
    }
}

impl fmt::Display for PiiKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
