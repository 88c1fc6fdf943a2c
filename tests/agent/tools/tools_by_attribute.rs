//! Tools from functions and methods with `#[tool]`.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use futures::executor::block_on;
use hooks_agent_core::prelude::*;
use hooks_agent_core::tool::{Effect, Json, Tools};
use hooks_fixtures::scripted_agents::{go, results, script, uses};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug)]
struct NoForecast;

impl fmt::Display for NoForecast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no forecast")
    }
}

impl std::error::Error for NoForecast {}

/// The weather now.
///
/// In a city.
#[tool]
async fn weather(
    /// The name of the city,
    /// in English.
    city: String,
    days: Option<u8>,
) -> Result<String, NoForecast> {
    match days {
        Some(0) => Err(NoForecast),
        Some(days) => Ok(format!("{city} for {days} days")),
        None => Ok(city),
    }
}

fn context(name: &str, input: Value) -> ToolContext {
    ToolContext::detached(ToolUse::new("1", name, input))
}

/// The output of a tool, or its error after an exclamation mark.
fn call(tool: &dyn Tool, input: Value) -> String {
    match block_on(tool.call(context(tool.name(), input))) {
        Ok(output) => output.to_string(),
        Err(error) => format!("! {error}"),
    }
}

#[test]
fn a_function_is_a_tool_by_its_name_in_camel_case_and_remains_a_function() {
    assert_eq!(Weather.name(), "weather");
    assert_eq!(Weather.description(), "The weather now.\n\nIn a city.");
    assert_eq!(Weather.permission(&ToolUse::new("1", "weather", json!({}))), Permission::Allow);
    assert!(!Weather.is_idempotent());
    assert_eq!(block_on(weather("Rome".into(), None)).unwrap(), "Rome");
    assert_eq!(call(&Weather, json!({ "city": "Rome", "days": 2 })), "Rome for 2 days");
}

#[test]
fn the_schema_is_that_of_a_function_tool_with_the_same_arguments() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "the fields are there for their schemas")]
    struct City {
        /// The name of the city,
        /// in English.
        city: String,
        days: Option<u8>,
    }

    let tool = FunctionTool::new("weather", "The weather now.", async |_: City| "done");
    assert_eq!(Weather.schema(), tool.schema());
    assert_eq!(Weather.schema()["required"], json!(["city"]));
    let description = &Weather.schema()["properties"]["city"]["description"];
    assert_eq!(description, "The name of the city,\nin English.");
}

#[test]
fn arguments_that_do_not_fit_are_an_error_that_names_the_tool() {
    let missing = "! arguments of `weather` do not fit: missing field `city`";
    assert_eq!(call(&Weather, json!({})), missing);
    assert_eq!(call(&Weather, Value::Null), missing);
    let other = "! arguments of `weather` do not fit: invalid type: string \"Rome\", expected a \
                 JSON object";
    assert_eq!(call(&Weather, json!("Rome")), other);
    assert_eq!(call(&Weather, json!({ "city": "Rome", "days": 0 })), "! no forecast");
}

#[test]
fn an_agent_calls_a_function() {
    let rome = ToolUse::new("1", "weather", json!({ "city": "Rome" }));
    let (model, _) = script([uses([rome]), "done".into()]);
    let agent = ReActAgent::builder("bot").model(model).tool(Weather).build().unwrap();
    block_on(agent.call(go())).unwrap();
    assert_eq!(results(&agent), [("1".to_owned(), "Rome".to_owned())]);
}

#[test]
fn borrowed_parameters_are_read_as_owned() {
    /// Joins texts.
    #[tool]
    fn join(texts: &[String], separator: &str, end: Option<&str>, counts: Option<&[u8]>) -> String {
        format!("{}{}{}", texts.join(separator), end.unwrap_or("."), counts.map_or(0, <[u8]>::len))
    }

    assert_eq!(call(&Join, json!({ "texts": ["a", "b"], "separator": "-" })), "a-b.0");
    let all = json!({ "texts": [], "separator": "", "end": "!", "counts": [1] });
    assert_eq!(call(&Join, all), "!1");
    assert_eq!(Join.schema()["required"], json!(["texts", "separator"]));
    assert_eq!(Join.schema()["properties"]["separator"], json!({ "type": "string" }));
}

