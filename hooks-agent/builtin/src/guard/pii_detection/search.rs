//! Finds personal data in a text, and replaces it.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use regex::{Error, Regex};

use crate::guard::pii::{
    PiiAllowed, PiiDetected, PiiDetector, PiiMatch, PiiRecognition, PiiRegister, PiiReplacement,
    PiiStrategy,
};
use crate::guard::vault::{InCall, open_token};
use hooks_agent_core::model::{Find, Finding, Rewriter, Used};

/// Shorter data are not searched for in what a tool returns: they would be found everywhere.
const SHORTEST: usize = 4;

/// Finds personal data and replaces it, by tokens of the vault if there is one.
#[derive(Clone)]
pub(super) struct Search {
    pub(super) detector: Arc<dyn PiiDetector>,
    pub(super) replacement: Arc<PiiReplacement>,
    pub(super) vault: Option<InCall>,
    /// What is found and stays.
    pub(super) allowed: Arc<PiiAllowed>,
    pub(super) register: Option<PiiRegister>,
}

impl Search {
    /// Returns the id of what is searched for and what becomes of it.
    pub(super) fn id(
        &self,
        has_vault: bool,
        recognition: Option<&PiiRecognition>,
    ) -> Option<Arc<str>> {
        let detector = self.detector.id()?;
        let Self { replacement, allowed, .. } = self;
        let mut id = format!("pii/{detector}/{replacement:?}/{has_vault}");
        if !allowed.is_empty() {
            id = format!("{id}/{allowed:?}");
        }
        if let Some(recognition) = recognition {
            id = format!("{id}/{}", recognition.id());
        }
        Some(id.into())
    }

    /// Returns a rewriter.
    pub(super) fn rewriter(self, id: Option<&Arc<str>>) -> Rewriter {
        let rewriter = Rewriter::new(self);
        match id {
            Some(id) => rewriter.known_as(id.clone()),
            None => rewriter,
        }
    }

    /// Returns the next match that is not a part of a token, with all of the tokens that it has a part of.
    /// A panic of the detector is an error.
    fn next(&self, text: &str, from: usize) -> Result<Option<PiiMatch>, ()> {
        let mut at = from;
        loop {
            let find = AssertUnwindSafe(|| self.detector.find(text, at)?.fitted(text));
            let Some(mut found) = catch_unwind(find).map_err(drop)? else { return Ok(None) };
            if self.allowed.allows(&found.kind, &text[found.range.clone()]) {
                at = found.range.end;
                continue;
            }
            let end = self.token_around(text, &found).map(|token| token.end);
            match end {
                Some(end) if end < text.len() => at = end,
                Some(_) => return Ok(None),
                None => {
                    let Range { start, end } = self.with_whole_tokens(text, found.range);
                    found.range = start.max(from)..end;
                    return Ok(Some(found));
                }
            }
        }
    }

    /// Returns the token of the vault that a match is a part of.
    fn token_around(&self, text: &str, found: &PiiMatch) -> Option<Range<usize>> {
        self.vault.as_ref()?.token_around(text, &found.range)
    }

    /// Returns a range with all of the tokens that it has a part of: the value of half a token could not be
    /// given out.
    fn with_whole_tokens(&self, text: &str, range: Range<usize>) -> Range<usize> {
        match &self.vault {
            Some(vault) => vault.with_whole_tokens(text, range),
            None => range,
        }
    }

    /// Returns a match that is not a part of a token, with all of the tokens that it has a part of.
    pub(super) fn without_tokens(&self, text: &str, found: PiiMatch) -> Option<PiiMatch> {
        if self.token_around(text, &found).is_some() {
            return None;
        }
        let range = self.with_whole_tokens(text, found.range);
        Some(PiiMatch { range, ..found })
    }

    /// Returns the finding of a match. Its text is the kind until it is settled: nothing is kept before.
    pub(super) fn finding(&self, kind: &str, range: Range<usize>) -> Finding {
        match self.replacement.strategy() {
            PiiStrategy::Block => {
                let reason = self.replacement.detected(kind, 1).to_string();
                Finding::Block { range, reason }
            }
            _ => Finding::Replace { range, text: kind.to_owned() },
        }
    }
}

