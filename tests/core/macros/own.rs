//! Impls of traits that are not hookable: generic ones, ones with associated types, those of other crates. The
//! hooks are those of the type.

use std::fmt;
use std::future::Future;
use std::ops::ControlFlow;
use std::sync::Mutex;

use async_trait::async_trait;
use hooks_core::{
    HookError, HookOptions, HookResult, Hookable, Hooks, Next, Outcome, class_hook, hook, hookable,
};

/// A trait as an event-sourcing crate has it.
trait Aggregate: Default {
    const KIND: &'static str;
    type Command;
    type Event;
    type Error: From<HookError>;
    type Services: Send + Sync;

    async fn handle(
        &self,
        command: Self::Command,
        services: &Self::Services,
    ) -> Result<Vec<Self::Event>, Self::Error>;

    fn apply(&mut self, event: Self::Event);

    fn kind(&self) -> String {
        Self::KIND.to_owned()
    }
}

#[derive(Hookable, Default)]
struct Account {
    balance: u64,
    hooks: Hooks,
}

#[derive(Clone, Debug)]
enum Command {
    Pay { amount: u64 },
}

#[derive(Clone, Debug, PartialEq)]
struct Paid {
    amount: u64,
}

#[derive(Clone)]
struct Limit(u64);

#[hookable(own)]
impl Aggregate for Account {
    const KIND: &'static str = "account";
    type Command = Command;
    type Event = Paid;
    type Error = HookError;
    type Services = Limit;

    #[hook]
    async fn handle(
        &self,
        command: Self::Command,
        services: &Self::Services,
    ) -> Result<Vec<Self::Event>, Self::Error> {
        let Self::Command::Pay { amount } = command;
        assert_eq!(Self::KIND, "account");
        let amount = amount.min(services.0);
        Ok(vec![Self::Event { amount }])
    }

    #[hook]
    fn apply(&mut self, event: Self::Event) {
        self.balance += event.amount;
    }
}

#[tokio::test]
async fn a_trait_with_associated_types_has_hooks_by_the_types_of_the_impl() {
    let mut account = Account::default();
    account.register_instance_hook(
        Account::PRE_HANDLE,
        "half",
        |_: &Account, args: &mut AccountHandleArgs| {
            let Command::Pay { amount } = &mut args.command;
            *amount /= 2;
        },
    );
    account.register_instance_hook(
        Account::POST_APPLY,
        "interest",
        hook!(Account::POST_APPLY, |account, args, ()| {
            assert_eq!((account.balance, args.event.amount), (10, 10));
        }),
    );
    let events = account.handle(Command::Pay { amount: 20 }, &Limit(100)).await.expect("paid");
    assert_eq!(events, [Paid { amount: 10 }]);
    for event in events {
        account.apply(event);
    }
    assert_eq!((account.balance, account.kind()), (10, "account".to_owned()));
}

/// Through the trait too, of which the caller knows nothing else.
#[tokio::test]
async fn calls_by_the_trait_run_the_hooks() {
    async fn pay<A: Aggregate<Command = Command, Services = Limit>>(account: &A) -> usize {
        account.handle(Command::Pay { amount: 1 }, &Limit(1)).await.map_or(0, |events| events.len())
    }
    let account = Account::default();
    assert_eq!(pay(&account).await, 1);
    account.register_instance_hook(
        Account::PRE_HANDLE,
        "closed",
        hook!(Account::PRE_HANDLE, async |_, _| Err::<(), _>("the account is closed".into())),
    );
    assert_eq!(pay(&account).await, 0);
}

#[derive(Hookable, Default)]
struct Audited {
    hooks: Hooks,
}

#[hookable(own)]
impl Aggregate for Audited {
    const KIND: &'static str = "audited";
    type Command = u64;
    type Event = u64;
    type Error = HookError;
    type Services = ();

    #[hook]
    async fn handle(&self, command: u64, _services: &()) -> Result<Vec<u64>, HookError> {
        Ok(vec![command])
    }

