//! Inputs that real code has: what was refused or broken, and works.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ffi::OsString;
use std::future::Future;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hooks_core::{BoxFuture, HookError, HookResult, Hookable, Hooks, class_hook, hook, hookable};
use hooks_fixtures::Records;

mod objects {
    use super::*;

    pub(super) trait Tool: Send + Sync {
        fn name(&self) -> String;
    }

    pub(super) struct Named(pub &'static str);

    impl Tool for Named {
        fn name(&self) -> String {
            self.0.to_owned()
        }
    }

    #[hookable]
    pub trait Bot: Hookable {
        #[hook]
        async fn run(
            &self,
            tool: Arc<dyn Tool>,
            more: Arc<dyn Tool + 'static>,
            text: &str,
        ) -> String;
    }

    #[derive(Hookable, Default)]
    pub(super) struct One {
        hooks: Hooks,
    }

    #[hookable]
    impl Bot for One {
        #[hook]
        async fn run(
            &self,
            tool: Arc<dyn Tool>,
            more: Arc<dyn Tool + 'static>,
            text: &str,
        ) -> String {
            format!("{} {} {text}", tool.name(), more.name())
        }
    }
}

#[tokio::test]
async fn objects_in_parameters_of_a_trait_keep_their_lifetime() {
    use objects::{Bot, BotRunArgs, Named, One};
    // `Arc<dyn Tool>` is neither `Debug` nor does it need to be here: the struct derives what it says.
    let one = One::default();
    one.register_instance_hook(
        One::PRE_RUN,
        "shout",
        hook!(One::PRE_RUN, |_, args| args.text.make_ascii_uppercase()),
    );
    let _: fn(&BotRunArgs) = |_| {};
    assert_eq!(one.run(Arc::new(Named("a")), Arc::new(Named("b")), "c").await, "a b C");
}

mod visibility {
    use super::*;

    #[hookable]
    pub trait Private: Hookable {
        async fn reply(&self, text: &str) -> String;
    }

    #[hookable]
    pub trait OfTheCrate: Hookable {
        fn print(&self, text: String) -> usize;
    }

    #[derive(Hookable, Default)]
    pub(super) struct Public {
        hooks: Hooks,
    }

    #[hookable]
    impl Private for Public {
        async fn reply(&self, text: &str) -> String {
            text.to_owned()
        }
    }

    #[hookable]
    impl OfTheCrate for Public {
        fn print(&self, text: String) -> usize {
            text.len()
        }
    }

    #[tokio::test]
    async fn a_private_trait_hooks_a_public_type() {
        let public = Public::default();
        let dynamic: &dyn Private = &public;
        dynamic.register_instance_hook(
            <dyn Private>::PRE_REPLY,
            "more",
            hook!(<dyn Private>::PRE_REPLY, |_, args| args.text.push('!')),
        );
        assert_eq!(public.reply("a").await, "a!");
        assert_eq!(public.print("ab".to_owned()), 2);
    }
}

#[derive(Hookable, Default)]
struct Starts {
    started: AtomicUsize,
    hooks: Hooks,
}

#[hookable]
impl Starts {
    #[hook]
    fn boxed(&self, text: &str) -> Pin<Box<dyn Future<Output = usize> + Send + '_>> {
        self.started.fetch_add(1, Ordering::Relaxed);
        let length = text.len();
        Box::pin(async move { length })
    }

    #[hook]
    fn opaque(&self, number: usize) -> impl Future<Output = usize> + Send {
        self.started.fetch_add(1, Ordering::Relaxed);
        async move { number + 1 }
    }
}

#[tokio::test]
async fn what_stands_before_a_future_runs_at_the_call_where_no_hook_is_there() {
    let starts = Starts::default();
    let (boxed, opaque) = (starts.boxed("abc"), starts.opaque(1));
    assert_eq!(starts.started.load(Ordering::Relaxed), 2);
    assert_eq!((boxed.await, opaque.await), (3, 2));
    starts.register_instance_hook(
        Starts::PRE_OPAQUE,
        "1",
        Starts::PRE_OPAQUE.sync(|_, args| args.number += 1),
    );
    let opaque = starts.opaque(1);
    assert_eq!(starts.started.load(Ordering::Relaxed), 2);
    assert_eq!(opaque.await, 3);
    assert_eq!(starts.started.load(Ordering::Relaxed), 3);
}

