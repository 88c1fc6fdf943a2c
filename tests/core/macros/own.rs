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

#[hookable]
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

#[hookable]
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

#[hookable]
impl Handler<u64> for Worker {
    type Reply = u64;

    #[hook]
    async fn handle(&self, message: u64) -> Self::Reply {
        message + 1
    }
}

#[hookable]
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

#[hookable]
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

#[hookable]
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
