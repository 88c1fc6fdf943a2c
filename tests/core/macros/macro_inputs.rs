//! Inputs of `#[hookable]`: each is compiled and run, hooked and unhooked.
#![deny(missing_docs, unused, unreachable_pub, elided_lifetimes_in_paths)]
#![deny(clippy::all, clippy::pedantic)]
#![forbid(unsafe_code)]
#![allow(
    clippy::needless_lifetimes,
    clippy::needless_pass_by_value,
    clippy::too_many_arguments,
    clippy::trivially_copy_pass_by_ref,
    clippy::unnecessary_wraps,
    clippy::unused_async,
    clippy::unused_self,
    reason = "these methods would be told so without the macro too"
)]

use std::borrow::Cow;
use std::path::Path;

use futures::FutureExt;
use hooks_core::{HookError, Hookable, Hooks, hookable};

fn now<F: Future>(future: F) -> F::Output {
    future.now_or_never().expect("nothing waits")
}

#[derive(Hookable, Default)]
struct Parameters {
    hooks: Hooks,
}

#[hookable]
impl Parameters {
    #[hook]
    fn borrowed(&self, text: &str, list: &[u8], path: &Path, pair: &(u8, u8)) -> String {
        format!("{text} {list:?} {} {pair:?}", path.display())
    }

    #[hook]
    fn optional(&self, text: Option<&str>, number: Option<&u8>, list: Option<&[u8]>) -> String {
        format!("{text:?} {number:?} {list:?}")
    }

    #[hook]
    fn cow(&self, text: Cow<'_, str>, fixed: &'static str) -> String {
        format!("{text} {fixed}")
    }

    #[hook]
    fn named_lifetime<'a>(&'a self, text: &'a str) -> usize {
        text.len()
    }

    #[hook]
    fn patterns(
        &self,
        #[arg(name = "pair")] (left, right): (u8, u8),
        #[arg(name = "list")] [first, ..]: [u8; 2],
        _: u8,
        mut changed: u8,
    ) -> u8 {
        changed += left + right + first;
        changed
    }

    #[hook]
    fn r#type(&self, r#match: u8) -> u8 {
        r#match + 1
    }

    #[hook]
    fn cfg(&self, #[cfg(not(test))] gone: Missing, #[cfg(test)] kept: u8) -> u8 {
        kept
    }

    #[hook]
    fn callback(&self, function: fn(&str) -> usize) -> usize {
        function("four")
    }

    /// No arguments, no output.
    #[hook]
    async fn nothing(&self) {}

    #[hook(skip)]
    fn reply<T>(&self, anything: T) -> T {
        anything
    }
}

