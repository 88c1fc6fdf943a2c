//! The hook that keeps words out of what an agent is given and says.

use std::fmt;

use hooks_agent_core::__forward_hook as forward_hook;

use crate::guard::words::WordList;
use hooks_agent_core::hook::{AgentHook, Rewrite};
use hooks_agent_core::model::{Find, Finding, Rewriter};

/// Finds the words of a list in what an agent is given and says, and masks or blocks them.
///
/// | setting | default | |
/// |---|---|---|
/// | the words | | a [`WordList`]: from values or from a file |
/// | [`block`](SensitiveWords::block) | mask | what happens: each character becomes `*`, or the text is blocked |
/// | [`input`](SensitiveWords::input) | yes | texts of the user |
/// | [`output`](SensitiveWords::output) | yes | texts and thoughts of the model, also while they stream |
/// | [`tool_results`](SensitiveWords::tool_results) | yes | results, errors and progress of tools |
/// | [`tool_arguments`](SensitiveWords::tool_arguments) | yes | arguments of tool calls |
///
/// Which forms of a word are found is on the page of [`WordList`]. Where texts are rewritten, and when,
/// is as for [`Rewrite`](hooks_agent_core::hook::Rewrite): before memory, stream, logs and the next request. It does
/// not protect from what is said in other words, from words with other letters in them, or from what is
/// in images, files and system messages.
///
/// It runs at [`priority::SECURITY`](hooks_agent_core::hook::priority::SECURITY), in nested calls and in agents that
/// are tools of its agent. A text that is blocked fails the call; of a tool's result, the model reads the
/// error. The error does not name the word.
///
/// ```
/// use hooks_agent::builtin::guard::{SensitiveWords, WordList};
/// use hooks_agent::prelude::*;
///
/// # futures::executor::block_on(async {
/// let words = SensitiveWords::new(WordList::new(["bluebird", "机密"])?);
/// let model = ScriptedModel::new("echo", |request| format!("About {}", request.last_text()));
/// let agent = ReActAgent::builder("assistant").model(model).hook(words).build()?;
/// let reply = agent.call("Project Ｂluebird 机密").await?;
/// assert_eq!(reply.text(), "About Project ******** **");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use]
pub struct SensitiveWords {
    search: Search,
    rewrite: Rewrite,
}

#[derive(Clone)]
struct Search {
    words: WordList,
    blocks: bool,
}

impl SensitiveWords {
    /// Masks these words.
    pub fn new(words: WordList) -> Self {
        let search = Search { words, blocks: false };
        let rewrite = Rewrite::from(search.rewriter());
        let rewrite = rewrite.input(true).tool_results(true).tool_arguments(true);
        Self { search, rewrite }
    }

    /// Blocks texts with one of the words instead of masking it.
    pub fn block(mut self) -> Self {
        self.search.blocks = true;
        self.rewrite = self.rewrite.with_rewriter(self.search.rewriter());
        self
    }

    /// Sets whether texts of the user are searched.
    pub fn input(mut self, search: bool) -> Self {
        self.rewrite = self.rewrite.input(search);
        self
    }

    /// Sets whether texts and thoughts of the model are searched.
    pub fn output(mut self, search: bool) -> Self {
        self.rewrite = self.rewrite.output(search);
        self
    }

    /// Sets whether results, errors and progress of tools are searched.
    pub fn tool_results(mut self, search: bool) -> Self {
        self.rewrite = self.rewrite.tool_results(search);
        self
    }

    /// Sets whether arguments of tool calls are searched.
    pub fn tool_arguments(mut self, search: bool) -> Self {
        self.rewrite = self.rewrite.tool_arguments(search);
        self
    }
}

impl Search {
    fn rewriter(&self) -> Rewriter {
        let id = format!("words/{}/{}", self.words.id(), self.blocks);
        Rewriter::new(self.clone()).known_as(id)
    }
}

impl Find for Search {
    fn find(&self, text: &str, from: usize) -> Option<Finding> {
        let range = self.words.find(text, from)?.range;
        Some(if self.blocks {
            Finding::Block {
                range,
                reason: "the text contains a word that is not allowed".to_owned(),
            }
        } else {
            let text = "*".repeat(text[range.clone()].chars().count());
            Finding::Replace { range, text }
        })
    }

    fn settled(&self, text: &str, from: usize) -> usize {
        self.words.settled(text, from)
    }
}

impl AgentHook for SensitiveWords {
    forward_hook! {
        self => AgentHook, &self.rewrite;
        priority events sync_events answers around answers_around inherit always role foreign_guard
        on_event_now around_model_call around_tool_call
    }
}

impl fmt::Debug for SensitiveWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SensitiveWords")
            .field("blocks", &self.search.blocks)
            .field("rewrite", &self.rewrite)
            .finish_non_exhaustive()
    }
}
