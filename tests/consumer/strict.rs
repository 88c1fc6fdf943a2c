//! A documented type and trait, as a careful crate would publish them.

use std::borrow::Cow;
use std::sync::Arc;

use agent::tool;
use agent::tool::{Json, ToolContext, Tools};
use hooks::{class_hook, hookable, HookError, HookResult, Hookable, Hooks};

/// What goes wrong.
#[derive(Debug)]
pub enum Failure {
    /// A hook failed.
    Hook(HookError),
}

impl From<HookError> for Failure {
    fn from(error: HookError) -> Self {
        Self::Hook(error)
    }
}

/// Has hooks.
#[derive(Debug, Default, Hookable)]
#[hooks(crate = hooks)]
pub struct Strict {
    hooks: Hooks,
}

#[hookable(crate = hooks, json)]
impl Strict {
    /// Plans.
    ///
    /// # Errors
    /// If a hook fails.
    #[hook]
    pub async fn plan(&self, goal: &str, steps: Option<&[u32]>) -> Result<Vec<u32>, Failure> {
        Ok(steps.map_or_else(|| vec![goal.len().try_into().unwrap_or(u32::MAX)], <[u32]>::to_vec))
    }

    /// Shows a text.
    pub fn print(&self, text: Cow<'_, str>, _width: u32) -> String {
        text.into_owned()
    }
}

/// What speaks.
#[hookable(crate = hooks)]
pub trait Speaker: Hookable {
    /// Answers.
    ///
    /// # Errors
    /// If a hook fails.
    async fn reply(&self, msg: &str, _more: Option<&str>) -> Result<String, Failure>;
}

#[hookable(crate = hooks)]
impl Speaker for Strict {
    async fn reply(&self, msg: &str, more: Option<&str>) -> Result<String, Failure> {
        let (first, _) = (msg, more);
        Ok(first.to_owned())
    }
}

// Found under the name that the manifest has for it.
#[class_hook(Strict::POST_PRINT, name = "sign")]
fn sign(_: &Strict, _: &StrictPrintArgs, output: &mut String) {
    output.push('.');
}

#[class_hook(<dyn Speaker>::POST_REPLY, crate = hooks)]
async fn shout(_: &dyn Speaker, _: &SpeakerReplyArgs, reply: &mut String) -> HookResult {
    reply.make_ascii_uppercase();
    Ok(())
}

/// Counts the letters of a text.
#[tool(crate = agent, idempotent)]
#[must_use]
pub fn count_letters(
    /// The text.
    text: &str,
    in_words: bool,
    in_lines: bool,
    in_pages: bool,
    in_books: Option<bool>,
) -> Json<usize> {
    let is_everywhere = in_words && in_lines && in_pages && in_books == Some(true);
    Json(if is_everywhere { text.len() } else { 0 })
}

/// Has tools.
#[derive(Debug)]
pub struct Letters {
    least: usize,
}

#[tool(crate = agent)]
impl Letters {
    /// Counts the letters of a text.
    #[tool(blocking)]
    fn count(&self, text_as_is: &str, text_in_words: &str, text_in_lines: &str) -> Json<usize> {
        Json(self.least + text_as_is.len() + text_in_words.len() + text_in_lines.len())
    }

    /// Does nothing.
    #[tool(ask)]
    async fn wait(&self, cx: ToolContext) -> String {
        std::future::ready(format!("{}{}", self.least, cx.tool_use().id)).await
    }
}

struct Hidden {
    text: String,
}

#[tool(crate = agent)]
impl Hidden {
    /// Does nothing.
    #[tool]
    fn rest(&self) -> &str {
        &self.text
    }
}

/// All tools.
#[must_use]
pub fn tools() -> Tools {
    let letters = Arc::new(Letters { least: 1 });
    let hidden = Arc::new(Hidden { text: "rested".to_owned() });
    [letters.tools(), hidden.tools()].concat()
}

#[cfg(test)]
mod tests {
    use agent::tool::Tool;
    use futures::executor::block_on;
    use hooks::hook;

    use super::*;

    #[test]
    fn tools_work_under_another_name_in_another_edition() {
        let tools = tools();
        let names: Vec<_> = tools.iter().map(|tool| tool.name()).collect();
        assert_eq!(names, ["count", "wait", "rest"]);
        assert_eq!(CountLetters.name(), "count_letters");
    }

    #[test]
    fn hooks_work_under_another_name_in_another_edition() {
        let strict = Strict::default();
        strict.register_instance_hook(
            Strict::PRE_PLAN,
            "none",
            hook!(Strict::PRE_PLAN, async |_, args| {
                args.steps = None;
                Ok(())
            }),
        );
        assert_eq!(block_on(strict.plan("goal", Some(&[1, 2]))).unwrap(), [4]);
        assert_eq!(strict.print("text".into(), 80), "text.");
        assert_eq!(block_on(strict.reply("hi", None)).unwrap(), "HI");
        strict.register_instance_hook(
            <Strict>::PRE_REPLY,
            "answer",
            |_: &Strict, args: &SpeakerReplyArgs| {
                ::core::ops::ControlFlow::Break(format!("{:?}", args.more))
            },
        );
        assert_eq!(block_on(strict.reply("hi", Some("more"))).unwrap(), "SOME(\"MORE\")");
    }
}