macro_rules! named {
    ($ty:ident, $name:ident, $constant:ident) => {
        #[derive(Hookable, Default)]
        struct $ty {
            hooks: Hooks,
        }

        #[hookable]
        impl $ty {
            #[hook]
            async fn $name(&self, text: &str) -> String {
                self.more(text)
            }

            fn more(&self, text: &str) -> String {
                format!("{text}.")
            }
        }

        #[tokio::test]
        async fn a_method_may_be_named_by_a_macro() {
            let named = $ty::default();
            named.register_instance_hook(
                $ty::$constant,
                "x",
                $ty::$constant.sync(|_, args| args.text.push('!')),
            );
            assert_eq!(named.$name("a").await, "a!.");
        }
    };
}

named!(ByMacro, chosen, PRE_CHOSEN);

#[derive(Hookable, Default)]
struct Twins {
    hooks: Hooks,
}

#[hookable]
impl Twins {
    #[cfg(test)]
    #[hook]
    fn pick(&self, number: u8) -> u8 {
        number
    }

    #[cfg(not(test))]
    #[hook]
    fn pick(&self, number: u64) -> u64 {
        number
    }

    #[cfg_attr(test, hook)]
    fn marked(&self, number: u8) -> u8 {
        number
    }

    #[cfg_attr(not(test), hook(skip), inline)]
    fn print(&self, number: u8) -> u8 {
        number
    }

    #[hook]
    fn add(&self, number: u8) -> u8 {
        number
    }

    #[hook]
    fn _add(&self, number: u8) -> u8 {
        number
    }

    #[hook(args = "Subtraction", derive(Debug, Clone, PartialEq))]
    fn subtract(&self, from: u8, number: u8) -> u8 {
        from - number
    }
}

#[test]
fn twins_under_conditions_marks_under_conditions_and_names_of_one_sound() {
    let twins = Twins::default();
    twins.register_instance_hook(
        Twins::PRE_PICK,
        "1",
        Twins::PRE_PICK.sync(|_, args| args.number += 1),
    );
    twins.register_instance_hook(
        Twins::PRE_MARKED,
        "1",
        Twins::PRE_MARKED.sync(|_, args| args.number += 1),
    );
    twins.register_instance_hook(
        Twins::PRE_PRINT,
        "1",
        Twins::PRE_PRINT.sync(|_, args| args.number += 1),
    );
    twins.register_instance_hook(Twins::PRE_ADD, "1", |_: &Twins, args: &mut TwinsAddArgs| {
        args.number += 1;
    });
    twins.register_instance_hook(Twins::PRE__ADD, "2", |_: &Twins, args: &mut Twins_AddArgs| {
        args.number += 2;
    });
    twins.register_instance_hook(Twins::PRE_SUBTRACT, "swap", |_: &Twins, args: &Subtraction| {
        assert_eq!(*args, Subtraction { from: 1, number: 3 });
        Some(Subtraction { from: args.number, number: args.from })
    });
    assert_eq!((twins.pick(1), twins.marked(1), twins.print(1)), (2, 2, 2));
    assert_eq!((twins.add(1), twins._add(1), twins.subtract(1, 3)), (2, 3, 2));
}

mod own_names {
    //! Types that are named as those of the standard library are.

    use super::*;

    #[derive(Clone, Debug, PartialEq)]
    pub(super) struct Path(pub String);

    pub(super) mod cows {
        #[derive(Clone, Debug, PartialEq)]
        pub(crate) struct Cow<T>(pub T);
    }

    #[derive(Hookable, Default)]
    struct Own {
        hooks: Hooks,
    }

    #[hookable]
    impl Own {
        #[hook]
        fn walk(&self, path: Option<&Path>, to: &Path, cow: cows::Cow<u8>) -> String {
            format!("{:?} {} {}", path.map(|path| &path.0), to.0, cow.0)
        }

        #[hook]
        fn real(&self, path: Option<&std::path::Path>, cow: std::borrow::Cow<'_, str>) -> String {
            format!("{path:?} {cow}")
        }
    }

