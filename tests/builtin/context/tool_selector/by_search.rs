//! Tools that a search finds.

use futures::executor::block_on;
use hooks_agent_builtin::context::ToolSelector;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use proptest::prelude::*;

use super::{agent, offered, tool};

/// The names that a search chooses of these tools.
fn found(tools: &[(&str, &str)], most: usize, text: &str) -> Vec<String> {
    let script = Script::new().says("done");
    let agent = ReActAgent::builder("bot").model(script.clone());
    let agent = agent.tools(tools.iter().map(|(name, about)| tool(name, about)));
    let agent = agent.hook(ToolSelector::by_search(most)).build().unwrap();
    block_on(agent.call(text)).unwrap();
    offered(&script).remove(0)
}

const TOOLS: [(&str, &str); 12] = [
    ("github_create_issue", "Opens a ticket in a repository."),
    ("listCalendarEvents", "Returns the appointments of a week."),
    ("send_mail", "Writes to somebody by e-mail."),
    ("getHTTPStatus", "Fetches a page and returns its code."),
    ("convert_currency", "Changes money from euros to dollars."),
    ("query_database", "Runs a query and returns rows."),
    ("plan_route", "Finds the way between two places."),
    ("weather_cn", "查询城市的天气预报。"),
    ("stock_cn", "查询股票的价格。"),
    ("translate_ja", "文章を翻訳する。"),
    ("alarm_ko", "알람을 설정합니다."),
    ("resize_image", "Makes a picture smaller."),
];

#[test]
fn words_of_names_and_descriptions_are_found_in_their_forms() {
    for (text, expected) in [
        ("Create two issues on GitHub", "github_create_issue"),
        ("creating an ISSUE", "github_create_issue"),
        ("What is in my calendar this week?", "listCalendarEvents"),
        ("Is there an event today", "listCalendarEvents"),
        ("Send mails to Ada", "send_mail"),
        ("Which http status has example.com?", "getHTTPStatus"),
        ("getHttpStatus", "getHTTPStatus"),
        ("How many dollars are 5 euro", "convert_currency"),
        ("Several queries to databases, please", "query_database"),
        ("I am planning routes", "plan_route"),
        ("fetching", "getHTTPStatus"),
        ("Opened tickets", "github_create_issue"),
        ("pictures: resizing", "resize_image"),
        ("北京今天天气怎么样？", "weather_cn"),
        ("股票多少钱", "stock_cn"),
        ("この文章を英語に翻訳してください", "translate_ja"),
        ("알람을 맞춰 줘", "alarm_ko"),
    ] {
        assert_eq!(found(&TOOLS, 1, text), [expected], "{text}");
    }
}

#[test]
fn no_more_are_chosen_than_match() {
    assert_eq!(found(&TOOLS, 5, "Resize a picture"), ["resize_image"]);
    assert_eq!(found(&TOOLS, 5, "查询"), ["weather_cn", "stock_cn"]);
}

#[test]
fn a_name_counts_more_than_a_description() {
    let tools = [
        ("other", "Mail, among much else: letters, parcels and postcards, all over the world."),
        ("mail", "Writes."),
        ("c", "Counts."),
        ("d", "Draws."),
        ("e", "Ends."),
    ];
    assert_eq!(found(&tools, 1, "mail"), ["mail"]);
}

#[test]
fn a_text_without_words_of_a_tool_keeps_the_choice_before_it() {
    let script = Script::new().says("1").says("2").says("3").says("4");
    let agent = agent(&script, ToolSelector::by_search(2));
    for text in ["Yes, please", "the weather", "Yes, please", "!?"] {
        block_on(agent.call(text)).unwrap();
    }
    let first = ["get_weather", "search_web"].map(str::to_owned).to_vec();
    let weather = vec!["get_weather".to_owned()];
    assert_eq!(offered(&script), [first, weather.clone(), weather.clone(), weather]);
}

#[test]
fn an_image_alone_chooses_as_a_text_without_words() {
    let script = Script::new().says("1");
    let image = hooks_agent_core::message::Media::bytes("image/png", b"png");
    let msg = Msg::from_blocks(Role::User, "user", vec![ContentBlock::Image(image)]);
    block_on(agent(&script, ToolSelector::by_search(2)).call(msg)).unwrap();
    assert_eq!(offered(&script)[0], ["get_weather", "search_web"]);
}

proptest! {
    /// Whatever the texts, at most the limit is offered, all of the agent, in its order, each once.
    #[test]
    fn at_most_the_limit_is_offered(
        abouts in prop::collection::vec("[a-z人天气 _A-Z0-9.]{0,20}|\\PC{0,12}", 1..12),
        text in "[a-z人天气 _A-Z0-9.]{0,30}|\\PC{0,20}",
        most in 0..6usize,
    ) {
        let names: Vec<_> = (0..abouts.len()).map(|place| format!("tool_{place}")).collect();
        let tools: Vec<_> =
            names.iter().zip(&abouts).map(|(name, about)| (name.as_str(), about.as_str())).collect();
        let found = found(&tools, most, &text);
        prop_assert!(found.len() <= most);
        let places: Vec<_> = found.iter().map(|name| names.iter().position(|it| it == name)).collect();
        prop_assert!(places.iter().all(Option::is_some));
        prop_assert!(places.is_sorted() && places.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