#[test]
fn attributes_of_serde_and_schemars_are_those_of_the_property() {
    fn one() -> usize {
        1
    }

    /// Repeats a text.
    #[tool]
    fn repeat(
        #[serde(rename = "text")] it: &str,
        #[serde(default = "one")]
        #[schemars(range(max = 9))]
        times: usize,
    ) -> String {
        it.repeat(times)
    }

    assert_eq!(call(&Repeat, json!({ "text": "a" })), "a");
    assert_eq!(call(&Repeat, json!({ "text": "a", "times": 2 })), "aa");
    assert_eq!(Repeat.schema()["required"], json!(["text"]));
    assert_eq!(Repeat.schema()["properties"]["times"]["maximum"], 9);
    assert_eq!(Repeat.schema()["properties"]["times"]["default"], 1);
}

#[test]
fn a_tool_without_parameters_accepts_an_empty_object_and_null() {
    /// Says the time.
    #[tool]
    fn now() -> &'static str {
        "noon"
    }

    assert_eq!(Now.schema(), &json!({ "type": "object" }));
    assert_eq!(call(&Now, json!({})), "noon");
    assert_eq!(call(&Now, Value::Null), "noon");
}

#[test]
fn the_context_is_a_parameter_that_is_not_in_the_schema() {
    /// Says its id.
    #[tool]
    async fn by_value(cx: ToolContext, mut text: String) -> String {
        text.push_str(&cx.tool_use().id);
        text
    }

    /// Says its id.
    #[tool]
    fn by_reference(text: &str, cx: &hooks_agent_core::tool::ToolContext) -> String {
        format!("{text}{}", cx.tool_use().id)
    }

    let tools: [&dyn Tool; 2] = [&ByValue, &ByReference];
    for tool in tools {
        assert_eq!(tool.schema()["properties"], json!({ "text": { "type": "string" } }));
        assert_eq!(call(tool, json!({ "text": "id " })), "id 1");
    }
}

#[test]
fn parameters_may_have_any_name() {
    /// Adds.
    #[tool]
    async fn add(add: u8, arguments: u8, cx: u8, output: u8, r#type: u8, this: u8) -> String {
        (add + arguments + cx + output + r#type + this).to_string()
    }

    let input = json!({ "add": 1, "arguments": 2, "cx": 3, "output": 4, "type": 5, "this": 6 });
    assert_eq!(call(&Add, input), "21");
}

#[test]
fn name_and_description_may_be_given() {
    /// For programmers.
    #[tool(name = "get-time", description = " The time. ")]
    fn r#yield() -> String {
        String::new()
    }

    assert_eq!((Yield.name(), Yield.description()), ("get-time", "The time."));
}

#[test]
fn a_tool_may_be_idempotent() {
    /// Reads.
    #[tool(idempotent)]
    fn read() -> &'static str {
        "read"
    }

    assert!(Read.is_idempotent());
    let tool = FunctionTool::new("t", "T.", async |_: Value| "done");
    assert!(!tool.is_idempotent());
    assert!(tool.idempotent().is_idempotent());
}

