//! Images, audio and files that tools return, as each provider wants them.

use hooks_agent_core::message::{ContentBlock, ToolOutput};
use hooks_agent_core::react::ReActAgent;
use hooks_agent_core::tool::FunctionTool;
use serde_json::json;

use crate::media::attached::{
    PNG, PNG_URL, anthropic, audio, image, image_url, ollama, openai, outputs, pdf, sent,
    sent_to_gemini,
};
use crate::provider::{Answer, City, Provider, ask};

#[tokio::test]
async fn text_blocks_of_an_output_follow_its_text() {
    let output = ToolOutput::text("sunny").with_block(ContentBlock::text("21 degrees"));
    for model in [openai, ollama] {
        let messages = sent(model, outputs(output.clone(), "cold".into())).await;
        assert_eq!(messages[2]["content"], "sunny\n21 degrees");
    }
    let messages = sent(anthropic, outputs(output.clone(), "cold".into())).await;
    assert_eq!(messages[2]["content"][0]["content"], "sunny\n21 degrees");
    let contents = sent_to_gemini(outputs(output, "cold".into())).await;
    let response = &contents[2]["parts"][0]["functionResponse"]["response"];
    assert_eq!(response["content"], "sunny\n21 degrees");
}

#[tokio::test]
async fn anthropic_gets_media_of_a_tool_in_its_result() {
    let rome = ToolOutput::text("sunny").with_block(image_url()).with_block(pdf());
    let oslo = ToolOutput::text("").with_block(image());
    let messages = sent(anthropic, outputs(rome, oslo)).await;
    let data = json!({ "type": "base64", "media_type": "application/pdf", "data": "YWJj" });
    assert_eq!(
        messages[2],
        json!({
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "call-1",
                    "content": [
                        { "type": "text", "text": "sunny" },
                        { "type": "image", "source": { "type": "url", "url": PNG_URL } },
                        { "type": "document", "source": data, "title": "a.pdf" },
                    ],
                },
                {
                    "type": "tool_result",
                    "tool_use_id": "call-2",
                    "content": [{
                        "type": "image",
                        "source": { "type": "base64", "media_type": "image/png", "data": PNG },
                    }],
                },
            ],
        })
    );
    assert_eq!(messages[3], json!({ "role": "user", "content": "And?" }));
}

const FROM_ROME: &str = "From the tool `weather`, as part of the result `call-1`:";
const FROM_OSLO: &str = "From the tool `weather`, as part of the result `call-2`:";

#[tokio::test]
async fn openai_gets_media_of_tools_after_the_last_result() {
    let rome = ToolOutput::text("sunny").with_block(image_url());
    let oslo = ToolOutput::text("cold").with_block(pdf()).with_block(ContentBlock::text("now"));
    let messages = sent(openai, outputs(rome, oslo)).await;
    let file = json!({ "filename": "a.pdf", "file_data": "data:application/pdf;base64,YWJj" });
    assert_eq!(
        messages.as_array().unwrap()[2..],
        [
            json!({ "role": "tool", "content": "sunny", "tool_call_id": "call-1" }),
            json!({ "role": "tool", "content": "cold\nnow", "tool_call_id": "call-2" }),
            json!({
                "role": "user",
                "content": [
                    { "type": "text", "text": FROM_ROME },
                    { "type": "image_url", "image_url": { "url": PNG_URL } },
                    { "type": "text", "text": FROM_OSLO },
                    { "type": "file", "file": file },
                ],
            }),
            json!({ "role": "user", "content": "And?" }),
        ]
    );
}

#[tokio::test]
async fn media_of_the_last_message_are_sent() {
    let mut messages = outputs("sunny".into(), ToolOutput::text("cold").with_block(image_url()));
    messages.pop();
    let messages = sent(openai, messages).await;
    assert_eq!(messages[4]["content"][1]["image_url"]["url"], PNG_URL);
}

#[tokio::test]
async fn gemini_gets_media_of_tools_after_all_results() {
    let rome = ToolOutput::text("sunny").with_block(audio("audio/wav"));
    let contents = sent_to_gemini(outputs(rome, "cold".into())).await;
    let responses = contents[2]["parts"].as_array().unwrap();
    assert!(responses.iter().all(|part| part.get("functionResponse").is_some()), "{contents}");
    assert_eq!(responses.len(), 2);
    assert_eq!(
        contents[3],
        json!({
            "role": "user",
            "parts": [
                { "text": FROM_ROME },
                { "inline_data": { "mime_type": "audio/wav", "data": "YWJj" } },
            ],
        })
    );
}

#[tokio::test]
async fn ollama_gets_images_of_tools_after_all_results() {
    let oslo = ToolOutput::text("cold").with_block(image());
    let messages = sent(ollama, outputs("sunny".into(), oslo)).await;
    assert_eq!(messages[2], json!({ "role": "tool", "content": "sunny" }));
    assert_eq!(messages[3], json!({ "role": "tool", "content": "cold" }));
    assert_eq!(messages[4], json!({ "role": "user", "content": FROM_OSLO, "images": [PNG] }));
}

#[tokio::test]
async fn an_image_that_a_tool_of_an_agent_returns_is_sent() {
    let call = json!({ "function": { "name": "weather", "arguments": { "name": "Rome" } } });
    let call = json!({ "role": "assistant", "content": "", "tool_calls": [call] });
    let reply = json!({ "role": "assistant", "content": "Sunny." });
    let answers = [call, reply].map(|message| {
        let line = json!({ "message": message, "done": true, "eval_count": 1 });
        Answer::Whole(format!("{line}\n"))
    });
    let provider = Provider::start(answers.into()).await;
    let weather = FunctionTool::new("weather", "The weather now.", async |_: City| {
        ToolOutput::text("sunny").with_block(image())
    });
    let builder = ReActAgent::builder("bot").model(ollama(&provider.url)).tool(weather);
    let reply = ask(&builder.build().unwrap()).await.unwrap();
    assert_eq!(reply.text(), "Sunny.");
    let messages = &provider.last_body()["messages"];
    assert_eq!(messages[2], json!({ "role": "tool", "content": "sunny" }));
    assert_eq!(messages[3]["images"], json!([PNG]));
}
