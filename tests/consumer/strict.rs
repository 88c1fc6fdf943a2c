//! A documented type and trait, as a careful crate would publish them.

use std::borrow::Cow;

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

#[cfg(test)]
mod tests {
    use futures::executor::block_on;
    use hooks::hook;

    use super::*;

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