#[test]
fn a_tool_says_what_it_does_and_changes_something_otherwise() {
    /// Reads.
    #[tool(reads)]
    fn read() -> &'static str {
        "read"
    }

    /// Deletes.
    #[tool(destroys, idempotent)]
    fn delete() -> &'static str {
        "deleted"
    }

    /// Writes.
    #[tool]
    fn write() -> &'static str {
        "written"
    }

    assert_eq!((Read.effect(), Delete.effect()), (Effect::Reads, Effect::Destroys));
    assert_eq!((Write.effect(), Write.server()), (Effect::Changes, None));
    assert!(Delete.is_idempotent() && !Read.is_idempotent());
    // A sub-agent does what its tools do.
    let agent = |tools: Vec<Arc<dyn Tool>>| {
        let model = ScriptedModel::new("fixed", |_| "done");
        let agent = ReActAgent::builder("sub").model(model).tools(tools).build().unwrap();
        agent.to_tool("Does it.").effect()
    };
    assert_eq!(agent(vec![Arc::new(Read)]), Effect::Reads);
    assert_eq!(agent(vec![Arc::new(Read), Arc::new(Delete)]), Effect::Destroys);
}

#[test]
fn a_tool_may_ask_about_every_call_or_about_some() {
    fn permission_to_delete(call: &ToolUse) -> Permission {
        match call.input["path"].as_str() {
            Some(path) if path.starts_with("/tmp/") => Permission::Allow,
            _ => Permission::Ask,
        }
    }

    /// Pays.
    #[tool(ask)]
    fn pay() -> &'static str {
        "paid"
    }

    /// Deletes.
    #[tool(ask = permission_to_delete)]
    fn delete(path: String) -> String {
        path
    }

    let permission =
        |tool: &dyn Tool, path| tool.permission(&ToolUse::new("1", "t", json!({ "path": path })));
    assert_eq!(permission(&Pay, "/tmp/a"), Permission::Ask);
    assert_eq!(permission(&Delete, "/tmp/a"), Permission::Allow);
    assert_eq!(permission(&Delete, "/home"), Permission::Ask);
}

/// Says whether it is on another thread.
#[tool(blocking)]
fn is_elsewhere(here: &str, cx: &ToolContext) -> String {
    let is_elsewhere = format!("{:?}", thread::current().id()) != here;
    format!("{} {is_elsewhere}", cx.tool_use().id)
}

#[tokio::test]
async fn a_blocking_function_runs_on_a_thread_for_blocking_work() {
    let here = format!("{:?}", thread::current().id());
    let output = IsElsewhere.call(context("is_elsewhere", json!({ "here": here }))).await;
    assert_eq!(output.unwrap(), "1 true");
}

#[test]
fn outside_of_a_runtime_a_blocking_function_is_an_error() {
    let error = "! a blocking tool needs a runtime of tokio, start one";
    assert_eq!(call(&IsElsewhere, json!({ "here": "" })), error);
}

#[derive(Serialize)]
struct Coordinates {
    latitude: i8,
}

#[test]
fn a_json_output_is_text_for_the_model_and_a_value_for_programs() {
    /// Where it is.
    #[tool]
    async fn locate() -> Result<Json<Coordinates>, NoForecast> {
        Ok(Json(Coordinates { latitude: 41 }))
    }

    let output = block_on(Locate.call(context("locate", json!({})))).unwrap();
    assert_eq!(output, r#"{"latitude":41}"#);
    assert_eq!(output.structured(), Some(&json!({ "latitude": 41 })));
}

struct Library<T> {
    books: Vec<T>,
    lent: AtomicUsize,
}

#[tool]
impl<T: AsRef<str> + Send + Sync + 'static> Library<T> {
    /// Finds a book.
    #[tool(name = "find_book", idempotent)]
    async fn find(
        &self,
        /// A part of the title.
        title: &str,
    ) -> &str {
        let mut titles = self.books.iter().map(AsRef::as_ref);
        titles.find(|book| book.contains(title)).unwrap_or("no such book")
    }

    /// Lends a book.
    #[tool(ask = Self::permission_to_lend)]
    fn lend(&self, cx: &ToolContext) -> String {
        let lent = self.lent.fetch_add(1, Ordering::Relaxed) + 1;
        format!("{} is the {lent}. loan", cx.tool_use().id)
    }

    /// Counts the books.
    #[tool(blocking)]
    fn count(&self) -> String {
        self.books.len().to_string()
    }

    fn permission_to_lend(call: &ToolUse) -> Permission {
        if call.input == json!({}) { Permission::Ask } else { Permission::Allow }
    }
}

