//! A rewriter of texts.

use std::fmt;
use std::sync::Arc;

use crate::model::rewrite::answers::Answers;
use crate::model::rewrite::async_find::AsyncFind;
use crate::model::rewrite::block::{Block, found};
use crate::model::rewrite::find::{Find, Finding, Within};
use crate::model::rewrite::searched::{CallTexts, KeepDigests, Searched};
use crate::model::rewrite::used::{At, Finder, TextPlace};

/// Replaces or blocks what a [`Find`] finds: in a text, and in the answer of a model while it streams.
///
/// [`Rewrite`](crate::hook::Rewrite) is a rewriter as a hook;
/// [`ModelAnswer::rewrite`](crate::model::ModelAnswer::rewrite) rewrites an answer. Several rewriters
/// of one answer search the same text, and text is held back once, for the longest of them. Findings
/// that overlap are replaced together, by the replacement of the longest one, of equal ones that of
/// the outer hook; if one of them blocks, they block. A [`Find`] that panics blocks.
///
/// ```
/// use hooks_agent::model::{Finding, Rewriter};
///
/// let mask = Rewriter::within(6, |text, from| {
///     let start = from + text[from..].find("secret")?;
///     Some(Finding::Replace { range: start..start + 6, text: "***".to_owned() })
/// });
/// assert_eq!(mask.text("The secret word."), Ok("The *** word.".to_owned()));
/// ```
#[derive(Clone)]
pub struct Rewriter {
    pub(super) find: Arc<dyn Find>,
    /// What was answered for the texts that it was asked about, of a rewriter that asks.
    pub(super) answers: Option<Arc<Answers>>,
    pub(super) rewrites_thinking: bool,
    pub(super) rewrites_text: bool,
    pub(super) rewrites_arguments: bool,
    pub(crate) id: Option<Arc<str>>,
    pub(super) at: At,
    /// The texts that it has decided on.
    pub(super) searched: Option<Searched>,
}

impl Rewriter {
    /// Creates a rewriter.
    #[must_use]
    pub fn new(find: impl Find) -> Self {
        Self {
            find: Arc::new(find),
            answers: None,
            rewrites_text: true,
            rewrites_thinking: true,
            rewrites_arguments: false,
            id: None,
            at: At::default(),
            searched: None,
        }
    }

    /// Creates a rewriter that holds back `window` characters: a finding depends only on the found text
    /// itself and on at most `window` characters after its start.
    ///
    /// `find` returns the first finding that starts at the given position of the text or later.
    #[must_use]
    pub fn within(
        window: usize,
        find: impl Fn(&str, usize) -> Option<Finding> + Send + Sync + 'static,
    ) -> Self {
        Self::new(Within { window, find })
    }

    /// Creates a rewriter that asks: see [`AsyncFind`] and [`asked`](Rewriter::asked).
    #[must_use]
    pub fn asking(find: impl AsyncFind) -> Self {
        Self::within(0, |_, _| None).and_asking(find)
    }

    /// Asks for findings besides those that it finds itself. Findings that overlap are replaced together.
    #[must_use]
    pub fn and_asking(mut self, find: impl AsyncFind) -> Self {
        self.answers = Some(Arc::new(Answers::none(Arc::new(find))));
        self
    }

    /// Asks the same, in the same place.
    #[must_use]
    pub fn asking_like(mut self, other: &Self) -> Self {
        self.at = other.at.clone();
        self.answers = other.answers.as_ref().map(|it| Arc::new(Answers::none(it.by.clone())));
        self
    }

    /// Returns whether it asks.
    #[must_use]
    pub fn asks(&self) -> bool {
        self.answers.is_some()
    }

