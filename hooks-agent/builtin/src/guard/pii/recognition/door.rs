//! A recognizer with its limits: time, size of a request, cache, and what follows a failure.

use std::collections::BTreeSet;
use std::fmt;
use std::num::NonZeroUsize;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;

use crate::guard::pii::recognition::cache::{Answer, Cache};
use hooks_agent_core::model::{Recognized, Recognizer};

/// A [`Recognizer`], how it is asked, and what of its answers is personal data.
///
/// | setting | default | |
/// |---|---|---|
/// | [`kinds`](Self::kinds) | all | the kinds that are replaced |
/// | [`min_score`](Self::min_score) | 0 | how sure the recognizer must be |
/// | [`timeout`](Self::timeout) | 5 seconds | the longest time of a request |
/// | [`batch`](Self::batch) | 32 texts, 100,000 bytes | the most that is asked at once; one text may be longer |
/// | [`cache`](Self::cache) | 4,096 texts | the answers that are kept, by digests of their texts |
/// | [`fail_open`](Self::fail_open) | no | a text that nobody answers for is left as it is, in place of being blocked |
///
/// ```
/// # use hooks_agent::model::{RecognizeFuture, Recognized, Recognizer};
/// # struct Ada;
/// # impl Recognizer for Ada {
/// #     fn name(&self) -> &str {
/// #         "ada"
/// #     }
/// #     fn recognize<'a>(&'a self, texts: &'a [&'a str]) -> RecognizeFuture<'a> {
/// #         let find = |text: &&str| text.match_indices("Ada").map(|(at, _)| Recognized::new("person", at..at + 3, 0.9)).collect();
/// #         let found = texts.iter().map(find).collect();
/// #         Box::pin(async move { Ok(found) })
/// #     }
/// # }
/// use std::time::Duration;
///
/// use hooks_agent::builtin::guard::PiiDetection;
/// use hooks_agent::builtin::guard::pii::PiiRecognition;
/// use hooks_agent::prelude::*;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
/// # runtime.block_on(async {
/// // `Ada` is a recognizer that knows one name.
/// let names = PiiRecognition::of(Ada).min_score(0.5).timeout(Duration::from_secs(2));
/// let model = ScriptedModel::new("echo", |request| request.last_text());
/// let hook = PiiDetection::all().recognizer(names);
/// let agent = ReActAgent::builder("assistant").model(model).hook(hook).build()?;
/// let reply = agent.call("Write to Ada, ada@example.com").await?;
/// assert_eq!(reply.text(), "Write to [REDACTED_PERSON], [REDACTED_EMAIL]");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use]
pub struct PiiRecognition {
    recognizer: Arc<dyn Recognizer>,
    /// The kinds that are replaced; all, if there is no list.
    kinds: Option<BTreeSet<String>>,
    min_score: f32,
    timeout: Duration,
    most_texts: usize,
    most_bytes: usize,
    cache: Option<Arc<Cache>>,
    is_open: bool,
}

impl PiiRecognition {
    /// Asks this recognizer.
    pub fn of(recognizer: impl Recognizer) -> Self {
        Self {
            recognizer: Arc::new(recognizer),
            kinds: None,
            min_score: 0.0,
            timeout: Duration::from_secs(5),
            most_texts: 32,
            most_bytes: 100_000,
            cache: NonZeroUsize::new(4096).map(|capacity| Arc::new(Cache::new(capacity))),
            is_open: false,
        }
    }

    /// Sets the kinds that are replaced, such as `person`, in small or capital letters.
    pub fn kinds<K: AsRef<str>>(mut self, kinds: impl IntoIterator<Item = K>) -> Self {
        self.kinds = Some(kinds.into_iter().map(|kind| kind.as_ref().to_lowercase()).collect());
        self
    }

    /// Sets how sure the recognizer must be, from 0 to 1. Another number counts as 0: all is replaced.
    pub fn min_score(mut self, score: f32) -> Self {
        self.min_score = if (0.0..=1.0).contains(&score) { score } else { 0.0 };
        self
    }

    /// Sets the longest time of a request.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how many texts and bytes a request has at most. A text that is longer is asked about alone.
    pub fn batch(mut self, texts: usize, bytes: usize) -> Self {
        (self.most_texts, self.most_bytes) = (texts.max(1), bytes);
        self
    }

    /// Sets of how many texts the answers are kept; 0 keeps none.
    pub fn cache(mut self, texts: usize) -> Self {
        self.cache = NonZeroUsize::new(texts).map(|capacity| Arc::new(Cache::new(capacity)));
        self
    }

    /// Leaves a text as it is if the recognizer fails, is too late or panics, with a warning in the log; a
    /// [register](crate::guard::pii::PiiRegister) does not count it. What a scanner finds is replaced all the same.
    /// Without this, the text is blocked.
    pub fn fail_open(mut self) -> Self {
        self.is_open = true;
        self
    }