    #[test]
    fn an_own_type_may_have_the_name_of_one_of_the_standard_library() {
        let own = Own::default();
        let quiet = Own::PRE_WALK.sync(|_, args| args.to = Path("there".to_owned()));
        own.register_instance_hook(Own::PRE_WALK, "there", quiet);
        own.register_instance_hook(
            Own::PRE_REAL,
            "x",
            Own::PRE_REAL.sync(|_, args| args.cow.push('!')),
        );
        let here = Path("here".to_owned());
        assert_eq!(own.walk(Some(&here), &here, cows::Cow(1)), r#"Some("here") there 1"#);
        assert_eq!(own.real(Some("a".as_ref()), "b".into()), r#"Some("a") b!"#);
        assert_eq!(own.real(None, "b".into()), r"None b!");
    }
}

#[derive(Hookable, Default)]
struct Located {
    hooks: Hooks,
}

#[hookable]
impl Located {
    #[hook]
    #[track_caller]
    fn line(&self) -> u32 {
        Location::caller().line()
    }
}

#[test]
fn a_method_knows_its_caller_where_no_hook_is_there() {
    let located = Located::default();
    assert_eq!((located.line(), line!()), (line!(), line!()));
}

mod with_async_trait {
    use super::*;

    #[hookable]
    #[async_trait::async_trait]
    pub trait Greets: Hookable {
        async fn reply(&self, name: &str) -> String;

        async fn greeting(&self) -> String {
            "Hello".to_owned()
        }
    }

    #[derive(Hookable, Default)]
    pub(super) struct Greeter {
        hooks: Hooks,
    }

    #[hookable]
    #[async_trait::async_trait]
    impl Greets for Greeter {
        async fn reply(&self, name: &str) -> String {
            format!("{}, {name}", self.greeting().await)
        }
    }

    #[tokio::test]
    async fn an_async_trait_may_have_default_bodies_of_unhooked_methods() {
        let greeter = Greeter::default();
        greeter.register_instance_hook(
            Greeter::PRE_REPLY,
            "x",
            Greeter::PRE_REPLY.sync(|_, args| args.name.push('!')),
        );
        assert_eq!(greeter.reply("Ada").await, "Hello, Ada!");
    }
}

#[derive(Hookable, Default)]
struct Detached {
    hooks: Hooks,
}

#[hookable]
impl Detached {
    #[hook]
    fn spawned(self: Arc<Self>, text: String) -> BoxFuture<'static, String> {
        Box::pin(async move { text })
    }

    #[hook]
    fn spawned_by_ref(
        self: &Arc<Self>,
        text: String,
    ) -> Pin<Box<dyn Future<Output = String> + Send>> {
        let this = self.clone();
        Box::pin(async move { format!("{text}{}", this.hook_plan().hooks().len()) })
    }

    #[hook]
    fn typed(&self, number: u8) -> u8 {
        number
    }

    #[hook]
    fn typed_mut(&mut self, number: u8) -> u8 {
        number
    }
}

#[tokio::test]
async fn a_future_without_borrows_can_be_spawned_if_the_method_owns_a_count() {
    let detached = Arc::new(Detached::default());
    detached.register_instance_hook(
        Detached::PRE_SPAWNED,
        "x",
        Detached::PRE_SPAWNED.sync(|_, args| args.text.push('!')),
    );
    let more = Detached::PRE_SPAWNED_BY_REF.sync(|_, args| args.text.push('?'));
    detached.register_instance_hook(Detached::PRE_SPAWNED_BY_REF, "x", more);
    assert_eq!(tokio::spawn(detached.clone().spawned("a".into())).await.unwrap(), "a!");
    assert_eq!(tokio::spawn(detached.spawned_by_ref("a".into())).await.unwrap(), "a?2");
    detached.clear_all_instance_hooks();
    assert_eq!(tokio::spawn(detached.clone().spawned("a".into())).await.unwrap(), "a");
    assert_eq!(tokio::spawn(detached.spawned_by_ref("a".into())).await.unwrap(), "a0");
}

#[test]
fn a_receiver_may_be_written_with_its_type() {
    let mut detached = Detached::default();
    detached.register_instance_hook(
        Detached::PRE_TYPED,
        "1",
        Detached::PRE_TYPED.sync(|_, args| args.number += 1),
    );
    let one_more = Detached::PRE_TYPED_MUT.sync(|_, args| args.number += 1);
    detached.register_instance_hook(Detached::PRE_TYPED_MUT, "1", one_more);
    assert_eq!((detached.typed(1), detached.typed_mut(1)), (2, 2));
}

#[derive(Hookable, Default)]
struct Open {
    hooks: Hooks,
}

#[hookable]
impl Open {
    #[hook]
    async fn note(&self, text: impl Into<String>, path: impl AsRef<Path> + Send) -> String {
        format!("{} {}", text.into(), path.as_ref().display())
    }