    fn apply(&mut self, _: Self::Event) {}
}

static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());

#[class_hook(Audited::SETTLED_HANDLE)]
fn audit(_: &Audited, outcome: &Outcome<'_, Vec<u64>, HookError>) {
    SEEN.lock().expect("no test panics").push(format!("{outcome:?}"));
}

#[tokio::test]
async fn class_hooks_are_of_the_type() {
    Audited::default().handle(7, &()).await.expect("handled");
    let other = Account::default().handle(Command::Pay { amount: 1 }, &Limit(1)).await;
    other.expect("handled");
    assert_eq!(*SEEN.lock().expect("no test panics"), ["Ok([7])"]);
}

/// A generic trait, implemented twice.
trait Handler<Message> {
    type Reply;

    fn handle(&self, message: Message) -> impl Future<Output = Self::Reply> + Send;
}

#[derive(Hookable, Default)]
struct Worker {
    hooks: Hooks,
}

#[hookable(own)]
impl Handler<u64> for Worker {
    type Reply = u64;

    #[hook]
    async fn handle(&self, message: u64) -> Self::Reply {
        message + 1
    }
}

#[hookable(own)]
impl Handler<String> for Worker {
    type Reply = String;

    #[hook(name = "handle_text")]
    fn handle(&self, message: String) -> impl Future<Output = Self::Reply> + Send {
        let reply = message + "!";
        async move { reply }
    }
}

#[tokio::test]
async fn impls_of_one_generic_trait_are_told_apart_by_name() {
    let worker = Worker::default();
    worker.register_instance_hook(
        Worker::PRE_HANDLE,
        "double",
        |_: &Worker, args: &mut WorkerHandleArgs| args.message *= 2,
    );
    worker.register_instance_hook(
        Worker::AROUND_HANDLE_TEXT,
        "twice",
        async |_: &Worker,
               args: WorkerHandleTextArgs,
               next: Next<'_, Worker, WorkerHandleTextArgs>| {
            next.run(args.clone()).await + &next.run(args).await
        },
    );
    assert_eq!(worker.handle(2).await, 5);
    assert_eq!(worker.handle("ho".to_owned()).await, "ho!ho!");
    let plan = worker.hook_plan().to_string();
    assert!(plan.contains("  pre_handle ") && plan.contains("  around_handle_text "), "{plan}");
}

/// A generic type has its parameters in the args struct.
#[derive(Hookable)]
struct Shelf<T> {
    first: T,
    hooks: Hooks,
}

#[hookable(own)]
impl<T: Clone + Send + Sync + 'static> Handler<Vec<T>> for Shelf<T> {
    type Reply = (T, usize);

    #[hook]
    async fn handle(&self, message: Vec<T>) -> Self::Reply {
        let reply: Self::Reply = (self.first.clone(), message.len());
        reply
    }
}

#[tokio::test]
async fn a_generic_type_has_hooks_of_each_of_its_types() {
    let shelf = Shelf { first: 'a', hooks: Hooks::default() };
    shelf.register_instance_hook(
        Shelf::<char>::PRE_HANDLE,
        "more",
        |_: &Shelf<char>, args: &mut ShelfHandleArgs<char>| args.message.push('c'),
    );
    assert_eq!(shelf.handle(vec!['b']).await, ('a', 2));
}

/// Of another crate, and not generic: what no impl tells, `own` says.
#[hookable(own)]
impl fmt::Display for Worker {
    #[hook(skip)]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("worker")
    }
}

trait Tool {
    fn call(&self, input: &str) -> Result<String, HookError>;
}

#[hookable(own)]
impl Tool for Worker {
    #[hook]
    fn call(&self, input: &str) -> Result<String, HookError> {
        Ok(input.to_uppercase())
    }
}