    /// Asks about the texts that `walk` rewrites, and returns a rewriter that rewrites these; it blocks any
    /// other text. `walk` runs once or several times, on copies: it may be given anything as rewritten. It
    /// returns at once if the rewriter does not [ask](Rewriter::asks).
    ///
    /// ```
    /// use hooks_agent::model::{AsyncFind, FindFuture, Finding, Rewriter};
    ///
    /// struct Names;
    ///
    /// impl AsyncFind for Names {
    ///     fn find_in<'a>(&'a self, texts: &'a [&'a str]) -> FindFuture<'a> {
    ///         let find = |text: &&str| {
    ///             let found = text.find("Ada").map(|at| at..at + 3);
    ///             found.map(|range| Finding::Replace { range, text: "***".to_owned() }).into_iter().collect()
    ///         };
    ///         let found = texts.iter().map(find).collect();
    ///         Box::pin(async move { found })
    ///     }
    /// }
    ///
    /// # futures::executor::block_on(async {
    /// let rewriter = Rewriter::asking(Names);
    /// assert!(rewriter.text("Ada is here").is_err());
    /// let rewriter = rewriter.asked(|rewriter| drop(rewriter.text("Ada is here"))).await;
    /// assert_eq!(rewriter.text("Ada is here"), Ok("*** is here".to_owned()));
    /// # });
    /// ```
    pub async fn asked(&self, walk: impl Fn(&Self)) -> Self {
        let Some(answers) = &self.answers else { return self.clone() };
        let mut answers = answers.clone();
        // What is rewritten may be a part of a text that is rewritten after it.
        for _ in 0..MOST_ASKED {
            let noting = Arc::new(answers.noting());
            walk(&self.noting(noting.clone()));
            match noting.ask().await {
                Some(asked) => answers = Arc::new(asked),
                None => break,
            }
        }
        Self { answers: Some(answers), ..self.clone() }
    }

    /// Does not ask: about a text of which all parts were asked about.
    pub(crate) fn without_asking(&self) -> Self {
        Self { answers: None, ..self.clone() }
    }

    /// Counts nothing: what it finds is counted elsewhere.
    pub(crate) fn quietly(&self) -> Self {
        let at = At { is_counted: false, ..self.at.clone() };
        Self { at, ..self.clone() }
    }

    /// A rewriter that notes the texts that it is to ask about.
    fn noting(&self, answers: Arc<Answers>) -> Self {
        let searched = self.searched.clone().map(Searched::reading);
        let at = At { is_trial: true, is_counted: false, ..self.at.clone() };
        Self { answers: Some(answers), searched, at, ..self.clone() }
    }

    /// Returns who searches.
    pub(super) fn finder(&self) -> Finder {
        Finder { find: self.find.clone(), at: self.at.clone() }
    }

    /// Rewrites texts at this place.
    pub(crate) fn at(&self, place: TextPlace, tool: Option<&str>) -> Self {
        let at = At { place, tool: tool.map(Into::into), ..self.at.clone() };
        Self { at, ..self.clone() }
    }

    /// Rewrites texts of this agent.
    pub(crate) fn of_agent(mut self, agent: Arc<str>) -> Self {
        self.at.agent = agent;
        self
    }

    /// Leaves the thoughts of the model unchanged.
    #[must_use]
    pub fn text_only(mut self) -> Self {
        self.rewrites_thinking = false;
        self
    }

    /// Rewrites the arguments of tool calls, too: each string, key and number by itself.
    #[must_use]
    pub fn tool_arguments(mut self) -> Self {
        self.rewrites_arguments = true;
        self
    }

    /// Leaves the texts and thoughts of the model unchanged, for a rewriter of
    /// [arguments](Rewriter::tool_arguments).
    #[must_use]
    pub fn arguments_only(mut self) -> Self {
        self.rewrites_text = false;
        self.rewrites_thinking = false;
        self.tool_arguments()
    }

