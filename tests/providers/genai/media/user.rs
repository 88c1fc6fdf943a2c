//! Images, audio and files of the user, as each provider wants them, and which it does not take.

use axum::http::HeaderMap;
use hooks_agent_core::message::{ContentBlock, Media, Msg, Role, ToolOutput, ToolResult};
use serde_json::json;

use crate::media::attached::{
    Model, PNG, PNG_URL, anthropic, ask, audio, file, file_url, gemini, image, image_url, ollama,
    openai, outputs, pdf, refused, sent, sent_to_gemini, user,
};
use crate::provider::{Answer, Provider, weather};

#[tokio::test]
async fn openai_gets_images_audio_and_files_of_the_user() {
    let blocks = [
        image(),
        image_url(),
        audio("audio/wav"),
        audio("audio/x-wav"),
        audio("AUDIO/mpeg; rate=1"),
        pdf(),
        file("application/pdf"),
        file("image/png"),
    ];
    assert_eq!(
        sent(openai, user(blocks)).await[0]["content"],
        json!([
            { "type": "text", "text": "Look." },
            { "type": "image_url", "image_url": { "url": format!("data:image/png;base64,{PNG}") } },
            { "type": "image_url", "image_url": { "url": PNG_URL } },
            { "type": "input_audio", "input_audio": { "data": "YWJj", "format": "wav" } },
            { "type": "input_audio", "input_audio": { "data": "YWJj", "format": "wav" } },
            { "type": "input_audio", "input_audio": { "data": "YWJj", "format": "mp3" } },
            {
                "type": "file",
                "file": { "filename": "a.pdf", "file_data": "data:application/pdf;base64,YWJj" },
            },
            {
                "type": "file",
                "file": { "filename": "file.pdf", "file_data": "data:application/pdf;base64,YWJj" },
            },
            { "type": "image_url", "image_url": { "url": "data:image/png;base64,YWJj" } },
        ])
    );
}

#[tokio::test]
async fn anthropic_gets_images_pdf_and_text_files_of_the_user() {
    let blocks = [image(), image_url(), pdf(), file_url("application/pdf"), file("text/csv")];
    let data = json!({ "type": "base64", "media_type": "application/pdf", "data": "YWJj" });
    assert_eq!(
        sent(anthropic, user(blocks)).await[0]["content"],
        json!([
            { "type": "text", "text": "Look." },
            {
                "type": "image",
                "source": { "type": "base64", "media_type": "image/png", "data": PNG },
            },
            { "type": "image", "source": { "type": "url", "url": PNG_URL } },
            { "type": "document", "source": data, "title": "a.pdf" },
            { "type": "document", "source": { "type": "url", "url": "https://example.com/a" } },
            {
                "type": "document",
                "source": { "type": "text", "media_type": "text/plain", "data": "abc" },
            },
        ])
    );
}

#[tokio::test]
async fn gemini_gets_all_media_of_the_user() {
    let blocks = [image(), image_url(), audio("audio/L16;rate=24000"), file_url("video/mp4")];
    assert_eq!(
        sent_to_gemini(user(blocks)).await[0]["parts"],
        json!([
            { "text": "Look." },
            { "inline_data": { "mime_type": "image/png", "data": PNG } },
            { "file_data": { "mime_type": "image/png", "file_uri": PNG_URL } },
            { "inline_data": { "mime_type": "audio/L16;rate=24000", "data": "YWJj" } },
            { "file_data": { "mime_type": "video/mp4", "file_uri": "https://example.com/a" } },
        ])
    );
}

#[tokio::test]
async fn ollama_gets_images_of_the_user() {
    let upper = ContentBlock::Image(Media::bytes(" IMAGE/PNG ", "abc"));
    assert_eq!(
        sent(ollama, user([image(), upper])).await,
        json!([{ "role": "user", "content": "Look.", "images": [PNG, "YWJj"] }])
    );
}

