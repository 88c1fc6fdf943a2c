//! Words of many languages.

use crate::text_index::{Place, first, sources};

#[tokio::test]
async fn english_is_found_by_other_forms_of_a_word() {
    let place =
        Place::new(&[("a.md", "The agents were running quickly."), ("b.md", "Nothing here.")]);
    let index = place.open().await;
    for query in ["agent", "AGENTS", "run", "runs", "Running agent"] {
        assert_eq!(sources(&index, query).await, ["a.md"], "{query}");
    }
}

#[tokio::test]
async fn each_document_has_the_stems_of_its_language() {
    let german = "Die Häuser in der Straße waren alt, und die Kinder spielten in den Gärten hinter \
        dem Haus, bis die Sonne unterging und die Mutter sie rief.";
    let french = "Les maisons de la rue étaient anciennes et les enfants jouaient dans les jardins \
        derrière la maison jusqu'au coucher du soleil.";
    let russian =
        "Дома на этой улице были старыми, и дети играли в садах за домом до заката солнца.";
    let place = Place::new(&[("de.md", german), ("fr.md", french), ("ru.md", russian)]);
    let index = place.open().await;
    assert_eq!(sources(&index, "Garten").await, ["de.md"]);
    assert_eq!(sources(&index, "spielte").await, ["de.md"]);
    assert_eq!(sources(&index, "ancien jardin").await, ["fr.md"]);
    assert_eq!(sources(&index, "старый сад").await, ["ru.md"]);
}

#[tokio::test]
async fn chinese_japanese_korean_and_thai_are_found_without_spaces() {
    let place = Place::new(&[
        ("zh.md", "钩子在工具运行之前检查参数，并且可以拒绝调用。"),
        ("zh-tw.md", "資料庫備份之後應該再刪除一次對話。"),
        ("ja.md", "エージェントはツールを呼び出す前に人に確認します。"),
        ("ko.md", "에이전트는 도구를 실행하기 전에 사람에게 물어봅니다."),
        ("th.md", "ตัวแทนจะถามคนก่อนเรียกใช้เครื่องมือ"),
    ]);
    let index = place.open().await;
    for (query, source) in [
        ("检查参数", "zh.md"),
        ("谁拒绝了调用？", "zh.md"),
        ("鉤", "zh-tw.md"),
        ("資料庫怎麼備份", "zh-tw.md"),
        ("エージェントの確認", "ja.md"),
        ("ツール", "ja.md"),
        ("도구 실행", "ko.md"),
        ("เครื่องมือ", "th.md"),
    ] {
        let found = sources(&index, query).await;
        if query == "鉤" {
            assert_eq!(found, [""; 0]);
        } else {
            assert_eq!(found.first().map(String::as_str), Some(source), "{query}: {found:?}");
        }
    }
}

#[tokio::test]
async fn a_single_character_is_found() {
    let place = Place::new(&[("a.md", "我家有一只猫咪。"), ("b.md", "今天下雨。")]);
    assert_eq!(sources(&place.open().await, "猫").await, ["a.md"]);
}

#[tokio::test]
async fn wide_and_narrow_forms_of_a_letter_are_the_same() {
    let place = Place::new(&[("a.md", "ＡＰＩ　キー と ｶﾀｶﾅ"), ("b.md", "ﬁle and Straße")]);
    let index = place.open().await;
    assert_eq!(sources(&index, "api").await, ["a.md"]);
    assert_eq!(sources(&index, "カタカナ").await, ["a.md"]);
    assert_eq!(sources(&index, "FILE").await, ["b.md"]);
}

#[tokio::test]
async fn words_beside_chinese_text_are_found() {
    let place = Place::new(&[("a.md", "使用PostgreSQL数据库保存对话threads。"), ("b.md", "其他")]);
    let index = place.open().await;
    assert_eq!(sources(&index, "postgresql").await, ["a.md"]);
    assert_eq!(sources(&index, "thread").await, ["a.md"]);
}

#[tokio::test]
async fn names_are_found_whole_and_by_their_parts() {
    let place = Place::new(&[
        ("a.md", "`CallContext::hook_state` and `HTTPServer`"),
        ("b.md", "nothing of it"),
    ]);
    let index = place.open().await;
    for query in
        ["CallContext", "callcontext", "call context", "hook state", "hook_state", "server"]
    {
        assert_eq!(first(&index, query).await.source, "a.md", "{query}");
    }
}

#[tokio::test]
async fn common_words_alone_are_searched_too() {
    let place = Place::new(&[("a.md", "to be or not to be"), ("b.md", "apples")]);
    assert_eq!(sources(&place.open().await, "to be").await, ["a.md"]);
}