    #[hook]
    fn refs(
        &self,
        text: impl AsRef<str>,
        bytes: impl AsRef<[u8]>,
        os: impl AsRef<std::ffi::OsStr>,
    ) -> usize {
        text.as_ref().len() + bytes.as_ref().len() + os.as_ref().len()
    }

    #[hook]
    async fn named<S: Into<String> + Send, P>(&self, text: S, path: P) -> String
    where
        P: AsRef<Path> + Send,
    {
        format!("{} {}", text.into(), path.as_ref().display())
    }

    #[hook]
    fn items(
        &self,
        numbers: impl IntoIterator<Item = u8>,
        names: impl IntoIterator<Item = impl Into<String>>,
        shown: impl ToString,
    ) -> String {
        let numbers: u8 = numbers.into_iter().sum();
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        format!("{numbers} {} {}", names.join(" "), shown.to_string())
    }
}

#[tokio::test]
async fn open_parameters_are_kept_as_what_they_give() {
    let open = Open::default();
    assert_eq!(open.note("a", "b").await, "a b");
    assert_eq!(open.named("a", "b").await, "a b");
    let more = hook!(Open::PRE_NAMED, |_, args| args.text.push('!'));
    open.register_instance_hook(Open::PRE_NAMED, "x", more);
    assert_eq!(open.named("a", "b").await, "a! b");
    assert_eq!(open.refs("ab", [1, 2, 3], "c"), 6);
    assert_eq!(open.items([1, 2], ["a", "b"], 7), "3 a b 7");

    open.register_instance_hook(Open::PRE_NOTE, "x", |_: &Open, args: &mut OpenNoteArgs| {
        let OpenNoteArgs { text, path }: &mut OpenNoteArgs = args;
        let (text, path): (&mut String, &mut PathBuf) = (text, path);
        text.push('!');
        path.push("c");
    });
    open.register_instance_hook(Open::PRE_REFS, "x", |_: &Open, args: &mut OpenRefsArgs| {
        let (text, bytes, os): (&mut String, &mut Vec<u8>, &mut OsString) =
            (&mut args.text, &mut args.bytes, &mut args.os);
        text.push('!');
        bytes.push(4);
        os.push("d");
    });
    open.register_instance_hook(Open::PRE_ITEMS, "x", |_: &Open, args: &mut OpenItemsArgs| {
        let (numbers, names, shown): (&mut Vec<u8>, &mut Vec<String>, &mut String) =
            (&mut args.numbers, &mut args.names, &mut args.shown);
        numbers.push(10);
        names.push("c".to_owned());
        shown.push('!');
    });
    assert_eq!(open.note("a", "b").await, format!("a! {}", Path::new("b").join("c").display()));
    assert_eq!(open.refs("ab", [1, 2, 3], "c"), 9);
    assert_eq!(open.items([1, 2], ["a", "b"], 7), "13 a b c 7!");
    let around = hook!(Open::AROUND_NOTE, async |_, args, next| next.run(args).await + "?");
    open.register_instance_hook(Open::AROUND_NOTE, "y", around);
    assert!(open.note("a", "b").await.ends_with('?'));
}

struct NotClone(u8);

#[derive(Hookable, Default)]
struct Partly {
    hooks: Hooks,
}

#[hookable]
impl Partly {
    /// Has no post hooks: its argument is not `Clone`. Nor is it `Debug`, which is no obstacle.
    #[hook(derive(Debug))]
    fn once(&self, value: NotClone) -> u8 {
        value.0
    }