fn library() -> Arc<Library<String>> {
    Arc::new(Library { books: vec!["Ulysses".to_owned()], lent: AtomicUsize::new(0) })
}

fn tool_named(tools: &Tools, name: &str) -> Arc<dyn Tool> {
    tools.iter().find(|tool| tool.name() == name).unwrap().clone()
}

#[test]
fn the_marked_methods_of_a_type_are_its_tools() {
    let tools = library().tools();
    let names: Vec<_> = tools.iter().map(|tool| tool.name().to_owned()).collect();
    assert_eq!(names, ["find_book", "lend", "count"]);
    let find = tool_named(&tools, "find_book");
    assert_eq!(find.description(), "Finds a book.");
    let title = json!({ "type": "string", "description": "A part of the title." });
    assert_eq!(find.schema()["properties"], json!({ "title": title }));
    assert_eq!(call(&*find, json!({ "title": "Uly" })), "Ulysses");
    assert_eq!(call(&*find, json!({ "title": "Emma" })), "no such book");
    let error = "! arguments of `find_book` do not fit: missing field `title`";
    assert_eq!(call(&*find, json!({})), error);
}

#[test]
fn methods_have_the_options_of_functions() {
    let tools = library().tools();
    let permission = |name| {
        let call = ToolUse::new("1", name, json!({}));
        tool_named(&tools, name).permission(&call)
    };
    assert_eq!((permission("find_book"), permission("lend")), (Permission::Allow, Permission::Ask));
    let is_idempotent = |name| tool_named(&tools, name).is_idempotent();
    assert!(is_idempotent("find_book") && !is_idempotent("lend"));
    let count = tool_named(&tools, "count");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    assert_eq!(runtime.block_on(count.call(context("count", json!({})))).unwrap(), "1");
}

#[test]
fn the_tools_of_a_value_share_it() {
    let library = library();
    for loan in 1..=2 {
        let lend = tool_named(&library.tools(), "lend");
        assert_eq!(call(&*lend, Value::Null), format!("1 is the {loan}. loan"));
    }
    assert_eq!(library.lent.load(Ordering::Relaxed), 2);
    let uses = uses([ToolUse::new("1", "find_book", json!({ "title": "U" }))]);
    let (model, _) = script([uses, "done".into()]);
    let tools = library.tools();
    let agent = ReActAgent::builder("bot").model(model).tools(tools).build().unwrap();
    block_on(agent.call(go())).unwrap();
    assert_eq!(results(&agent), [("1".to_owned(), "Ulysses".to_owned())]);
}

/// JT-02.
#[tokio::test]
async fn a_hook_brings_tools_that_are_methods_of_it() {
    struct Sums {
        adder: Arc<Adder>,
    }

    struct Adder;

    #[tool]
    impl Adder {
        /// Adds numbers.
        #[tool(name = "hook_add")]
        fn add(&self, left: i64, right: i64) -> String {
            (left + right).to_string()
        }
    }

    impl AgentHook for Sums {
        fn events(&self) -> EventMask {
            EventMask::NONE
        }

        fn tools(&self) -> Tools {
            self.adder.tools()
        }
    }

    let call = ToolUse::new("1", "hook_add", json!({ "left": 40, "right": 2 }));
    let (model, _) = script([uses([call]), "done".into()]);
    let agent = ReActAgent::builder("bot").model(model).hook(Sums { adder: Arc::new(Adder) });
    let agent = agent.build().unwrap();
    agent.call(go()).await.unwrap();
    assert_eq!(results(&agent), [("1".to_owned(), "42".to_owned())]);
}
