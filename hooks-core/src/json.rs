//! Hooks over JSON: rules from configuration, recorders, plug-ins, for any agent.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::after::{AfterRun, ErasedAfter};
use crate::chain::HookTypeOf;
use crate::entry::Entry;
use crate::error::{BoxError, HookResult};
use crate::hook_type::{HookType, Phase};
use crate::options::Hook;
use crate::point::{HookPoint, Output, ReturnKind};
use crate::pre::{ErasedPre, PreRun, PreStep};
use crate::registry::{Registry, Source};
use crate::slot::{Post, Pre};

/// A hook over JSON.
///
/// | at | form |
/// |---|---|
/// | pre | `Fn(&mut Value) -> R`: the arguments, an object with a field per parameter |
/// | post | `Fn(&Value, &mut Value) -> R`: the arguments, and the output |
///
/// `R` is `()` or [`HookResult`]. If a hook changes nothing, the arguments or the output stay the very values
/// that they were. If it changes anything, all of them are made anew from the JSON: what that does not say,
/// such as a field that `serde` skips, is lost. What cannot be said in JSON, or is not what the method takes
/// or returns, is a failure of the hook. Where the method cannot fail, such a failure is reported through
/// `tracing` and the value stays as it was.
#[diagnostic::on_unimplemented(
    message = "this is not a hook over JSON",
    note = "a pre hook is `|args: &mut Value|`, a post hook `|args: &Value, output: &mut Value|`, with the \
            types written out; it returns `()` or `HookResult`"
)]
pub trait JsonHook<Form> {
    #[doc(hidden)]
    fn into_json(self) -> ErasedJson;
}

/// What a hook over JSON may return: `()` or [`HookResult`].
pub trait JsonAnswer {
    #[doc(hidden)]
    fn into_result(self) -> HookResult;
}

impl JsonAnswer for () {
    fn into_result(self) -> HookResult {
        Ok(())
    }
}

impl JsonAnswer for HookResult {
    fn into_result(self) -> HookResult {
        self
    }
}

/// A hook over JSON in its erased form.
#[doc(hidden)]
pub enum ErasedJson {
    Args(Arc<ArgsHook>),
    Output(Arc<OutputHook>),
}

type ArgsHook = dyn Fn(&mut Value) -> HookResult + Send + Sync;
type OutputHook = dyn Fn(&Value, &mut Value) -> HookResult + Send + Sync;

impl std::fmt::Debug for ErasedJson {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ErasedJson").finish_non_exhaustive()
    }
}

impl<F, R> JsonHook<fn(&mut Value) -> R> for F
where
    F: Fn(&mut Value) -> R + Send + Sync + 'static,
    R: JsonAnswer,
{
    fn into_json(self) -> ErasedJson {
        ErasedJson::Args(Arc::new(move |args: &mut Value| self(args).into_result()))
    }
}

impl<F, R> JsonHook<fn(&Value, &mut Value) -> R> for F
where
    F: Fn(&Value, &mut Value) -> R + Send + Sync + 'static,
    R: JsonAnswer,
{
    fn into_json(self) -> ErasedJson {
        let hook = move |args: &Value, output: &mut Value| self(args, output).into_result();
        ErasedJson::Output(Arc::new(hook))
    }
}

/// Registers a hook over JSON at a phase of one hook point; or says why it cannot.
pub(crate) type RegisterJson =
    fn(&Registry, Phase, Hook, Source, ErasedJson) -> Result<(), &'static str>;

/// Registers a hook over JSON at a phase of the hook point of `A` with these arguments.
pub(crate) fn register<A, Args>(
    registry: &Registry,
    phase: Phase,
    options: Hook,
    source: Source,
    hook: ErasedJson,
) -> Result<(), &'static str>
where
    A: ?Sized + HookPoint<Args>,
    Args: Serialize + DeserializeOwned + Clone + 'static,
    Output<A, Args>: Serialize + DeserializeOwned,
{
    let name: Arc<str> = options.name().into();
    match (phase, hook) {
        (Phase::Pre, ErasedJson::Args(hook)) => {
            let hook = move |_: &A, args: &mut Args| {
                let ran = change(args, |args| hook(args));
                conclude::<A, Args>(ran, &name, phase).map(|()| PreStep::Continue)
            };
            let hook = ErasedPre { run: PreRun::Sync(Arc::new(hook)) };
            let entry = Entry::new(options, source, hook);
            <Pre<A, Args> as HookTypeOf<A>>::edit(registry, |chain| chain.insert(entry));
        }
        (Phase::Post, ErasedJson::Output(hook)) => {
            let hook = move |_: &A, args: &Args, output: &mut Output<A, Args>| {
                let ran = serde_json::to_value(args)
                    .map_err(BoxError::from)
                    .and_then(|args| change(output, |output| hook(&args, output)));
                conclude::<A, Args>(ran, &name, phase).map(|()| None)
            };
            let hook = ErasedAfter { run: AfterRun::Sync(Arc::new(hook)), keep: Args::clone };
            let entry = Entry::new(options, source, hook);
            <Post<A, Args> as HookTypeOf<A>>::edit(registry, |chain| chain.insert(entry));
        }
        (Phase::Pre, ErasedJson::Output(_)) => {
            return Err("there is no output yet, a pre hook takes `|args: &mut Value|`");
        }
        (Phase::Post, ErasedJson::Args(_)) => {
            return Err("a post hook takes `|args: &Value, output: &mut Value|`");
        }
        _ => return Err("hooks over JSON are pre or post hooks"),
    }
    Ok(())
}

/// Changes a value as JSON. What the hook leaves as it is, is not made anew: its JSON may not say all.
fn change<T: Serialize + DeserializeOwned>(
    value: &mut T,
    hook: impl FnOnce(&mut Value) -> HookResult,
) -> HookResult {
    let before = serde_json::to_value(&*value)?;
    let mut json = before.clone();
    hook(&mut json)?;
    if json != before {
        *value = serde_json::from_value(json)?;
    }
    Ok(())
}

/// The failure of a hook; where the method cannot fail it is reported.
fn conclude<A, Args>(
    ran: HookResult,
    hook: &str,
    phase: Phase,
) -> Result<(), <A::Kind as ReturnKind<A::Return>>::Fault>
where
    A: ?Sized + HookPoint<Args>,
{
    ran.map_err(A::Kind::fault).or_else(|fault| {
        fault.map_or_else(
            |reason| {
                let hook_type = HookType::new(phase, A::METHOD);
                let reason = &*reason.to_string();
                tracing::warn!(hook, %hook_type, reason, "a hook failed and is ignored");
                Ok(())
            },
            Err,
        )
    })
}