    #[hook]
    fn often(&self, value: u8, unseen: Unseen) -> u8 {
        value + unseen.0
    }
}

#[derive(Clone)]
struct Unseen(u8);

#[test]
fn one_argument_that_is_not_clone_costs_one_method_its_post_hooks() {
    let partly = Partly::default();
    partly.register_instance_hook(
        Partly::PRE_ONCE,
        "1",
        Partly::PRE_ONCE.sync(|_, args| args.value.0 += 1),
    );
    let more = Partly::POST_OFTEN.sync(|_, args, output| {
        assert_eq!(format!("{args:?}"), "PartlyOftenArgs { value: 1, unseen: _ }");
        *output += args.value;
    });
    partly.register_instance_hook(Partly::POST_OFTEN, "1", more);
    assert_eq!((partly.once(NotClone(1)), partly.often(1, Unseen(1))), (2, 3));
}

mod defaults {
    use super::*;

    static RAN: Records<String> = Records::new();

    #[hookable]
    pub trait Talks: Hookable {
        fn name(&self) -> String;

        /// A body that every type may leave as it is.
        async fn reply(&self, text: &str) -> Result<String, HookError> {
            Ok(format!("{text} from {}", self.name()))
        }

        #[hook]
        fn count(&self, mut number: u8) -> u8 {
            number += 1;
            number
        }
    }

    #[derive(Hookable, Default)]
    pub(super) struct Plain {
        hooks: Hooks,
    }

    #[hookable]
    impl Talks for Plain {
        fn name(&self) -> String {
            "plain".to_owned()
        }
    }

    #[derive(Hookable, Default)]
    pub(super) struct Own {
        hooks: Hooks,
    }

    #[hookable]
    impl Talks for Own {
        fn name(&self) -> String {
            "own".to_owned()
        }

        async fn reply(&self, text: &str) -> Result<String, HookError> {
            Ok(text.to_owned())
        }
    }

    #[class_hook(<dyn Talks>::POST_REPLY)]
    fn note(agent: &dyn Talks, args: &TalksReplyArgs, _: &mut String) -> HookResult {
        RAN.push(format!("{} {}", agent.name(), args.text));
        Ok(())
    }

    #[tokio::test]
    async fn a_default_body_runs_the_hooks_of_its_trait() -> Result<(), Box<dyn std::error::Error>>
    {
        let plain = Plain::default();
        assert_eq!(plain.reply("a").await?, "a from plain");
        let dynamic: &dyn Talks = &plain;
        dynamic.register_instance_hook(
            <dyn Talks>::PRE_REPLY,
            "more",
            hook!(<dyn Talks>::PRE_REPLY, async |_, args| {
                args.text.push('!');
                Ok(())
            }),
        );
        dynamic.register_instance_hook(
            <dyn Talks>::AROUND_REPLY,
            "twice",
            hook!(<dyn Talks>::AROUND_REPLY, async |_, args, next| {
                next.run(args.clone()).await?;
                next.run(args).await
            }),
        );
        let more = hook!(<dyn Talks>::PRE_COUNT, |_, args| args.number += 1);
        dynamic.register_instance_hook(<dyn Talks>::PRE_COUNT, "more", more);
        assert_eq!(dynamic.reply("a").await?, "a! from plain");
        assert_eq!((plain.count(1), dynamic.count(1)), (3, 3));
        assert_eq!(Own::default().reply("b").await?, "b");
        assert_eq!(RAN.take(), ["plain a", "plain a!", "own b"]);
        let planned = plain.hook_plan();
        let names: Vec<_> =
            planned.hooks().iter().map(hooks_core::plan::PlannedHook::name).collect();
        assert_eq!(names, ["more", "twice", "note", "more"]);
        plain.remove_instance_hook("pre_count", "more")?;
        assert_eq!(plain.count(1), 2);
        Ok(())
    }
}

#[hookable(non_exhaustive)]
trait Grows: Hookable {
    async fn reply(&self, text: &str) -> String;
}

#[derive(Hookable, Default)]
struct Growing {
    hooks: Hooks,
}

#[hookable]
impl Grows for Growing {
    async fn reply(&self, text: &str) -> String {
        text.to_owned()
    }
}

#[tokio::test]
async fn args_structs_may_be_left_open_for_more_fields() {
    let growing = Growing::default();
    let more = hook!(<dyn Grows>::PRE_REPLY, |_, args| args.text.push('!'));
    let dynamic: &dyn Grows = &growing;
    dynamic.register_instance_hook(<dyn Grows>::PRE_REPLY, "more", more);
    assert_eq!(growing.reply("a").await, "a!");
}

mod instrumented {
    use super::*;
    use tracing_attributes::instrument;

