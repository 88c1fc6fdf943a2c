//! Numbering plans of all regions, by the metadata of libphonenumber.

use std::sync::{LazyLock, OnceLock};

use regex::bytes::{Regex, RegexBuilder};

/// A row of the table.
pub(crate) struct Region {
    /// Such as `DE`; `001` for services of no region.
    pub(crate) name: &'static str,
    code: &'static str,
    form: Lazy,
    /// What is dialled before a national number inside of the region.
    prefix: Option<Lazy>,
    /// What takes the place of the prefix, with `$1` for a part of it.
    instead: Option<&'static str>,
}

impl std::fmt::Debug for Region {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// A pattern that is compiled when it is first asked for.
struct Lazy(&'static str, OnceLock<Regex>);

impl Lazy {
    fn get(&self, is_whole: bool) -> &Regex {
        self.1.get_or_init(|| {
            let end = if is_whole { "$" } else { "" };
            let pattern = format!("^(?:{}){end}", self.0);
            RegexBuilder::new(&pattern).unicode(false).build().expect("the table is tested")
        })
    }
}

static REGIONS: LazyLock<Vec<Region>> = LazyLock::new(|| {
    let lines = include_str!("regions.txt").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(Region::of_line).collect()
});

/// The fewest digits behind a country code.
const FEWEST: usize = 4;

impl Region {
    fn of_line(line: &'static str) -> Option<Self> {
        let mut columns = line.split('\t');
        let mut next = || columns.next();
        let (name, code, form) = (next()?, next()?, next()?);
        let is_set = |column: &&str| *column != "-";
        let prefix = next().filter(is_set).map(|prefix| Lazy(prefix, OnceLock::new()));
        let instead = next().filter(is_set);
        Some(Self { name, code, form: Lazy(form, OnceLock::new()), prefix, instead })
    }

    /// The rows of this name, in letters of any case.
    pub(crate) fn named(name: &str) -> impl Iterator<Item = &'static Self> {
        REGIONS.iter().filter(move |region| region.name.eq_ignore_ascii_case(name))
    }

    /// Whether these digits are a number as it is dialled inside of the region.
    pub(crate) fn has(&self, digits: &[u8]) -> bool {
        self.has_behind_code(digits)
            || self.without_prefix(digits).is_some_and(|it| self.has_behind_code(&it))
    }

    /// Whether the prefix of the region is before these digits.
    pub(crate) fn has_prefix(&self, digits: &[u8]) -> bool {
        let stripped = self.without_prefix(digits);
        stripped.is_some_and(|rest| rest.len() < digits.len() && self.has_behind_code(&rest))
    }

    fn has_behind_code(&self, digits: &[u8]) -> bool {
        digits.len() >= FEWEST && self.form.get(true).is_match(digits)
    }

    fn without_prefix(&self, digits: &[u8]) -> Option<Vec<u8>> {
        let parts = self.prefix.as_ref()?.get(false).captures(digits)?;
        let whole = parts.get(0).filter(|whole| !whole.is_empty())?;
        let mut rest = Vec::new();
        let is_kept = parts.len() > 1 && parts.iter().skip(1).flatten().next().is_some();
        if let Some(instead) = self.instead.filter(|_| is_kept) {
            parts.expand(instead.as_bytes(), &mut rest);
        }
        rest.extend_from_slice(&digits[whole.end()..]);
        Some(rest)
    }
}

/// Whether these digits are a country code, and behind it a number of one of its regions.
pub(crate) fn is_of_any_region(digits: &[u8]) -> bool {
    let of_code = |region: &&Region| digits.starts_with(region.code.as_bytes());
    // No code is the start of another one.
    REGIONS.iter().filter(of_code).any(|it| it.has_behind_code(&digits[it.code.len()..]))
}

#[cfg(test)]
mod tests {
    use super::{REGIONS, Region, is_of_any_region};

    #[test]
    fn each_row_of_the_table_has_patterns_that_compile() {
        assert_eq!(REGIONS.len(), 254);
        for region in REGIONS.iter() {
            region.form.get(true);
            if let Some(prefix) = &region.prefix {
                prefix.get(false);
            }
        }
    }

    #[test]
    fn numbers_are_known_with_and_without_what_is_dialled_before_them() {
        for (region, number) in [
            ("DE", "030123456"),
            ("de", "30123456"),
            ("US", "14155550132"),
            ("GB", "02079460958"),
            ("AR", "01115-23456789"),
            ("BR", "0152123456789"),
            ("IT", "0236618300"),
        ] {
            let digits: Vec<_> = number.bytes().filter(u8::is_ascii_digit).collect();
            assert!(Region::named(region).any(|it| it.has(&digits)), "{region} {number}");
        }
        assert!(Region::named("XX").next().is_none());
        assert!(is_of_any_region(b"498001234567890") && !is_of_any_region(b"999123456"));
    }
}