    /// Names what is searched for, so that a [hook](crate::hook::Rewrite) knows what it has rewritten
    /// after a restart, too, in the threads of a [store](crate::react::ReActAgentBuilder::store): it does
    /// not search it again. Rewriters that search for something else need another id.
    ///
    /// Without an id, what was rewritten in another process is searched again: one replacement may make
    /// boundaries of words that show another one.
    #[must_use]
    pub fn known_as(mut self, id: impl Into<Arc<str>>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Leaves texts unchanged that the rewriter of this id has decided on.
    pub(crate) fn remembering(
        mut self,
        id: Arc<str>,
        call: Arc<CallTexts>,
        kept: Arc<dyn KeepDigests>,
    ) -> Self {
        let find = (!self.asks()).then(|| self.find.clone());
        self.searched = Some(Searched::new(id, find, call, kept));
        self
    }

    /// Notes its decisions as those of another rewriter, which finds nothing that it does not find. A text
    /// on which that one has decided is searched if it has `more` to find.
    #[must_use]
    pub fn deciding_for(
        mut self,
        other: &Self,
        more: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.searched = other.searched.clone().map(|searched| searched.unless(more));
        self
    }

    /// Does not note the texts in which it finds nothing. One that asks does: it asks once.
    pub(crate) fn noting_changes_only(mut self) -> Self {
        if !self.asks() {
            self.searched = self.searched.map(Searched::changes_only);
        }
        self
    }

    /// Returns whether thoughts of the model are rewritten.
    #[must_use]
    pub fn rewrites_thinking(&self) -> bool {
        self.rewrites_thinking
    }

    /// Returns whether there is something to rewrite in a complete text.
    #[must_use]
    pub fn has_findings(&self, text: &str) -> bool {
        if text.is_empty() || self.asks() && self.has_decided(text) {
            return false;
        }
        let is_unchanged = !self.finds(text, 0);
        let Some(searched) = &self.searched else { return !is_unchanged };
        if is_unchanged {
            searched.unchanged(text);
        }
        !is_unchanged && !searched.has(text)
    }

    /// Notes that a text is its own, such as why another one was blocked: it does not ask about it.
    pub(crate) fn wrote(&self, text: &str) {
        if let Some(searched) = self.searched.as_ref().filter(|_| self.asks()) {
            searched.wrote(text, text);
        }
    }

    /// Returns whether it has decided on the text before.
    fn has_decided(&self, text: &str) -> bool {
        self.searched.as_ref().is_some_and(|searched| searched.has(text))
    }

    /// Returns whether something is found at a position or later.
    pub(super) fn finds(&self, text: &str, from: usize) -> bool {
        let finds = |find: &dyn Find| !matches!(found(find, text, from), Ok(None));
        // Both: the one who asks notes the text.
        let asked = self.answers.as_ref().is_some_and(|answers| finds(&answers.of_text(text)));
        finds(&*self.find) || asked
    }

    /// Rewrites the end of a text, which begins at a position. Returns it, or the reason if it is blocked.
    pub(super) fn rest(&self, text: &str, from: usize) -> Result<String, String> {
        let (mut block, mut rewritten) = (Block::of_rest(text, from), String::new());
        let finder = self.finder();
        let blocked = match &self.answers {
            None => block.release(std::slice::from_ref(&finder), text.len(), &mut rewritten),
            Some(answers) => {
                let asked = Finder { find: Arc::new(answers.of_text(text)), at: self.at.clone() };
                block.release(&[finder, asked], text.len(), &mut rewritten)
            }
        };
        blocked.map_or(Ok(rewritten), Err)
    }

    /// Returns what was answered to be in a text.
    pub(crate) fn answered<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let answers = self.answers.as_ref().map(|answers| answers.of_text(text).findings);
        answers
            .iter()
            .flat_map(|findings| &**findings)
            .map(|it| &text[it.range().clone()])
            .collect()
    }

    /// Rewrites a complete text.
    ///
    /// # Errors
    /// The reason, if a finding blocks the text.
    pub fn text(&self, text: &str) -> Result<String, String> {
        if !self.has_findings(text) {
            return Ok(text.to_owned());
        }
        let rewritten = self.rest(text, 0)?;
        if let Some(searched) = &self.searched {
            searched.wrote(text, &rewritten);
        }
        Ok(rewritten)
    }
}

/// How often it is asked for what one value needs.
const MOST_ASKED: usize = 4;

impl fmt::Debug for Rewriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rewriter")
            .field("rewrites_thinking", &self.rewrites_thinking)
            .field("rewrites_arguments", &self.rewrites_arguments)
            .finish_non_exhaustive()
    }
}