#[test]
fn own_hooks_the_impl_of_any_trait() {
    let worker = Worker::default();
    worker.register_instance_hook(
        Worker::PRE_CALL,
        HookOptions::named("cache").when(|_: &Worker, args: &WorkerCallArgs| args.input == "ping"),
        |_: &Worker, _: &WorkerCallArgs| ControlFlow::Break("pong".to_owned()),
    );
    let tool: &dyn Tool = &worker;
    assert_eq!(tool.call("ping").expect("answered"), "pong");
    assert_eq!(tool.call("hello").expect("called"), "HELLO");
    assert_eq!(worker.to_string(), "worker");
}

#[async_trait]
trait Boxed<In: Send + 'static> {
    async fn send(&self, input: In) -> Result<usize, HookError>;
}

#[hookable(own)]
#[async_trait]
impl Boxed<Vec<u8>> for Account {
    #[hook]
    async fn send(&self, input: Vec<u8>) -> Result<usize, HookError> {
        Ok(input.len())
    }
}

#[tokio::test]
async fn methods_of_async_trait_are_hooked_above_it() {
    let account = Account::default();
    account.register_instance_hook(
        Account::PRE_SEND,
        "empty",
        |_: &Account, args: &AccountSendArgs| -> HookResult {
            if args.input.is_empty() { Err("nothing to send".into()) } else { Ok(()) }
        },
    );
    let boxed: Box<dyn Boxed<Vec<u8>>> = Box::new(account);
    assert_eq!(boxed.send(vec![1, 2]).await.expect("sent"), 2);
    assert!(boxed.send(Vec::new()).await.is_err());
}

mod elsewhere {
    /// Nobody imports it.
    pub(super) trait Store<T> {
        const LIMIT: usize = 4;
        type Event;

        fn twice(&self) -> usize {
            Self::LIMIT * 2
        }

        fn keep(&self, item: T) -> usize;
        fn make(&self) -> Self::Event;
    }

    #[derive(Debug, PartialEq)]
    pub(super) struct Event {
        pub(super) size: usize,
    }
}

use elsewhere::Event;

#[derive(Hookable, Default)]
struct Shop {
    hooks: Hooks,
}

impl Shop {
    /// It is nearer than that of the trait.
    const LIMIT: usize = 1;
}

#[hookable(own, private)]
impl elsewhere::Store<u8> for Shop {
    #[cfg(any())]
    type Event = u8;
    #[cfg(not(any()))]
    type Event = Event;

    #[hook]
    fn keep(&self, item: u8) -> usize {
        struct Other;
        impl elsewhere::Store<u8> for Other {
            const LIMIT: usize = 10;
            type Event = u64;

            fn keep(&self, _: u8) -> usize {
                Self::LIMIT + size_of::<Self::Event>()
            }

            fn make(&self) -> Self::Event {
                0
            }
        }
        assert_eq!(size_of::<Self::Event>(), size_of::<usize>());
        self.twice() + Self::LIMIT + Other.keep(0) + usize::from(item)
    }

    #[hook]
    fn make(&self) -> Self::Event {
        Event { size: 3 }
    }
}

/// As in the impl: what the trait gives is there without being imported, what is nearer wins, and an impl inside
/// of a body is of another `Self`.
#[test]
fn names_in_a_body_mean_what_they_mean_in_the_impl() {
    let shop = Shop::default();
    shop.register_instance_hook(Shop::PRE_KEEP, "more", |_: &Shop, args: &mut ShopKeepArgs| {
        args.item += 1;
    });
    // Twice the limit of the trait, that of the type, that of the other and its size, and the item.
    assert_eq!(elsewhere::Store::keep(&shop, 5), 8 + 1 + 10 + 8 + 6);
    assert_eq!(elsewhere::Store::make(&shop), Event { size: 3 });
}

/// What a type says of itself by another of its types.
trait Batch {
    type Item;
    type Items;

    fn all(&self, items: Self::Items) -> Self::Items;
}

#[hookable(own)]
impl Batch for Shop {
    type Item = u8;
    type Items = Vec<Self::Item>;

    #[hook]
    fn all(&self, items: Self::Items) -> Self::Items {
        let mut all: Self::Items = Vec::new();
        all.extend(items);
        all.push(Self::Item::MAX);
        all
    }
}