    /// Returns what names the data that is found: one that fails open decides for no other.
    pub(in crate::guard) fn id(&self) -> String {
        let Self { kinds, min_score, is_open, .. } = self;
        format!("{}/{kinds:?}/{min_score}/{is_open}", self.recognizer.name())
    }

    /// Returns what is in each text, or why that is not known.
    pub(in crate::guard) async fn ask(
        &self,
        texts: &[&str],
    ) -> Vec<Result<Vec<Recognized>, String>> {
        let cached = |text: &&str| self.cache.as_ref().and_then(|cache| cache.get(text));
        let mut answers: Vec<Option<Result<Answer, String>>> =
            texts.iter().map(|text| cached(text).map(Ok)).collect();
        let mut open: Vec<usize> = (0..texts.len()).filter(|&at| answers[at].is_none()).collect();
        while !open.is_empty() {
            let rest = open.split_off(self.batch_of(texts, &open));
            let batch: Vec<_> = open.iter().map(|&at| texts[at]).collect();
            match self.request(&batch).await {
                Ok(found) => {
                    for (&at, found) in open.iter().zip(found) {
                        let answer = Answer::from(found);
                        if let Some(cache) = &self.cache {
                            cache.keep(texts[at], answer.clone());
                        }
                        answers[at] = Some(Ok(answer));
                    }
                }
                Err(reason) if self.is_open => {
                    tracing::warn!(target: "hooks_agent::builtin::guard", reason, texts = batch.len(), "texts pass without a recognizer of personal data");
                    for at in open {
                        answers[at] = Some(Ok(Answer::from([])));
                    }
                }
                Err(reason) => {
                    let reason =
                        format!("the text could not be searched for personal data: {reason}");
                    for at in open {
                        answers[at] = Some(Err(reason.clone()));
                    }
                }
            }
            open = rest;
        }
        let is_asked = |found: &&Recognized| {
            let is_of_kind = |kinds: &BTreeSet<String>| kinds.contains(&found.kind.to_lowercase());
            // A score that is no number is not below it.
            (found.score.is_nan() || found.score >= self.min_score)
                && self.kinds.as_ref().is_none_or(is_of_kind)
        };
        let chosen = |answer: Answer| answer.iter().filter(is_asked).cloned().collect();
        let unknown = || Err("the text was not asked about".to_owned());
        answers.into_iter().map(|answer| answer.map_or_else(unknown, |it| it.map(chosen))).collect()
    }

    /// Returns how many of the next texts are asked about at once.
    fn batch_of(&self, texts: &[&str], open: &[usize]) -> usize {
        let mut bytes = 0;
        let fits = |at: &&usize| {
            bytes += texts[**at].len();
            bytes <= self.most_bytes
        };
        open.iter().take(self.most_texts).take_while(fits).count().max(1)
    }

    async fn request(&self, texts: &[&str]) -> Result<Vec<Vec<Recognized>>, String> {
        if tokio::runtime::Handle::try_current().is_err() {
            return Err("a recognizer needs a runtime of Tokio, for its time limit".to_owned());
        }
        let asking = AssertUnwindSafe(async {
            tokio::time::timeout(self.timeout, self.recognizer.recognize(texts)).await
        });
        let name = self.recognizer.name();
        match asking.catch_unwind().await {
            Ok(Ok(Ok(found))) if found.len() == texts.len() => {
                let is_inside = |it: &Recognized, text: &str| {
                    text.get(it.range.clone()).is_some_and(|it| !it.is_empty())
                };
                let mut found_in = found.iter().zip(texts);
                if found_in.all(|(found, text)| found.iter().all(|it| is_inside(it, text))) {
                    return Ok(found);
                }
                Err(format!(
                    "`{name}` found something outside of a text, or a part of a character: places count bytes"
                ))
            }
            Ok(Ok(Ok(found))) => {
                Err(format!("`{name}` answered for {} of {} texts", found.len(), texts.len()))
            }
            Ok(Ok(Err(error))) => Err(format!("`{name}` failed: {error}")),
            Ok(Err(_)) => Err(format!("`{name}` did not answer within {:?}", self.timeout)),
            Err(_) => Err(format!("`{name}` panicked")),
        }
    }
}

impl<R: Recognizer> From<R> for PiiRecognition {
    fn from(recognizer: R) -> Self {
        Self::of(recognizer)
    }
}

impl fmt::Debug for PiiRecognition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PiiRecognition")
            .field("recognizer", &self.recognizer.name())
            .field("kinds", &self.kinds)
            .field("min_score", &self.min_score)
            .field("timeout", &self.timeout)
            .field("fail_open", &self.is_open)
            .finish_non_exhaustive()
    }
}