#[test]
fn parameters_reach_the_body_unchanged_through_the_args_struct() {
    let plain = Parameters::default();
    let hooked = Parameters::default();
    macro_rules! look {
        ($($hook_type:ident $args:ident),* $(,)?) => {$(
            hooked.register_instance_hook(
                Parameters::$hook_type,
                "look",
                |_: &Parameters, args: &$args| assert!(!format!("{args:?}").is_empty()),
            );
        )*};
    }
    look!(
        PRE_BORROWED ParametersBorrowedArgs,
        PRE_OPTIONAL ParametersOptionalArgs,
        PRE_COW ParametersCowArgs,
        PRE_NAMED_LIFETIME ParametersNamedLifetimeArgs,
        PRE_PATTERNS ParametersPatternsArgs,
        PRE_TYPE ParametersTypeArgs,
        PRE_CFG ParametersCfgArgs,
        PRE_CALLBACK ParametersCallbackArgs,
        PRE_NOTHING ParametersNothingArgs,
    );
    for agent in [plain, hooked] {
        let borrowed = agent.borrowed("a", &[1], Path::new("p"), &(1, 2));
        assert_eq!(borrowed, "a [1] p (1, 2)");
        let optional = agent.optional(Some("a"), Some(&1), Some(&[1]));
        assert_eq!(optional, r#"Some("a") Some(1) Some([1])"#);
        assert_eq!(agent.optional(None, None, None), "None None None");
        assert_eq!(agent.cow(Cow::Borrowed("a"), "b"), "a b");
        assert_eq!(agent.named_lifetime("abc"), 3);
        assert_eq!(agent.patterns((1, 2), [3, 0], 9, 4), 10);
        assert_eq!((agent.r#type(1), agent.cfg(2), agent.callback(str::len)), (2, 2, 4));
        now(agent.nothing());
        assert_eq!(agent.reply("skipped"), "skipped");
    }
}

#[test]
fn patterns_are_named_in_the_args_struct() {
    let agent = Parameters::default();
    agent.register_instance_hook(
        Parameters::PRE_PATTERNS,
        "change",
        |_: &Parameters, args: &mut ParametersPatternsArgs| {
            args.pair.0 += args.arg2;
            args.list[0] += args.changed;
        },
    );
    assert_eq!(agent.patterns((1, 2), [3, 0], 9, 4), 23);
}

type Outcome<T> = Result<T, HookError>;
type AgentResult<T> = Result<T, HookError>;

#[derive(Hookable, Default)]
struct Outputs {
    hooks: Hooks,
}

struct SearchResult(u8);

#[hookable]
impl Outputs {
    #[hook]
    async fn early(&self, number: u8) -> Result<u8, HookError> {
        if number == 0 {
            return Ok(100);
        }
        let twice = |number: u8| number.checked_mul(2).ok_or(NoRoom);
        Ok(twice(number)?)
    }

    #[hook]
    fn alias(&self) -> AgentResult<u8> {
        Ok(1)
    }

    #[hook(fallible)]
    fn other_alias(&self) -> Outcome<u8> {
        Ok(1)
    }

    #[hook(infallible)]
    fn no_result(&self) -> SearchResult {
        SearchResult(1)
    }

    #[hook]
    fn boxed(&self) -> Box<dyn Fn(u8) -> u8 + Send> {
        Box::new(|number| number + 1)
    }
}

#[derive(Debug, thiserror::Error)]
#[error("no room")]
struct NoRoom;

impl From<NoRoom> for HookError {
    fn from(_: NoRoom) -> Self {
        hooks_core::RegistryError::from("no room".parse::<hooks_core::HookType>().unwrap_err())
            .into()
    }
}

#[test]
fn outputs_are_told_from_errors_by_the_name_of_the_type_or_by_a_word() {
    let agent = Outputs::default();
    agent.register_instance_hook(
        Outputs::POST_EARLY,
        "+1",
        |_: &Outputs, _: &OutputsEarlyArgs, output: &mut u8| *output += 1,
    );
    agent.register_instance_hook(
        Outputs::POST_ALIAS,
        "+1",
        |_: &Outputs, _: &OutputsAliasArgs, output: &u8| Some(output + 1),
    );
    agent.register_instance_hook(
        Outputs::POST_OTHER_ALIAS,
        "+1",
        |_: &Outputs, _: &OutputsOtherAliasArgs, output: &u8| Some(output + 1),
    );
    agent.register_instance_hook(
        Outputs::POST_NO_RESULT,
        "+1",
        |_: &Outputs, _: &OutputsNoResultArgs, output: &mut SearchResult| output.0 += 1,
    );
    agent.register_instance_hook(
        Outputs::POST_BOXED,
        "twice",
        |_: &Outputs, _: &OutputsBoxedArgs, _: &_| {
            Some(Box::new(|number: u8| number * 2) as Box<dyn Fn(u8) -> u8 + Send>)
        },
    );
    assert_eq!((now(agent.early(0)).unwrap(), now(agent.early(2)).unwrap()), (101, 5));
    assert!(now(agent.early(200)).is_err());
    assert_eq!((agent.alias().unwrap(), agent.other_alias().unwrap()), (2, 2));
    assert_eq!((agent.no_result().0, agent.boxed()(4)), (2, 8));
}

#[derive(Hookable)]
struct Generic<T: Send + 'static, const N: usize>
where
    T: Clone,
{
    value: T,
    hooks: Hooks,
}

#[hookable]
impl<T: Send + std::fmt::Debug + 'static, const N: usize> Generic<T, N>
where
    T: Clone,
{
    fn reply(&self, values: [T; N]) -> (T, usize) {
        (self.value.clone(), values.len())
    }

    fn print(&self, text: &str) -> usize {
        text.len()
    }
}

#[test]
fn generic_types_have_hooks_of_each_instantiation() {
    type Words = Generic<String, 2>;
    let words = Words { value: "a".to_owned(), hooks: Hooks::new() };
    let numbers = Generic::<u8, 3> { value: 1, hooks: Hooks::new() };
    Words::register_class_hook(
        Words::PRE_REPLY,
        "same",
        |_: &Words, args: &mut GenericReplyArgs<String, 2>| args.values[0].push('b'),
    );
    Words::register_class_hook(
        Words::POST_REPLY,
        "count",
        |_: &Words, args: &GenericReplyArgs<String, 2>, output: &mut (String, usize)| {
            output.0.push_str(&args.values[0]);
        },
    );
    Words::register_class_hook(
        Words::PRE_PRINT,
        "twice",
        |_: &Words, args: &mut GenericPrintArgs| {
            args.text = args.text.repeat(2);
        },
    );
    assert_eq!(words.reply(["x".to_owned(), "y".to_owned()]), ("axb".to_owned(), 2));
    assert_eq!(numbers.reply([1, 2, 3]), (1, 3));
    assert_eq!((words.print("ab"), numbers.print("ab")), (4, 2));

    let error = words.clear_instance_hooks("pre_nope".parse::<hooks_core::HookType>().unwrap());
    assert_eq!(
        error.unwrap_err().to_string(),
        "unknown hook type 'pre_nope' of Generic, expected one of: pre_reply, around_reply, \
         post_reply, settled_reply, pre_print, around_print, post_print, settled_print",
    );
}

macro_rules! generated {
    ($agent:ident, $method:ident, $($arg:ident: $ty:ty),*) => {
        #[derive(Hookable, Default)]
        struct $agent {
            hooks: Hooks,
        }

        #[hookable]
        impl $agent {
            #[hook]
            fn $method(&self, $($arg: $ty),*) -> usize {
                0 $(+ $arg.to_string().len())*
            }
        }
    };
}

generated!(Generated, describe, number: u32, text: &str);

#[test]
fn agents_may_come_from_a_macro() {
    let agent = Generated::default();
    agent.register_instance_hook(
        Generated::PRE_DESCRIBE,
        "longer",
        |_: &Generated, args: &mut GeneratedDescribeArgs| args.text.push('!'),
    );
    assert_eq!(agent.describe(12, "ab"), 5);
}

#[test]
fn agents_may_stand_in_a_function_with_other_names_around() {
    #[allow(dead_code)]
    mod core {}
    #[allow(dead_code)]
    mod std {}
    #[allow(dead_code)]
    struct String;
    #[allow(dead_code)]
    struct Vec;
    #[allow(dead_code)]
    trait ToOwned {}
    #[allow(dead_code)]
    trait Send {}

    #[derive(Hookable, Default)]
    struct Local {
        hooks: Hooks,
    }

    #[hookable]
    impl Local {
        fn print(&self, text: &str, list: &[u8], args: u8, this: u8) -> usize {
            text.len() + list.len() + usize::from(args + this)
        }
    }

    let agent = Local::default();
    agent.register_instance_hook(
        Local::PRE_PRINT,
        "longer",
        |_: &Local, args: &mut LocalPrintArgs| args.list.push(1),
    );
    assert_eq!(agent.print("a", &[], 1, 1), 4);
}

/// The crate as it looks from behind a facade.
mod facade {
    pub(crate) mod inner {
        pub(crate) use hooks_core as hooks;
    }
}

mod behind_a_facade {
    use crate::macro_inputs::facade::inner::hooks::{Hookable, Hooks, class_hook, hookable};

    #[derive(Hookable, Default)]
    #[hooks(crate = crate::macro_inputs::facade::inner::hooks)]
    pub(super) struct Facade {
        hooks: Hooks,
    }

    #[hookable(crate = crate::macro_inputs::facade::inner::hooks, derive(Debug, PartialEq, Clone))]
    impl Facade {
        pub(super) fn reply(&self, number: u8) -> u8 {
            number
        }
    }

    #[class_hook(Facade::PRE_REPLY, crate = crate::macro_inputs::facade::inner::hooks)]
    fn add(_: &Facade, args: &mut FacadeReplyArgs) {
        assert_ne!(*args, FacadeReplyArgs { number: 0 });
        args.number += 1;
    }
}

#[test]
fn the_crate_may_be_reached_by_another_path() {
    assert_eq!(behind_a_facade::Facade::default().reply(1), 2);
}

#[derive(Hookable, Default)]
struct Attributes {
    hooks: Hooks,
}

#[hookable]
impl Attributes {
    /// Documented once.
    #[must_use]
    #[deprecated(note = "for the test")]
    #[hook]
    fn old(&self) -> u8 {
        #![allow(unused_variables)]
        let unused = 1;
        2
    }

    #[cfg(not(test))]
    #[hook]
    fn gone(&self, missing: Missing) {}

    #[hook]
    #[expect(unused_variables, reason = "only hooks look at it")]
    fn expected(&self, number: u8) -> u8 {
        1
    }

    #[hook]
    #[allow(clippy::many_single_char_names)]
    fn many(&self, a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8, h: u8) -> u8 {
        a + b + c + d + e + f + g + h
    }

    const NOT_A_METHOD: u8 = 7;

    fn helper(&self) -> u8 {
        Self::NOT_A_METHOD
    }
}

#[test]
fn attributes_stay_where_they_belong() {
    let agent = Attributes::default();
    #[allow(deprecated)]
    let old = agent.old();
    let many = agent.many(1, 1, 1, 1, 1, 1, 1, 1);
    assert_eq!((old, agent.expected(3), many, agent.helper()), (2, 1, 8, 7));
}

/// A future that is not `Send` stays usable, hooks and all.
#[test]
fn a_body_that_is_not_send_is_hooked_too() {
    #[derive(Hookable, Default)]
    struct Local {
        hooks: Hooks,
    }

    #[hookable]
    impl Local {
        #[hook(?Send)]
        async fn reply(&self, number: std::rc::Rc<u8>) -> u8 {
            std::future::ready(()).await;
            *number
        }
    }

    let agent = Local::default();
    agent.register_instance_hook(
        Local::POST_REPLY,
        "+1",
        |_: &Local, args: &LocalReplyArgs, output: &mut u8| *output += *args.number,
    );
    assert_eq!(now(agent.reply(2.into())), 4);
}

macro_rules! with_fragments {
    ($agent:ident, $body:block, $ty:ty, $hook:ident) => {
        #[derive(Hookable, Default)]
        struct $agent {
            hooks: Hooks,
        }

        #[hookable]
        impl $agent {
            fn print(&self, _: $ty) -> usize $body

            #[hook]
            fn len(&self, text: $ty) -> usize {
                text.map_or(0, str::len)
            }
        }

        #[hooks_core::class_hook($agent::PRE_LEN)]
        fn $hook(_: &$agent, args: &mut FragmentsLenArgs) {
            args.text = Some("longer".to_owned());
        }
    };
}

with_fragments!(Fragments, { 7 }, Option<&str>, options);

#[test]
fn fragments_of_a_macro_are_taken_like_what_they_stand_for() {
    let agent = Fragments::default();
    agent.register_instance_hook(
        Fragments::PRE_PRINT,
        "look",
        |_: &Fragments, args: &FragmentsPrintArgs| assert_eq!(args.arg0.as_deref(), Some("a")),
    );
    assert_eq!((agent.print(Some("a")), agent.len(None)), (7, 6));
}

#[derive(Hookable, Default)]
struct Sized<T: Into<U> + 'static, U: 'static = T> {
    marker: std::marker::PhantomData<(T, U)>,
    hooks: Hooks,
}

impl<T: Into<U>, U> Sized<T, U> {
    const SIZE: usize = 3;
}

#[hookable]
impl<T: Into<U> + std::fmt::Debug + Clone + 'static, U: 'static> Sized<T, U> {
    #![allow(clippy::missing_panics_doc)]

    #[hook]
    fn convert(&self, value: T) -> U {
        value.into()
    }
}

#[hookable]
impl Sized<u8, u16> {
    #[hook]
    fn sum(&self, values: [u16; Self::SIZE]) -> u16 {
        values.iter().sum()
    }
}

#[test]
fn bounds_and_constants_of_the_block_are_understood() {
    let agent = Sized::<u8, u16>::default();
    agent.register_instance_hook(
        Sized::<u8, u16>::PRE_CONVERT,
        "+1",
        |_: &Sized<u8, u16>, args: &mut SizedConvertArgs<u8>| args.value += 1,
    );
    agent.register_instance_hook(
        Sized::<u8, u16>::PRE_SUM,
        "first",
        |_: &Sized<u8, u16>, args: &mut SizedSumArgs| args.values[0] = 10,
    );
    assert_eq!((agent.convert(1), agent.sum([1, 2, 3])), (2, 15));
}

#[test]
fn hook_takes_a_comma_at_its_end() {
    let agent = Parameters::default();
    agent.register_instance_hook(
        Parameters::PRE_NOTHING,
        "wait",
        hooks_core::hook!(Parameters::PRE_NOTHING, async |_, _| { std::future::ready(()).await },),
    );
    now(agent.nothing());
}

/// The order in which a plain `async fn` drops its arguments: the last one first, when the body ends.
#[test]
fn arguments_are_dropped_in_the_order_of_a_plain_async_fn() {
    static DROPPED: hooks_fixtures::Records = hooks_fixtures::Records::new();
    #[derive(Clone, Debug)]
    struct Noisy(&'static str);
    impl Drop for Noisy {
        fn drop(&mut self) {
            DROPPED.push(self.0);
        }
    }
    #[derive(Hookable, Default)]
    struct Bin {
        hooks: Hooks,
    }
    #[hookable]
    impl Bin {
        #[hook(skip)]
        async fn plain(&self, _: Noisy, _second: Noisy, third: Noisy) {
            drop(third);
            DROPPED.push("body");
        }
        #[hook]
        async fn hooked(&self, _: Noisy, _second: Noisy, third: Noisy) {
            drop(third);
            DROPPED.push("body");
        }
        #[hook]
        fn sync(&self, _: Noisy, _second: Noisy, third: Noisy) {
            drop(third);
            DROPPED.push("body");
        }
    }
    let bin = Bin::default();
    let noisy = || (Noisy("first"), Noisy("second"), Noisy("third"));
    let three = |(first, second, third)| now(bin.plain(first, second, third));
    three(noisy());
    let order = DROPPED.take();
    assert_eq!(order, ["third", "body", "second", "first"]);
    for _ in 0..2 {
        let (first, second, third) = noisy();
        now(bin.hooked(first, second, third));
        assert_eq!(DROPPED.take(), order);
        let (first, second, third) = noisy();
        bin.sync(first, second, third);
        assert_eq!(DROPPED.take(), order);
        // The same with hooks.
        bin.register_instance_hook(Bin::PRE_HOOKED, "look", |_: &Bin, _: &BinHookedArgs| {});
        bin.register_instance_hook(Bin::PRE_SYNC, "look", |_: &Bin, _: &BinSyncArgs| {});
    }
}