#[test]
fn a_type_may_be_made_of_another_of_the_impl() {
    let shop = Shop::default();
    shop.register_instance_hook(Shop::PRE_ALL, "none", |_: &Shop, args: &mut ShopAllArgs| {
        args.items.clear();
    });
    assert_eq!(shop.all(vec![1, 2]), [u8::MAX]);
}

#[derive(Hookable, Default)]
struct Writer {
    written: Vec<u8>,
    hooks: Hooks,
}

/// Of the standard library, whose other methods the body uses.
#[hookable(own)]
impl std::io::Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.written.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }

    #[hook(infallible)]
    fn write_all(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.write(bytes).map(drop)?;
        self.flush()
    }
}

#[test]
fn a_trait_of_the_standard_library_is_hooked() {
    let mut writer = Writer::default();
    writer.register_instance_hook(
        Writer::PRE_WRITE_ALL,
        "upper",
        |_: &Writer, args: &mut WriterWriteAllArgs| args.bytes.make_ascii_uppercase(),
    );
    std::io::Write::write_all(&mut writer, b"hello").expect("written");
    assert_eq!(writer.written, b"HELLO");
}

#[async_trait(?Send)]
trait Local {
    async fn local(&self, count: std::rc::Rc<u8>) -> u8;
}

#[hookable(own)]
#[async_trait(?Send)]
impl Local for Shop {
    #[hook]
    async fn local(&self, count: std::rc::Rc<u8>) -> u8 {
        tokio::task::yield_now().await;
        *count
    }
}

#[tokio::test]
async fn a_local_future_of_async_trait_is_local() {
    let shop = Shop::default();
    shop.register_instance_hook(
        Shop::POST_LOCAL,
        "one more",
        |_: &Shop, _: &ShopLocalArgs, value: &mut u8| *value += 1,
    );
    assert_eq!(shop.local(2.into()).await, 3);
}

/// An impl that a macro makes of what it is given.
macro_rules! handler {
    ($of:path, $agent:ty, $event:ty, $method:ident) => {
        #[hookable(own)]
        impl $of for $agent {
            type Event = $event;

            #[hook(name = "made")]
            fn $method(&self) -> Self::Event {
                let Self::Event { amount } = Self::Event { amount: 2 };
                Self::Event { amount: amount + size_of::<Self::Event>() as u64 }
            }
        }
    };
}

trait Makes<T> {
    type Event;

    fn make(&self) -> Self::Event;
}

handler!(Makes<u8>, Shop, Paid, make);

#[test]
fn an_impl_may_come_from_a_macro() {
    let shop = Shop::default();
    shop.register_instance_hook(
        Shop::POST_MADE,
        "one more",
        |_: &Shop, _: &ShopMadeArgs, paid: &mut Paid| paid.amount += 1,
    );
    assert_eq!(Makes::make(&shop), Paid { amount: 11 });
}

/// What it does is a closure, which fixes the type of its output.
#[derive(Hookable)]
struct Does<F> {
    function: F,
    hooks: Hooks,
}

trait Doing<T> {
    type Out;

    fn act(&self, input: T) -> Self::Out;
}

#[hookable(own)]
impl<F, Out> Doing<u8> for Does<F>
where
    F: Fn(u8) -> Out + Send + Sync + 'static,
    Out: 'static,
{
    type Out = Out;

    #[hook]
    fn act(&self, input: u8) -> Self::Out {
        (self.function)(input)
    }
}

#[test]
fn a_parameter_that_another_fixes_is_no_parameter_too_many() {
    fn hooked<F: Fn(u8) -> String + Send + Sync + 'static>(function: F) -> Does<F> {
        let does = Does { function, hooks: Hooks::default() };
        let next = |_: &Does<F>, args: &mut DoesActArgs| args.input += 1;
        does.register_instance_hook(Does::<F>::PRE_ACT, "next", next);
        does
    }
    assert_eq!(hooked(|input: u8| input.to_string()).act(1), "2");
}
