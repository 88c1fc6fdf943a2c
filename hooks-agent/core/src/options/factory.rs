//! Makes hooks of tables of options.

use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hooks_core::BoxError;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;

use crate::hook::{AgentHook, DynAgentHook};
use crate::options::error::{Mistake, OptionError};
use crate::options::hook_options::HookOptions;
use crate::options::read::read_options;
use crate::options::value::Node;

/// Makes hooks of options.
pub trait Factory: Send + Sync {
    /// Reads the options.
    ///
    /// # Errors
    /// Every mistake in them, at most 20.
    fn prepare(&self, options: &Node) -> Result<Prepared, Vec<Mistake>>;

    /// Returns the JSON schema of the options.
    fn schema(&self) -> Schema;
}

type Made = Result<Box<dyn DynAgentHook>, OptionError>;

/// Options that were read.
pub struct Prepared {
    make: Box<dyn FnOnce() -> Made>,
    /// The priority of a hook that opens files when it is made.
    pub opens_files_at: Option<i32>,
    /// The name of its counts.
    pub counter: Option<String>,
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { opens_files_at, counter, .. } = self;
        f.debug_struct("Prepared")
            .field("opens_files_at", opens_files_at)
            .field("counter", counter)
            .finish_non_exhaustive()
    }
}

impl Prepared {
    /// Makes the hook.
    ///
    /// # Errors
    /// What is wrong with the options, with the places: the hook refuses them, panics, or adds tools.
    pub fn make(self, options: &Node) -> Result<Box<dyn DynAgentHook>, Vec<Mistake>> {
        let Self { make, .. } = self;
        let made = catch_unwind(AssertUnwindSafe(make));
        let hook = made
            .unwrap_or_else(|_| Err("the hook panicked while it was made".into()))
            .map_err(|error| Mistake::of_hook(error, options))?;
        let tools: Vec<_> = hook.tools().iter().map(|tool| tool.name().to_owned()).collect();
        if tools.is_empty() { Ok(hook) } else { Err(vec![Mistake::of_tools(&tools, options)]) }
    }
}

/// A factory of [`HookOptions`].
pub(super) struct FromOptions<O>(PhantomData<fn() -> O>);

impl<O: HookOptions> FromOptions<O> {
    pub(super) fn boxed() -> Box<dyn Factory> {
        Box::new(Self(PhantomData))
    }
}

impl<O: HookOptions> Factory for FromOptions<O> {
    fn prepare(&self, options: &Node) -> Result<Prepared, Vec<Mistake>> {
        let options = read_options::<O>(options)?;
        Ok(Prepared {
            counter: options.counter(),
            make: Box::new(move || options.into_hook()),
            opens_files_at: O::OPENS_FILES.then_some(O::PRIORITY),
        })
    }

    fn schema(&self) -> Schema {
        schema_for::<O>()
    }
}

/// A factory of a closure of the program.
pub struct FromFn<O, H, E, F>(Arc<F>, PhantomData<fn(O) -> Result<H, E>>);

impl<O, H, E, F> FromFn<O, H, E, F>
where
    O: DeserializeOwned + JsonSchema + 'static,
    H: AgentHook,
    E: Into<BoxError> + 'static,
    F: Fn(O) -> Result<H, E> + Send + Sync + 'static,
{
    /// Makes hooks by this closure.
    pub fn new(make: F) -> Self {
        Self(Arc::new(make), PhantomData)
    }
}

impl<O, H, E, F> fmt::Debug for FromFn<O, H, E, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromFn").finish_non_exhaustive()
    }
}

impl<O, H, E, F> Factory for FromFn<O, H, E, F>
where
    O: DeserializeOwned + JsonSchema + 'static,
    H: AgentHook,
    E: Into<BoxError> + 'static,
    F: Fn(O) -> Result<H, E> + Send + Sync + 'static,
{
    fn prepare(&self, options: &Node) -> Result<Prepared, Vec<Mistake>> {
        let (options, make) = (read_options::<O>(options)?, self.0.clone());
        let make = move || match make(options) {
            Ok(hook) => Ok(Box::new(hook) as Box<dyn DynAgentHook>),
            Err(error) => Err(OptionError::from(error)),
        };
        Ok(Prepared { make: Box::new(make), opens_files_at: None, counter: None })
    }

    fn schema(&self) -> Schema {
        schema_for::<O>()
    }
}

fn schema_for<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    settings.into_generator().into_root_schema_for::<T>()
}
