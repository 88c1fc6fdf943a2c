//! Asks a recognizer for personal data.

use crate::guard::pii::{PiiKind, PiiMatch, PiiRecognition, pii_clusters};
use crate::guard::pii_detection::search::Search;
use hooks_agent_core::model::{AsyncFind, Find, FindFuture, Finding, Recognized, Used};

/// Asks a recognizer, and replaces what it recognizes.
#[derive(Clone)]
pub(super) struct Asked {
    pub(super) recognition: PiiRecognition,
    pub(super) search: Search,
}

impl AsyncFind for Asked {
    fn find_in<'a>(&'a self, texts: &'a [&'a str]) -> FindFuture<'a> {
        Box::pin(async move {
            let answers = self.recognition.ask(texts).await;
            let findings = answers.into_iter().zip(texts).map(|(answer, text)| match answer {
                Ok(found) => self.findings(text, found),
                Err(reason) => vec![Finding::Block { range: 0..text.len(), reason }],
            });
            findings.collect()
        })
    }

    fn settle(&self, found: &str, finding: Finding) -> Finding {
        self.search.settle(found, finding)
    }

    fn used(&self, used: &Used<'_>) {
        self.search.used(used);
    }
}

impl Asked {
    fn findings(&self, text: &str, found: Vec<Recognized>) -> Vec<Finding> {
        let fitted = found.into_iter().filter_map(|Recognized { kind, range, .. }| {
            let found = PiiMatch::new(kind, range).fitted(text)?;
            let value = &text[found.range.clone()];
            let stays =
                is_redaction(value, &found.kind) || self.search.allowed.allows(&found.kind, value);
            if stays { None } else { self.search.without_tokens(text, found) }
        });
        let found: Vec<PiiMatch> = fitted.collect();
        let ranges: Vec<_> = found.iter().map(|found| (0, found.range.clone())).collect();
        let clusters = pii_clusters(&ranges).into_iter();
        clusters.map(|it| self.search.finding(&found[it.longest].kind, it.range)).collect()
    }
}

/// Returns whether all of a text is a replacement of [`PiiStrategy::Redact`](crate::guard::pii::PiiStrategy) of
/// a known kind, which a recognizer takes for the name of someone.
fn is_redaction(text: &str, kind: &str) -> bool {
    let text = text.strip_prefix('[').unwrap_or(text);
    let named = text.strip_suffix(']').unwrap_or(text).strip_prefix("REDACTED_");
    named.is_some_and(|named| {
        let is_named = |kind: &str| kind.to_uppercase() == named;
        let known = PiiKind::ALL.iter().map(|kind| kind.name());
        known.chain(["person", "location", kind]).any(is_named)
    })
}
