//! Hooks over JSON: rules from configuration, recorders, plug-ins, for any agent.

use std::any::TypeId;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::dispatch::point_hooks::{HookTypeOf, remove_spent};
use crate::error::{BoxError, HookResult};
use crate::hook::options::hook_options::HookOptions;
use crate::hook::stage::{Decided, ErasedHook};
use crate::hook_type::{HookType, Phase};
use crate::point::hook_point::{Fault, HookPoint, Output};
use crate::point::hook_slot::{Post, Pre};
use crate::point::return_kind::ReturnKind;
use crate::registry::class::ClassHooks;
use crate::registry::list::Place;
use crate::registry::methods::exact_bases_of;
use crate::registry::registration::Source;
use crate::registry::table::Registry;

/// A hook over JSON.
///
/// | at | form |
/// |---|---|
/// | pre | `Fn(&mut Value) -> R`: the arguments, an object with a field per parameter |
/// | post | `Fn(&Value, &mut Value) -> R`: the arguments, and the output |
///
/// `R` is `()` or [`HookResult`]. If a hook changes nothing, the arguments or the output stay the very values
/// that they were. If it changes anything, all of them are made anew from the JSON: what that does not say,
/// such as a field that `serde` skips, is lost. What cannot be said in JSON, is not what the method takes or
/// returns, or is a field that does not exist, is a failure of the hook. Where the method cannot fail, such a
/// failure is reported through `tracing` and the value stays as it was.
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

/// How a hooked method takes hooks over JSON; the linker collects these.
#[derive(Debug)]
#[doc(hidden)]
pub struct JsonPoint {
    method: &'static str,
    /// The type whose hooks these are: the trait, as `dyn Trait`, for the methods of one.
    agent: fn() -> TypeId,
    class: fn() -> &'static ClassHooks,
    register: RegisterJson,
}

inventory::collect!(JsonPoint);

/// Registers a hook over JSON at a phase of one hook point; or says why it cannot.
type RegisterJson =
    fn(&Registry, Phase, HookOptions, Source, ErasedJson) -> Result<(), &'static str>;

impl JsonPoint {
    /// A method of `A`.
    #[must_use]
    pub const fn new<A, Args>(method: &'static str) -> Self
    where
        A: ?Sized + HookPoint<Args>,
        Args: Serialize + DeserializeOwned + Clone + 'static,
        Output<A, Args>: Serialize + DeserializeOwned,
    {
        Self { method, agent: TypeId::of::<A>, class: A::class, register: register::<A, Args> }
    }

    /// The method of that name of a type, or of a trait of it.
    pub(crate) fn of(agent: TypeId, method: &str) -> Option<&'static Self> {
        let agents: Vec<_> = [agent].into_iter().chain(exact_bases_of(agent)).collect();
        let mut points = inventory::iter::<Self>.into_iter();
        points.find(|point| point.method == method && agents.contains(&(point.agent)()))
    }

    /// Whether the method is of that type itself.
    pub(crate) fn is_of(&self, agent: TypeId) -> bool {
        (self.agent)() == agent
    }

    pub(crate) fn class(&self) -> &'static ClassHooks {
        (self.class)()
    }

    /// Registers a hook, or says why it cannot.
    pub(crate) fn register(
        &self,
        registry: &Registry,
        phase: Phase,
        options: HookOptions,
        source: Source,
        hook: ErasedJson,
    ) -> Result<(), &'static str> {
        (self.register)(registry, phase, options, source, hook)
    }
}

fn register<A, Args>(
    registry: &Registry,
    phase: Phase,
    options: HookOptions,
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
            let hook = move |_: &A, (): &(), args: &mut Args| {
                let ran = change(args, |args| hook(args));
                conclude::<A, Args>(ran, &name, phase)
                    .err()
                    .map(|fault| Box::new(Decided::Fault(fault)))
            };
            let entry = options.answers(false).into_entry(
                source,
                ErasedHook::sync(hook, None),
                remove_spent::<Pre<A, Args>>,
            );
            <Pre<A, Args> as HookTypeOf<A>>::register(registry, entry, Place::ByName);
        }
        (Phase::Post, ErasedJson::Output(hook)) => {
            let hook = move |_: &A, args: &Args, output: &mut Output<A, Args>| {
                let ran = serde_json::to_value(args)
                    .map_err(BoxError::from)
                    .and_then(|args| change(output, |output| hook(&args, output)));
                conclude::<A, Args>(ran, &name, phase)
                    .err()
                    .map(|fault| Box::new(Decided::Fault(fault)))
            };
            let entry = options.into_entry(
                source,
                ErasedHook::sync(hook, Some(Args::clone)),
                remove_spent::<Post<A, Args>>,
            );
            <Post<A, Args> as HookTypeOf<A>>::register(registry, entry, Place::ByName);
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
        let mut ignored = Vec::new();
        let changed = serde_ignored::deserialize(json, |path| ignored.push(steps(&path)))?;
        // What was ignored before is the way that the type is written, not a mistake of the hook.
        match ignored.iter().find(|path| at(&before, path).is_none()) {
            Some(path) => return Err(unknown_field(&before, path).into()),
            None => *value = changed,
        }
    }
    Ok(())
}

/// A path into JSON, as field names and indices.
fn steps(path: &serde_ignored::Path<'_>) -> Vec<String> {
    use serde_ignored::Path;
    match path {
        Path::Root => Vec::new(),
        Path::Seq { parent, index } => [steps(parent), vec![index.to_string()]].concat(),
        Path::Map { parent, key } => [steps(parent), vec![key.clone()]].concat(),
        Path::Some { parent }
        | Path::NewtypeStruct { parent }
        | Path::NewtypeVariant { parent } => steps(parent),
    }
}

fn at<'v>(value: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, step| match value {
        Value::Object(fields) => fields.get(step),
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        _ => None,
    })
}

/// Names the field, and the one that may have been meant.
fn unknown_field(before: &Value, path: &[String]) -> String {
    let (field, parent) = path.split_last().map_or(("", path), |(last, rest)| (last, rest));
    let known = at(before, parent).and_then(Value::as_object);
    let known = known.into_iter().flat_map(|fields| fields.keys());
    let near = known.min_by_key(|known| strsim::levenshtein(known, field));
    let near = near.filter(|known| strsim::levenshtein(known, field) <= 3);
    let hint = near.map(|known| format!(", did you mean `{known}`?")).unwrap_or_default();
    format!("unknown field `{}`{hint}", path.join("."))
}

/// The failure of a hook; where the method cannot fail it is reported.
fn conclude<A, Args>(ran: HookResult, hook: &str, phase: Phase) -> Result<(), Fault<A, Args>>
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