    #[derive(Hookable, Default, Debug)]
    struct Traced {
        hooks: Hooks,
    }

    #[hookable]
    impl Traced {
        #[hook]
        #[instrument(skip(_x))]
        async fn go(&self, _x: Unseen, number: u8) -> u8 {
            number
        }
    }

    #[tokio::test]
    async fn other_attributes_find_the_parameters_as_they_were_written() {
        let traced = Traced::default();
        let more = Traced::PRE_GO.sync(|_, args| args.number += args.x.0);
        traced.register_instance_hook(Traced::PRE_GO, "more", more);
        assert_eq!(traced.go(Unseen(2), 1).await, 3);
    }
}

#[derive(Hookable, Default, Clone, Debug, PartialEq, Eq, Hash)]
struct Compared {
    name: String,
    hooks: Hooks,
}

#[hookable]
impl Compared {
    fn print(&self, text: Cow<'_, str>) -> usize {
        text.len()
    }
}

#[test]
fn hooks_are_no_part_of_what_an_agent_is() {
    let one = Compared { name: "a".to_owned(), hooks: Hooks::new() };
    let other = one.clone();
    other.register_instance_hook(
        Compared::PRE_PRINT,
        "x",
        Compared::PRE_PRINT.sync(|_, args| assert_ne!(args.text, "panic")),
    );
    assert_eq!(one, other);
    assert_eq!(HashSet::from([one.clone(), other.clone()]).len(), 1);
    let caught = std::panic::catch_unwind(|| other.print("panic".into()));
    assert!(caught.is_err());
    assert_eq!((one.print("abc".into()), other.print("abc".into())), (3, 3));
}

#[derive(Hookable, Default)]
struct Files {
    hooks: Hooks,
}

#[hookable]
impl Files {
    #[hook]
    fn read(&self, path: &Path) -> std::io::Result<String> {
        std::fs::read_to_string(path)
    }
}

#[test]
fn methods_that_return_an_io_result_are_hooked_as_they_are() {
    let files = Files::default();
    let deny = hook!(Files::PRE_READ, |_, _| -> HookResult { Err("not here".into()) });
    files.register_instance_hook(Files::PRE_READ, "deny", deny);
    let error = files.read(Path::new("x")).unwrap_err();
    assert_eq!(error.to_string(), "instance hook `deny` failed at pre_read: not here");
}

mod explicit {
    use super::*;

    #[derive(Hookable, Default)]
    struct Report {
        hooks: Hooks,
    }

    #[hookable(explicit)]
    impl Report {
        /// No hook could have such an argument.
        fn print<'a>(&self, to: &'a mut String) -> &'a mut String {
            to.push_str("printed");
            to
        }

        #[hook]
        fn lines(&self) -> usize {
            1
        }
    }

    #[hookable(explicit)]
    trait Machine: Hookable {
        fn reply(&self) -> usize;
        #[hook]
        fn turn(&self) -> usize;
    }

    #[hookable(explicit)]
    impl Machine for Report {
        fn reply(&self) -> usize {
            2
        }

        #[hook]
        fn turn(&self) -> usize {
            3
        }
    }

    fn hooked(report: &Report) -> String {
        let unknown = "pre_nope".parse::<hooks_core::HookType>().unwrap();
        report.clear_instance_hooks(unknown).unwrap_err().to_string()
    }

    #[test]
    fn an_explicit_block_hooks_what_is_marked_and_nothing_by_its_name() {
        let report = Report::default();
        assert_eq!(report.print(&mut String::new()), "printed");
        assert_eq!((report.lines(), report.reply(), report.turn()), (1, 2, 3));
        let known = hooked(&report);
        assert!(known.contains("pre_lines") && known.contains("pre_turn"), "{known}");
        assert!(!known.contains("print") && !known.contains("reply"), "{known}");
    }
}
