//! Shapes of types, blocks and closures that people arrive at while they write.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

use hooks_core::{Hookable, Hooks, hook, hookable};

trait Model: Send + Sync + 'static {
    type In: Clone + Debug + Send + Sync + 'static;
}

/// Neither `Clone` nor `Debug`.
struct Local;

impl Model for Local {
    type In = Vec<u8>;
}

#[derive(Hookable)]
struct Asker<M: Model> {
    model: PhantomData<M>,
    hooks: Hooks,
}

#[hookable]
impl<M: Model> Asker<M> {
    fn reply(&self, input: M::In, by: Arc<M>) -> usize {
        drop((input, by));
        0
    }
}

#[test]
fn the_arguments_of_a_generic_type_ask_of_its_fields_what_they_need_and_nothing_of_its_parameters()
{
    // `Arc<Local>` is not `Debug`, `Vec<u8>` and `Arc<Local>` are `Clone`.
    let asker = Asker::<Local> { model: PhantomData, hooks: Hooks::new() };
    asker.register_instance_hook(
        Asker::<Local>::POST_REPLY,
        "count",
        hook!(Asker::<Local>::POST_REPLY, |_, args, output| *output = args.input.len()),
    );
    assert_eq!(asker.reply(vec![1, 2, 3], Arc::new(Local)), 3);
}

#[derive(Hookable)]
struct Shown<T: Send + Sync + 'static> {
    parts: PhantomData<T>,
    hooks: Hooks,
}

#[hookable]
impl<T: Send + Sync + 'static> Shown<T> {
    fn print(&self, part: Option<T>, text: &str) {
        drop((part, text.len()));
    }
}

#[test]
fn the_arguments_of_a_generic_type_are_shown_as_they_are() {
    let args = ShownPrintArgs { part: Some(1), text: "a".to_owned() };
    assert_eq!(format!("{args:?}"), r#"ShownPrintArgs { part: Some(1), text: "a" }"#);
    Shown { parts: PhantomData, hooks: Hooks::new() }.print(Some(1), "a");
}

#[derive(Hookable, Default)]
struct Texts {
    hooks: Hooks,
}

type Change = Arc<dyn for<'a> Fn(&'a str) -> &'a str + Send + Sync>;

#[hookable]
impl Texts {
    #[hook(derive(Clone))]
    fn reply(&self, change: Arc<dyn for<'a> Fn(&'a str) -> &'a str + Send + Sync>) -> String {
        change(" a ").to_owned()
    }

    fn print(self: Rc<Self>, text: &str) -> usize {
        text.len()
    }

    async fn observe(self: &Rc<Self>, text: &str) -> usize {
        text.len()
    }
}

#[test]
fn a_closure_over_any_lifetime_borrows_nothing() {
    let texts = Texts::default();
    texts.register_instance_hook(
        Texts::PRE_REPLY,
        "other",
        hook!(Texts::PRE_REPLY, |_, args| {
            let inner: Change = args.change.clone();
            args.change = Arc::new(move |text| inner(text).trim_end());
        }),
    );
    assert_eq!(texts.reply(Arc::new(str::trim_start)), "a");
}

#[test]
fn a_method_may_take_an_rc_of_its_instance() {
    let texts = Rc::new(Texts::default());
    texts.register_instance_hook(
        Texts::PRE_PRINT,
        "twice",
        hook!(Texts::PRE_PRINT, |_, args| args.text = args.text.repeat(2)),
    );
    texts.register_instance_hook(
        Texts::PRE_OBSERVE,
        "thrice",
        hook!(Texts::PRE_OBSERVE, |_, args| args.text = args.text.repeat(3)),
    );
    assert_eq!(Rc::clone(&texts).print("ab"), 4);
    assert_eq!(futures::executor::block_on(texts.observe("ab")), 6);
}

#[derive(Hookable, Default)]
struct Quiet {
    hooks: Hooks,
}

/// A script that writes `skip` may leave nothing to hook.
#[hookable]
impl Quiet {
    #[hook(skip)]
    fn reply(&self) -> usize {
        1
    }
}

#[test]
fn a_block_whose_methods_are_all_left_out_has_no_hook_types() {
    let quiet = Quiet::default();
    assert_eq!(quiet.reply(), 1);
    let any = "pre_reply".parse::<hooks_core::HookType>().unwrap();
    let error = quiet.clear_instance_hooks(any).unwrap_err().to_string();
    assert_eq!(error, "unknown hook type 'pre_reply' of Quiet, which has no hooked method");
}

#[test]
fn a_hook_that_is_still_to_be_written_panics_when_it_runs() {
    let texts = Texts::default();
    texts.register_instance_hook(
        Texts::PRE_REPLY,
        "later",
        hook!(Texts::PRE_REPLY, |_, _| todo!("the check")),
    );
    texts.register_instance_hook(
        Texts::POST_REPLY,
        "later",
        |_: &Texts, _: &TextsReplyArgs, _: &mut String| unimplemented!(),
    );
    let call = || texts.reply(Arc::new(str::trim));
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"not yet implemented: the check"));
}
