//! Globs of names.

use globset::{Glob, GlobSet, GlobSetBuilder};

/// The longest glob, in bytes.
const LONGEST: usize = 1024;

/// Globs of names; those after `!` take names out.
///
/// ```
/// use hooks_agent_core::options::Globs;
///
/// let texts = ["support-*", "!support-test"].map(str::to_owned).to_vec();
/// let globs = Globs::new(texts, |index, why| panic!("{index}: {why}")).unwrap();
/// assert!(globs.is_match("support-1") && !globs.is_match("support-test"));
/// ```
#[derive(Clone, Debug)]
pub struct Globs {
    texts: Vec<String>,
    taken: Option<GlobSet>,
    left_out: GlobSet,
}

impl Globs {
    /// Creates globs that match every name.
    #[must_use]
    pub fn all() -> Self {
        Self { texts: Vec::new(), taken: None, left_out: GlobSet::empty() }
    }

    /// Creates the globs of these texts, and hands those that are none to `report`.
    pub fn new(texts: Vec<String>, mut report: impl FnMut(usize, String)) -> Option<Self> {
        let (mut taken, mut left_out) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        let (mut has_taken, mut is_valid) = (false, true);
        for (index, text) in texts.iter().enumerate() {
            let (set, pattern) = match text.strip_prefix('!') {
                Some(pattern) => (&mut left_out, pattern),
                None => (&mut taken, text.as_str()),
            };
            has_taken |= !text.starts_with('!');
            match glob(pattern) {
                Ok(glob) => {
                    set.add(glob);
                }
                Err(why) => {
                    is_valid = false;
                    report(index, why);
                }
            }
        }
        let built = (taken.build(), left_out.build());
        let (Ok(taken), Ok(left_out)) = built else {
            report(0, "expected fewer or shorter globs".to_owned());
            return None;
        };
        is_valid.then(|| Self { texts, taken: has_taken.then_some(taken), left_out })
    }

    /// Returns whether a name is meant: one of the globs matches it, or there are only those after
    /// `!`, and none of these matches it.
    #[must_use]
    pub fn is_match(&self, name: &str) -> bool {
        self.taken.as_ref().is_none_or(|taken| taken.is_match(name))
            && !self.left_out.is_match(name)
    }

    /// Returns whether a name is one of those that are taken out.
    #[must_use]
    pub fn leaves_out(&self, name: &str) -> bool {
        self.left_out.is_match(name)
    }

    /// Returns the texts, as they are written.
    #[must_use]
    pub fn texts(&self) -> &[String] {
        &self.texts
    }
}

fn glob(pattern: &str) -> Result<Glob, String> {
    if pattern.is_empty() {
        return Err("expected a glob such as `support-*`, found an empty one".to_owned());
    }
    if pattern.len() > LONGEST {
        return Err(format!("expected a glob of at most {LONGEST} bytes"));
    }
    Glob::new(pattern).map_err(|error| format!("expected a glob: {}", error.kind()))
}
