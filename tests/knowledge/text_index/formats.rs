//! Markdown, plain text, HTML and PDF, cut into passages.

use std::fmt::Write;
use std::fs;
use std::time::{Duration, Instant};

use hooks_agent_knowledge::{Knowledge, TextIndex};
use proptest::prelude::*;

use crate::text_index::{Place, first, sources};

#[tokio::test]
async fn markdown_is_cut_at_headings_and_has_their_path() {
    let text =
        "# Guide\n\nIntro.\n\n## Install\n\nUse cargo.\n\n### Linux\n\nUse apt.\n\n## Run\n\nGo.\n";
    let place = Place::new(&[("a.md", text)]);
    let index = place.open().await;
    let found = first(&index, "apt").await;
    assert_eq!(found.text, "### Linux\n\nUse apt.");
    assert_eq!(found.title.as_deref(), Some("Guide > Install > Linux"));
    assert_eq!(found.lines, Some(9..=11));
    assert_eq!(&text[found.range], "### Linux\n\nUse apt.");
    assert_eq!(first(&index, "cargo").await.text, "## Install\n\nUse cargo.");
    assert_eq!(first(&index, "go").await.title.as_deref(), Some("Guide > Run"));
    // A heading above finds what is below.
    assert_eq!(first(&index, "install linux").await.text, "### Linux\n\nUse apt.");
}

#[tokio::test]
async fn a_heading_in_a_block_of_code_is_none() {
    let text = "# A\n\n```sh\n# comment about pears\n```\n\nMore.\n";
    let place = Place::new(&[("a.md", text)]);
    let found = first(&place.open().await, "pears").await;
    assert_eq!((found.title.as_deref(), found.lines), (Some("A"), Some(1..=7)));
}

#[tokio::test]
async fn plain_text_is_cut_at_empty_lines() {
    let paragraphs = ["apples ".repeat(80), "bananas ".repeat(80), "cherries ".repeat(80)];
    let place = Place::new(&[("a.txt", &paragraphs.join("\n\n"))]);
    let found = first(&place.open().await, "bananas").await;
    assert_eq!(found.text, paragraphs[1].trim_end());
    assert_eq!((found.title, found.lines), (None, Some(3..=3)));
}

#[tokio::test]
async fn html_is_its_text_without_scripts() {
    let html = "<html><head><title>T</title><script>evil()</script><style>p{}</style></head><body>\
        <h1>Guide</h1><p>Eat <b>apples</b> &amp; pears.</p><h2>Notes</h2><ul><li>One cherry</li></ul>\
        <table><tr><td>left</td><td>right</td></tr></table></body></html>";
    let place = Place::new(&[("a.html", html)]);
    let index = place.open().await;
    let found = first(&index, "apples").await;
    assert!(found.text.contains("Eat apples & pears."), "{found:?}");
    assert_eq!((found.title.as_deref(), found.lines), (Some("Guide"), None));
    assert_eq!(first(&index, "cherry").await.title.as_deref(), Some("Guide > Notes"));
    assert_eq!(sources(&index, "evil").await, [""; 0]);
}

#[tokio::test]
async fn deeply_nested_html_is_read_or_refused() {
    let place = Place::new(&[("ok.html", "<p>apples")]);
    place.write("deep.html", format!("{}pears", "<div>".repeat(2_000)));
    let index = place.open().await;
    assert_eq!(sources(&index, "apples").await, ["ok.html"]);
}

#[tokio::test]
async fn html_that_is_nested_too_deeply_is_skipped_at_once_with_the_reason() {
    let place = Place::new(&[]);
    let count = 20_000;
    place.write("div.html", format!("{}pears", "<div>".repeat(count)));
    place.write("mixed.html", format!("{}pears", "<p><B class='>'></i><li>".repeat(count)));
    let flat = ["<p>apples<br>", "<div><img src=a></div>", "<ul><li>a<li>b</ul>", "<!-- <div> -->"];
    let flat = flat.map(|part| part.repeat(600)).concat();
    place.write("flat.html", format!("{flat}<script>'<div>'</script>"));
    let began = Instant::now();
    let index = place.open().await;
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert_eq!(first(&index, "apples").await.source, "flat.html");
    let skipped = index.refresh().await.unwrap().skipped;
    let sources: Vec<_> = skipped.iter().map(|it| &*it.source).collect();
    assert_eq!(sources, ["div.html", "mixed.html"]);
    assert!(skipped.iter().all(|it| it.reason.contains("nested")), "{skipped:?}");
}

