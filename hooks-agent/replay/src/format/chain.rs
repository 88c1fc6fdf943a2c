//! The digests of lines: each is of its line and of the digest before it, so that a line that is changed,
//! moved, missing or added is found.

use crate::format::canonical::Hasher;

/// How many digits of a SHA-256 a line has.
const DIGITS: usize = 32;

/// The digest of the last line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chain(String);

impl Chain {
    // Input: {"run":"r1","t":"call"}
    // Output: {"run":"r1","sum":"0f..","t":"call"}
    /// Returns a line with its digest, where its keys stay sorted.
    pub(crate) fn seal(&mut self, line: &str) -> String {
        let place = line.rfind(",\"t\":\"").expect("each line has a kind, and a field before it");
        let (before, after) = line.split_at(place);
        self.0 = self.next(before, after.trim_end());
        format!("{before},\"sum\":\"{}\"{after}", self.0)
    }

    /// Checks the digest of the next line.
    pub(crate) fn check(&mut self, line: &[u8], sum: Option<&str>) -> Result<(), String> {
        let sum = sum.ok_or("it has no field `sum`")?;
        let line = std::str::from_utf8(line).map_err(|_| "it is no UTF-8")?;
        let field = format!(",\"sum\":\"{sum}\"");
        // What follows the digest has no objects.
        let parts = line.rfind(&field).map(|place| (&line[..place], &line[place + field.len()..]));
        let expected = parts.map(|(before, after)| self.next(before, after.trim_end()));
        if expected.as_deref() != Some(sum) {
            let reason = "its `sum` is not that of this line after the one before: the tape was changed \
                          or damaged, record it again";
            return Err(reason.to_owned());
        }
        sum.clone_into(&mut self.0);
        Ok(())
    }

    fn next(&self, before: &str, after: &str) -> String {
        let mut hasher = Hasher::default();
        for part in [&self.0, before, after] {
            hasher.add(part);
        }
        let mut sum = hasher.key().to_string();
        sum.truncate(DIGITS);
        sum
    }
}
