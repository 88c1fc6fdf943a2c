//! A plain struct made hookable with `hooks-core` alone: no agent crate, no framework.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use hooks_core::{HookError, HookResult, Hookable, Hooks, class_hook, hook, hookable};
use tokio::sync::Mutex;

#[derive(Hookable, Default)]
struct Translator {
    lookups: AtomicUsize,
    hooks: Hooks,
}

#[derive(Debug, thiserror::Error)]
enum TranslateError {
    #[error(transparent)]
    Hook(#[from] HookError),
    #[error("no word for `{0}`")]
    Unknown(String),
}

#[hookable]
impl Translator {
    /// Translates a word into Spanish.
    async fn reply(&self, word: &str) -> Result<String, TranslateError> {
        self.lookups.fetch_add(1, Ordering::Relaxed);
        match word {
            "good morning" => Ok("buenos días".to_owned()),
            "good night" => Ok("buenas noches".to_owned()),
            _ => Err(TranslateError::Unknown(word.to_owned())),
        }
    }

    /// Synchronous and without a `Result`: takes hooks that are synchronous and cannot fail.
    fn print(&self, text: &str) {
        println!("  {text}");
    }
}

/// Runs for every translator of the program, after the hooks of the instance.
#[class_hook(Translator::POST_REPLY, name = "stamp", priority = 500)]
fn stamp(_: &Translator, _: &TranslatorReplyArgs, reply: &mut String) {
    reply.push_str(" [checked]");
}

/// An async function by name; `?` works on any error.
async fn audit(agent: &Translator, args: &TranslatorReplyArgs, reply: &mut String) -> HookResult {
    agent.print(&format!("audit: {} -> {reply}", args.word));
    Ok(())
}

fn add_hooks(agent: &Translator) {
    // Changes the arguments in place.
    agent.register_instance_hook(
        Translator::PRE_REPLY,
        "lower case",
        |_: &Translator, args: &mut TranslatorReplyArgs| args.word = args.word.to_lowercase(),
    );
    // Looks, and perhaps replaces.
    agent.register_instance_hook(
        Translator::PRE_REPLY,
        "no bye",
        |_: &Translator, args: &TranslatorReplyArgs| -> Option<TranslatorReplyArgs> {
            (args.word == "bye").then(|| TranslatorReplyArgs { word: "good night".to_owned() })
        },
    );
    // An async closure that captures; it answers in place of the body.
    let cache = Mutex::new(vec![("thank you".to_owned(), "gracias".to_owned())]);
    agent.register_instance_hook(
        Translator::PRE_REPLY,
        "cache",
        hook!(Translator::PRE_REPLY, async move |_, args| {
            let cache = cache.lock().await;
            match cache.iter().find(|(word, _)| *word == args.word) {
                Some((_, known)) => ControlFlow::Break(known.clone()),
                None => ControlFlow::Continue(()),
            }
        }),
    );
    agent.register_instance_hook(Translator::POST_REPLY, "audit", audit);
    let start = Instant::now();
    agent.register_instance_hook(
        Translator::PRE_PRINT,
        "clock",
        move |_: &Translator, args: &mut TranslatorPrintArgs| {
            args.text = format!("[{} s] {}", start.elapsed().as_secs(), args.text);
        },
    );
}

#[tokio::main]
async fn main() -> Result<(), TranslateError> {
    let agent = Translator::default();
    add_hooks(&agent);
    println!("{}", agent.hook_plan());

    for word in ["Good morning", "Bye", "Thank you"] {
        println!("{word}: {}", agent.reply(word).await?);
    }
    println!("the body ran {} times of 3", agent.lookups.load(Ordering::Relaxed));

    let Err(error) = agent.reply("Good grief").await else { unreachable!("there is no such word") };
    println!("Good grief: {error}");
    Ok(())
}