/// A PDF of pages with one line each.
fn pdf(pages: &[&str]) -> Vec<u8> {
    let mut objects = vec!["<< /Type /Catalog /Pages 2 0 R >>".to_owned(), String::new()];
    objects.push(
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".into(),
    );
    let mut kids = String::new();
    for page in pages {
        let content = format!("BT /F1 12 Tf 72 720 Td ({page}) Tj ET");
        objects.push(format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()));
        let stream = objects.len();
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {stream} 0 R \
             /Resources << /Font << /F1 3 0 R >> >> >>"
        ));
        let _ = write!(kids, "{} 0 R ", objects.len());
    }
    objects[1] = format!("<< /Type /Pages /Kids [{kids}] /Count {} >>", pages.len());
    let mut file = "%PDF-1.4\n".to_owned();
    let mut offsets = Vec::new();
    for (number, object) in (1..).zip(&objects) {
        offsets.push(file.len());
        let _ = write!(file, "{number} 0 obj\n{object}\nendobj\n");
    }
    let start = file.len();
    let _ = write!(file, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for at in &offsets {
        let _ = writeln!(file, "{at:010} 00000 n ");
    }
    let size = objects.len() + 1;
    let _ = write!(file, "trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n");
    file.into_bytes()
}

#[tokio::test]
async fn pdf_is_the_text_of_its_pages() {
    let place = Place::new(&[]);
    place.write("a.pdf", pdf(&["Apples are red.", "Bananas are yellow."]));
    let found = first(&place.open().await, "bananas").await;
    assert!(found.text.contains("Bananas are yellow."), "{found:?}");
    assert_eq!((found.title.as_deref(), found.lines), (Some("Page 2"), None));
}

#[tokio::test]
async fn a_broken_pdf_is_skipped_and_the_others_are_read() {
    let place = Place::new(&[("ok.md", "apples")]);
    let whole = pdf(&["pears"]);
    place.write("cut.pdf", &whole[..whole.len() / 2]);
    place.write("none.pdf", "no PDF at all");
    place.write("empty.pdf", "");
    let index = place.open().await;
    assert_eq!(sources(&index, "apples").await, ["ok.md"]);
    let skipped = index.refresh().await.unwrap().skipped;
    let names: Vec<_> = skipped.iter().map(|it| &*it.source).collect();
    assert_eq!(names, ["cut.pdf", "empty.pdf", "none.pdf"]);
}

#[tokio::test]
async fn a_long_line_is_cut_between_sentences_or_anywhere() {
    let place = Place::new(&[]);
    place.write("a.md", "苹果是红色的。".repeat(1000));
    place.write("b.txt", "x".repeat(5000));
    let index = TextIndex::builder(place.documents(), place.index()).passage_size(300);
    let index = index.open().await.unwrap();
    let found = index.search("苹果", 100).await.unwrap();
    assert!(found.len() > 20);
    for passage in found {
        assert!(passage.text.chars().count() <= 300 && passage.text.ends_with('。'), "{passage:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the document: its passages are in it where they say, in order, not too long, and have
    /// every word of it.
    #[test]
    fn passages_are_the_document_cut_into_pieces(
        blocks in prop::collection::vec(
            prop_oneof![
                // No word of one letter and none with a vowel: a passage of nothing but stop words of
                // some language, such as "be", is not found.
                "([bcdf]{2,4} ){0,3}", "#{1,3} [bcdf]{2,4}", "(- [bcdf]{2,4}\n){1,3}",
                "```\n# [bcdf]{2}\n```", "[钩子工具。]{1,200}", "([bcdfgh]{2,9} ){40,60}",
                "> [bcdf]{2,4}", "<b>[bcdf]{2}</b>", "\\*\\*\\*",
            ],
            0..12,
        ),
        ending in prop_oneof![Just("md"), Just("txt")],
        newline in prop_oneof![Just("\n\n"), Just("\n"), Just("\r\n\r\n")],
    ) {
        let text = format!("zebra{newline}{}", blocks.join(newline));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let place = Place::new(&[(&format!("a.{ending}"), &text)]);
            let index = TextIndex::builder(place.documents(), place.index()).passage_size(100);
            let index = index.open().await.unwrap();
            let everything = format!("zebra {text}");
            let mut found = index.search(&everything, 1000).await.unwrap();
            found.sort_by_key(|passage| passage.range.start);
            let mut end = 0;
            for passage in &found {
                assert_eq!(&text[passage.range.clone()], passage.text);
                assert!(passage.range.start >= end && passage.text.chars().count() <= 100);
                let lines = passage.lines.clone().unwrap();
                assert_eq!(*lines.start(), text[..passage.range.start].matches('\n').count() + 1);
                assert_eq!(*lines.end(), lines.start() + passage.text.matches('\n').count());
                let between = &text[end..passage.range.start];
                assert!(!between.contains(char::is_alphanumeric), "{between:?} of {text:?}");
                end = passage.range.end;
            }
            assert!(!text[end..].contains(char::is_alphanumeric), "{:?}", &text[end..]);
        });
    }
}

#[test]
fn outside_of_a_runtime_the_index_works_too() {
    let place = Place::new(&[("a.md", "apples")]);
    let found = futures::executor::block_on(async { sources(&place.open().await, "apples").await });
    assert_eq!(found, ["a.md"]);
    assert!(fs::exists(place.index().join("meta.json")).unwrap());
}