#[tokio::test]
async fn what_a_provider_does_not_take_is_refused_with_a_remedy() {
    let ask_another = "send text or ask another provider";
    let send_bytes = "send the bytes or ask another provider";
    let audio_url = ContentBlock::Audio(Media::url("audio/wav", "https://example.com/a"));
    let cases: [(Model, ContentBlock, String); 11] = [
        (ollama, audio("audio/wav"), format!("Ollama takes no audio, {ask_another}")),
        (ollama, pdf(), format!("Ollama takes no PDF files, {ask_another}")),
        (ollama, file("text/plain"), format!("Ollama takes no text files, {ask_another}")),
        (ollama, image_url(), format!("Ollama takes no URLs of images, {send_bytes}")),
        (openai, audio_url.clone(), format!("OpenAI's API takes no URLs of audio, {send_bytes}")),
        (
            openai,
            file_url("application/pdf"),
            format!("OpenAI's API takes no URLs of PDF files, {send_bytes}"),
        ),
        (anthropic, audio("audio/wav"), format!("Anthropic takes no audio, {ask_another}")),
        (anthropic, audio_url, format!("Anthropic takes no audio, {ask_another}")),
        (anthropic, file("video/mp4"), format!("Anthropic takes no videos, {ask_another}")),
        (
            anthropic,
            file("application/zip"),
            format!("Anthropic takes no files of this MIME type, {ask_another}"),
        ),
        (
            anthropic,
            file_url("text/plain"),
            format!("Anthropic takes no URLs of text files, {send_bytes}"),
        ),
    ];
    for (model, block, reason) in cases {
        assert_eq!(refused(model, user([block.clone()])).await, reason);
        let output = ToolOutput::text("sunny").with_block(block);
        assert_eq!(refused(model, outputs(output, "cold".into())).await, reason);
    }
}

#[tokio::test]
async fn media_that_no_provider_can_read_are_refused() {
    let latin1 = ContentBlock::File(Media::bytes("text/plain", [0xe4]));
    let base64 = |data: &str| ContentBlock::Image(Media::base64("image/png", data));
    let no_base64 =
        "the data of an image is not base64 with padding, create it with `Media::bytes`";
    let cases = [
        (base64("iVBORw"), no_base64),
        (base64("iVBO Rw=="), no_base64),
        (base64("data:image/png;base64,iVBORw=="), no_base64),
        (latin1, "a text file is not UTF-8, convert it to UTF-8"),
        (
            ContentBlock::Image(Media::base64("application/pdf", "YWJj")),
            "an image needs a MIME type such as `image/png`",
        ),
        (audio("image/png"), "audio needs a MIME type such as `audio/wav`"),
        (file(""), "a file needs a MIME type such as `application/pdf`"),
        (file("pdf"), "a file needs a MIME type such as `application/pdf`"),
        (file("a/b,c"), "a file needs a MIME type such as `application/pdf`"),
    ];
    for (block, reason) in cases {
        for model in [openai, anthropic, gemini, ollama] {
            assert_eq!(refused(model, user([block.clone()])).await, reason);
        }
    }
}

#[tokio::test]
async fn media_outside_of_messages_of_the_user_and_results_are_refused() {
    let put = "put them in a message of the user";
    let cases = [
        (Role::System, format!("media are in a system message, {put}")),
        (Role::Assistant, format!("media are in a message of the model, {put}")),
        (Role::Tool, format!("media are in a message of a tool, outside of a result, {put}")),
    ];
    for (role, reason) in cases {
        for model in [openai, anthropic, gemini, ollama] {
            let msg = Msg::new(role, "x", "Look.").with(image());
            assert_eq!(refused(model, vec![Msg::user("go"), msg]).await, reason);
        }
    }
    let output = ToolOutput::text("sunny").with_block(image());
    let result = ToolResult::success(&weather("call-1", "Rome"), output);
    let reason = refused(openai, user([ContentBlock::ToolResult(result)])).await;
    assert_eq!(reason, "a tool result with blocks is not in a message of a tool, move it");
    let output = ToolOutput::text("sunny").with_block(ContentBlock::thinking("Hm."));
    let reason = refused(anthropic, outputs(output, "cold".into())).await;
    assert_eq!(
        reason,
        "the output of a tool has a block that is neither text nor an image, audio or a file, \
         return its text",
    );
}

#[tokio::test]
async fn an_error_has_nothing_of_media_that_it_quotes() {
    let secret = "the merger is to be announced on the third of the month";
    let media = Media::bytes("text/plain", secret);
    let in_output = ToolOutput::text("sunny").with_block(ContentBlock::text(secret));
    let cases = [
        user([ContentBlock::File(media.clone())]),
        outputs(ToolOutput::text("").with_block(ContentBlock::File(media)), "cold".into()),
        outputs(in_output, "cold".into()),
    ];
    for messages in cases {
        let body = json!({ "error": { "message": format!("Bad input '{secret}'") } }).to_string();
        let answer = Answer::Refused(400, HeaderMap::new(), body);
        let provider = Provider::start(vec![answer]).await;
        let error = ask(anthropic(&provider.url), messages).await.to_string();
        assert!(error.ends_with("status 400: Bad input '***'"), "{error}");
    }
}