impl Find for Search {
    fn find(&self, text: &str, from: usize) -> Option<Finding> {
        let Ok(found) = self.next(text, from) else {
            let end = text.ceil_char_boundary(from + 1);
            let reason = "the detector of personal data panicked".to_owned();
            return (from < text.len()).then_some(Finding::Block { range: from..end, reason });
        };
        let PiiMatch { kind, range, .. } = found?;
        Some(self.finding(&kind, range))
    }

    fn settled(&self, text: &str, from: usize) -> usize {
        let settled = catch_unwind(AssertUnwindSafe(|| self.detector.settled(text, from)));
        // `find` blocks what a detector that panics cannot search.
        let settled = settled.unwrap_or(text.len());
        match &self.vault {
            Some(_) => settled.min(open_token(text).unwrap_or(settled)),
            None => settled,
        }
    }

    fn settle(&self, found: &str, finding: Finding) -> Finding {
        let Finding::Replace { range, text: kind } = finding else { return finding };
        let replaced = match &self.vault {
            Some(vault) => vault.keep(&kind, found).map_err(|error| error.to_string()),
            None => {
                let blocked = || self.replacement.detected(&kind, 1).to_string();
                self.replacement.replace(&kind, found).ok_or_else(blocked)
            }
        };
        match replaced {
            Ok(text) => Finding::Replace { range, text },
            Err(reason) => Finding::Block { range, reason },
        }
    }

    fn used(&self, used: &Used<'_>) {
        let Some(register) = &self.register else { return };
        match used.finding {
            Finding::Replace { text: kind, .. } => register.count(kind, used),
            Finding::Block { reason, .. } => {
                register.count(PiiDetected::kind_in(reason).unwrap_or("unknown"), used);
            }
        }
    }
}

/// Finds the data that a tool received, anywhere in what it gives back, and what else is searched for.
pub(super) struct Echo {
    data: Regex,
    longest: usize,
    tokens: HashMap<String, String>,
    search: Option<Search>,
}

impl Echo {
    pub(super) fn new(
        mut data: Vec<(String, String)>,
        search: Option<Search>,
    ) -> Result<Self, Error> {
        data.retain(|(value, _)| value.chars().count() >= SHORTEST);
        data.sort_by_key(|(value, _)| Reverse(value.len()));
        let longest = data.first().map_or(0, |(value, _)| value.len());
        let escaped: Vec<_> = data.iter().map(|(value, _)| regex::escape(value)).collect();
        // An empty class matches nothing.
        let none = vec![r"[^\s\S]".to_owned()];
        let escaped = if escaped.is_empty() { none } else { escaped };
        let data: HashMap<_, _> = data.into_iter().collect();
        Ok(Self { data: Regex::new(&escaped.join("|"))?, longest, tokens: data, search })
    }

    /// Returns what finds the data.
    pub(super) fn data(&self) -> Regex {
        self.data.clone()
    }
}

impl Find for Echo {
    fn find(&self, text: &str, from: usize) -> Option<Finding> {
        let found = self.search.as_ref().and_then(|search| search.find(text, from));
        // No further than what was found, so that the time is linear in the text.
        let until = found.as_ref().map_or(text.len(), |found| found.range().end + self.longest);
        let until = text.ceil_char_boundary(until.min(text.len()));
        let echoed = self.data.find_at(&text[..until], from).and_then(|found| {
            let text = self.tokens.get(found.as_str())?.clone();
            Some(Finding::Replace { range: found.range(), text })
        });
        let first = |finding: &Finding| (finding.range().start, Reverse(finding.range().len()));
        found.into_iter().chain(echoed).min_by_key(first)
    }

    fn settled(&self, _: &str, from: usize) -> usize {
        from
    }

    fn settle(&self, found: &str, finding: Finding) -> Finding {
        match (self.tokens.get(found), &self.search, finding) {
            (Some(token), _, Finding::Replace { range, .. }) => {
                Finding::Replace { range, text: token.clone() }
            }
            (_, Some(search), finding) => search.settle(found, finding),
            (_, None, finding) => finding,
        }
    }

    fn used(&self, used: &Used<'_>) {
        let is_token = |text: &String| self.tokens.values().any(|token| token == text);
        match (&self.search, used.finding) {
            // The vault has it since it came in.
            (_, Finding::Replace { text, .. }) if is_token(text) => {}
            (Some(search), _) => search.used(used),
            (None, _) => {}
        }
    }
}
