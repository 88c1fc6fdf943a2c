//! What a pre hook may answer besides changing the arguments.

/// How a call goes on after a pre hook.
///
/// `Return` ends the pre phase: no further pre hook and no body runs, the value becomes the
/// output, and the post hooks see it like any other output.
///
/// ```
/// use hooks_core::{Flow, Hookable, Hooks, hookable};
///
/// #[derive(Hookable)]
/// struct Oracle {
///     hooks: Hooks,
/// }
///
/// #[hookable]
/// impl Oracle {
///     fn reply(&self, question: &str) -> String {
///         format!("no idea about {question}")
///     }
/// }
///
/// let oracle = Oracle { hooks: Hooks::new() };
/// oracle.register_instance_hook(
///     Oracle::PRE_REPLY,
///     "known",
///     |_: &Oracle, args: &OracleReplyArgs| match args.question.as_str() {
///         "6 * 7" => Flow::Return("42".to_owned()),
///         _ => Flow::Continue,
///     },
/// );
/// assert_eq!(oracle.reply("6 * 7"), "42");
/// assert_eq!(oracle.reply("love"), "no idea about love");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flow<T = ()> {
    /// Go on with the next hook, then the body.
    #[default]
    Continue,
    /// Skip the rest of the pre phase and the body; this is the output.
    Return(T),
}
