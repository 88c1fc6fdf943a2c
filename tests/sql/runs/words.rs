//! Runs are found by the words of their texts, in both databases the same ones.

use hooks_agent_core::store::{RunError, RunFilter, StoreError, text_words, words_of};
use proptest::prelude::{ProptestConfig, Strategy, prop, prop_oneof};
use proptest::test_runner::{TestError, TestRunner};

use crate::backend::{Backend, on_each, postgres, sqlite};
use crate::runs::{NOON, listed, run, runs};

on_each! {
    each_word_begins_a_word_of_the_text,
    no_text_is_syntax,
    too_many_words_are_refused,
}

async fn each_word_begins_a_word_of_the_text(backend: &Backend) {
    let store = backend.store().await;
    let texts = [
        ("bank", "The BANK refused: timeout_error at bank-7.example.com (42 %)"),
        ("street", "Größe Straße ÆON Ünder"),
        ("kyiv", "Київ платить 12,50 €"),
        ("greek", "ΑΘΗΝΑ ναι"),
        ("tokyo", "東京 支払い"),
        ("hindi", "हिन्दी पाठ"),
        ("math", "x² ½ 𝔘nicode Ⅷ ŉ İstanbul"),
        ("long", &"a1".repeat(100)),
        ("empty", "— … !!"),
    ];
    let added = texts.iter().zip(0..).map(|((name, text), number)| {
        let mut run = run(name, NOON + number);
        run.text = (*text).into();
        run
    });
    runs(&store).add(added.collect()).await.unwrap();
    let none = Vec::<&str>::new();
    for (words, expected) in [
        ("bank", vec!["bank"]),
        ("BANK re", vec!["bank"]),
        ("tim err", vec!["bank"]),
        ("rror", none.clone()),
        ("bank paid", none.clone()),
        ("bank-7.exam", vec!["bank"]),
        ("4", vec!["bank"]),
        ("GRÖSSE", none.clone()),
        ("größ str", vec!["street"]),
        ("stra", vec!["street"]),
        ("æo ü", vec!["street"]),
        ("київ", vec!["kyiv"]),
        ("ПЛАТ 12", vec!["kyiv"]),
        ("αθη ΝΑ", vec!["greek"]),
        ("東", vec!["tokyo"]),
        ("支払", vec!["tokyo"]),
        ("京", none.clone()),
        ("हिन्दी", vec!["hindi"]),
        ("½ x²", vec!["math"]),
        ("𝔘ni", vec!["math"]),
        ("ⅷ", vec!["math"]),
        ("ŉ", vec!["math"]),
        ("İst", vec!["math"]),
        (&"a1".repeat(90), vec!["long"]),
        ("a1a1", vec!["long"]),
    ] {
        assert_eq!(listed(&store, RunFilter::all().words(words)).await, expected, "{words}");
    }
}

async fn no_text_is_syntax(backend: &Backend) {
    let store = backend.store().await;
    let mut one = run("one", NOON);
    one.text = "pay or not, near the null column words".into();
    runs(&store).add(vec![one]).await.unwrap();
    for words in [
        "",
        " ",
        "\"",
        "'",
        "*",
        "()",
        "' OR '1'='2",
        "\"a\" OR \"b\"",
        "^",
        "\0",
        "$1",
        "--",
        ";",
        "pay NOT words x",
        "words : none",
        "{words} : none",
        "NEAR(pay none)",
        "-:!&|<->",
        ":*",
        "\\",
        "%",
        "_",
        "🦀",
        "\u{301}",
        "pay AND none",
        "none'); DROP TABLE run; --",
    ] {
        assert_eq!(listed(&store, RunFilter::all().words(words)).await, [""; 0], "{words:?}");
    }
    for words in
        ["pay*", "\"pay", "pay\0not", "'pay':* & not", "NOT pay", "NEAR", "or", "words:pay", "null"]
    {
        assert_eq!(listed(&store, RunFilter::all().words(words)).await, ["one"], "{words:?}");
    }
}

async fn too_many_words_are_refused(backend: &Backend) {
    let store = backend.store().await;
    let words: Vec<_> = (0..17).map(|number| format!("w{number}")).collect();
    let most = RunFilter::all().words(words[1..].join(" "));
    assert_eq!(listed(&store, most).await, [""; 0]);
    let error = runs(&store).list(RunFilter::all().words(words.join(" "))).await.unwrap_err();
    assert!(
        matches!(error, StoreError::Run(RunError::TooManyWords { found: 17, most: 16 })),
        "{error:?}"
    );
    let same = RunFilter::all().words("word ".repeat(10_000));
    assert_eq!(listed(&store, same).await, [""; 0]);
}

/// Any text, in few letters so that words meet.
fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof!["[abAB]{1,3}", "[äÄöß]{1,2}", "\\PC{0,2}", "[\"'*:&|()\\\\ -]{1,2}"];
    prop::collection::vec(word, 0..6).prop_map(|words| words.join(" "))
}

/// Whether each word of one text begins a word of the other.
fn matches(text: &str, words: &str) -> bool {
    let (text, words) = (text_words(text), text_words(words));
    let has = |word: &str| text.split(' ').any(|of_text| of_text.starts_with(word));
    !words.is_empty() && words.split(' ').all(has)
}

#[test]
fn the_words_of_words_are_the_same() {
    let config = ProptestConfig { failure_persistence: None, ..Default::default() };
    let texts = prop_oneof![".{0,200}", "[İŐΣßǅ]{0,100}", "\\PC{0,200}"];
    let tested = TestRunner::new(config).run(&texts, |text| {
        let words = words_of(&text);
        let again = words.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
        assert_eq!(words_of(&again), words);
        Ok(())
    });
    tested.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(text_words("İstanbul"), "istanbul");
}

#[test]
fn whatever_is_searched_both_databases_find_the_runs_whose_words_begin_so() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let backends: Vec<Backend> = runtime
        .block_on(async { [Some(sqlite()), postgres().await].into_iter().flatten().collect() });
    let config = ProptestConfig { cases: 48, failure_persistence: None, ..Default::default() };
    let cases = (prop::collection::vec(text(), 1..6), prop::collection::vec(text(), 1..6));
    let tested = TestRunner::new(config).run(&cases, |(texts, searched)| {
        for backend in &backends {
            runtime.block_on(async {
                let store = backend.store().await;
                runs(&store).prune_runs(u64::MAX).await.unwrap();
                let added = texts.iter().zip(0..).map(|(text, number)| {
                    let mut run = run(&number.to_string(), NOON - number);
                    run.text.clone_from(text);
                    run
                });
                runs(&store).add(added.collect()).await.unwrap();
                for words in &searched {
                    let expected =
                        texts.iter().enumerate().filter(|(_, text)| matches(text, words));
                    let expected: Vec<_> = expected.map(|(at, _)| at.to_string()).collect();
                    let found = listed(&store, RunFilter::all().words(words)).await;
                    assert_eq!(found, expected, "{words:?} in {texts:?}");
                }
            });
        }
        Ok(())
    });
    match tested {
        Ok(()) => {}
        Err(TestError::Fail(reason, case)) => panic!("{reason}: {case:?}"),
        Err(error) => panic!("{error}"),
    }
}
