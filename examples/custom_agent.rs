//! A plain struct made hookable with `hooks-core` alone.
use hooks_core::{Flow, HookError, HookResult, Hookable, Hooks, class_hook, hook, hookable};

#[derive(Hookable, Default)]
struct Translator {
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
    async fn reply(&self, word: &str, style: Option<&str>) -> Result<String, TranslateError> {
        self.print(word);
        match word {
            "hello" => Ok(format!("hola{}", style.unwrap_or_default())),
            _ => Err(TranslateError::Unknown(word.to_owned())),
        }
    }

    fn print(&self, text: &str) {
        println!("{text}");
    }

    #[hook]
    async fn learn(&mut self, word: String, meaning: Vec<String>) -> usize {
        word.len() + meaning.len()
    }

    #[hook]
    fn forget(&mut self, words: &[String]) -> usize {
        words.len()
    }
}

async fn audit(_: &Translator, args: &TranslatorReplyArgs, reply: &mut String) -> HookResult {
    println!("audit: {} -> {reply}", args.word);
    Ok(())
}

#[class_hook(Translator::POST_REPLY, name = "stamp", priority = 500)]
async fn stamp(_: &Translator, _: &TranslatorReplyArgs, reply: &mut String) -> HookResult {
    reply.push_str(" [stamped]");
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut agent = Translator::default();
    agent.register_instance_hook(
        Translator::PRE_REPLY,
        "trim",
        |_: &Translator, args: &mut TranslatorReplyArgs| args.word = args.word.trim().to_owned(),
    );
    agent.register_instance_hook(
        Translator::PRE_REPLY,
        "lower",
        |_: &Translator, args: &TranslatorReplyArgs| -> Option<TranslatorReplyArgs> {
            Some(TranslatorReplyArgs { word: args.word.to_lowercase(), ..args.clone() })
        },
    );
    agent.register_instance_hook(Translator::POST_REPLY, "audit", audit);
    agent.register_instance_hook(
        Translator::PRE_REPLY,
        "async look",
        async |_: &Translator, args: &TranslatorReplyArgs| {
            if args.word == "cached" { Flow::Return("cached!".to_owned()) } else { Flow::Continue }
        },
    );
    let known = vec!["hello".to_owned()];
    let lock = tokio::sync::Mutex::new(0);
    agent.register_instance_hook(
        Translator::PRE_REPLY,
        "policy",
        hook!(Translator::PRE_REPLY, async move |_, args| {
            *lock.lock().await += 1;
            if !known.contains(&args.word) {
                let _: i32 = args.word.parse()?;
            }
            Ok(())
        }),
    );
    agent.register_instance_hook(
        Translator::POST_REPLY,
        "count",
        hook!(Translator::POST_REPLY, async move |agent, args, reply: &mut String| {
            agent.print(&args.word);
            reply.push('.');
        }),
    );
    agent.register_instance_hook(
        Translator::PRE_PRINT,
        "p",
        |_: &Translator, args: &mut TranslatorPrintArgs| args.text.insert(0, '>'),
    );
    agent.register_instance_hook(
        Translator::PRE_LEARN,
        "p",
        |_: &Translator, args: &mut TranslatorLearnArgs| args.word.push('x'),
    );
    agent.register_instance_hook(
        Translator::POST_FORGET,
        "p",
        |_: &Translator, _: &TranslatorForgetArgs, n: &usize| Some(n + 1),
    );
    println!("{}", agent.hook_plan());
    println!(
        "{:?}",
        tokio::spawn(async move {
            let r = agent.reply(" Hello ", Some("!")).await;
            println!("{r:?}");
            println!("{:?}", agent.reply("cached", None).await);
            println!("{} {}", agent.learn("ab".into(), vec![]).await, agent.forget(&[]));
            agent.reply(" World ", Some("!")).await
        })
        .await?
    );
    Ok(())
}
