//! Reads what was said on a thread of a tape.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use hooks_agent_core::message::{
    ContentBlock, Messages, Msg, Role, ToolOutput, ToolResult, ToolUse,
};
use hooks_agent_core::model::{ChatChunk, ChatRequest};
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::error::TapeError;
use crate::format::{ModelLine, Place, ToolLine, played};
use crate::recording::call::RecordedCall;
use crate::recording::recorded::{Entry, Recording, Step};

impl Recording {
    /// Reads what was said in the calls of an agent on a thread: the messages of each call, the answers of the model,
    /// and the results of tools. Answers and results are as model and tools gave them, before hooks changed them; where no tool
    /// ran, because a hook refused or a sub-agent answered, the result is what the model read. Failed attempts, and
    /// what the thread had before the tape, are left out.
    ///
    /// ```
    /// use hooks_agent::prelude::*;
    /// use hooks_agent::replay::{Recording, Tape};
    ///
    /// # futures::executor::block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("tape-said-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # let path = folder.join("run.tape");
    /// let tape = Tape::record(&path).open()?;
    /// let model = ScriptedModel::new("fixed", |_| "Done.");
    /// let agent = ReActAgent::builder("assistant").model(model).hook(tape.clone()).build()?;
    /// agent.call_with(CallOptions::new().thread("t"), "Go").await?;
    /// tape.finish()?;
    ///
    /// let said = Recording::read(&path)?.conversation("assistant", "t")?;
    /// assert_eq!((said[0].text(), said[1].text()), ("Go".to_owned(), "Done.".to_owned()));
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// [`TapeError`] if a line is unreadable, or the file was changed since it was opened.
    pub fn conversation(&self, agent: &str, thread: &str) -> Result<Messages, TapeError> {
        let of_thread = |call: &&RecordedCall| call.agent() == agent && call.thread() == thread;
        let calls: Vec<_> = self.calls().iter().filter(of_thread).collect();
        let mut said = Vec::new();
        for call in &calls {
            let given = self.messages(call)?.unwrap_or_default();
            let has_use = |id: &str| given.iter().flat_map(Msg::tool_uses).any(|it| it.id == id);
            // A result for an open tool call is one of those that the model read; others are of a history.
            let is_of_history = |msg: &Msg| msg.tool_results().all(|result| has_use(&result.id));
            let given = given.shared().filter(|msg| msg.role != Role::Tool || is_of_history(msg));
            said.extend(given.map(|msg| (msg.clone(), false)));
            said.extend(self.answers(call)?.into_iter().map(|msg| (Arc::new(msg), true)));
        }
        let mut results = self.results(&calls)?;
        let answers = said.iter().filter(|(_, is_answer)| *is_answer);
        for tool_use in answers.flat_map(|(msg, _)| msg.tool_uses()) {
            *results.open.entry(key_of(tool_use)).or_default() += 1;
        }
        let mut messages = Messages::new();
        for (msg, is_answer) in said {
            let uses = msg.tool_uses().filter(|_| is_answer);
            let own: Vec<_> = uses.filter_map(|tool_use| results.next(tool_use)).collect();
            messages.push(msg);
            for result in own {
                messages.push(Msg::tool_result(result));
            }
        }
        Ok(messages)
    }

    /// Returns the last answer of each round.
    fn answers(&self, call: &RecordedCall) -> Result<Vec<Msg>, TapeError> {
        let mut rounds: Vec<(u32, Msg)> = Vec::new();
        for entry in call.entries() {
            let entry = &self.entries()[*entry];
            let Step::Model { round, .. } = entry.step else { continue };
            let Some(answer) = self.answer(entry.place)? else { continue };
            match rounds.last_mut().filter(|(last, _)| *last == round) {
                Some(last) => last.1 = answer,
                None => rounds.push((round, answer)),
            }
        }
        Ok(rounds.into_iter().map(|(_, answer)| answer).collect())
    }

    /// Returns an answer; `None` if it failed.
    fn answer(&self, place: Place) -> Result<Option<Msg>, TapeError> {
        let line: ModelLine<IgnoredAny, Value> = self.line(place)?;
        let chunks = played(&line.chunks)
            .map_err(|reason| TapeError::line(self.path(), place.line, reason))?;
        let (mut text, mut content) = (String::new(), Vec::new());
        for chunk in chunks {
            match chunk {
                Ok(ChatChunk::Text(more)) => text.push_str(&more),
                Ok(ChatChunk::ToolUse(tool_use)) => content.push(ContentBlock::ToolUse(tool_use)),
                Ok(_) => {}
                Err(_) => return Ok(None),
            }
        }
        if !text.is_empty() {
            content.insert(0, ContentBlock::text(text));
        }
        Ok((!content.is_empty()).then(|| Msg::from_blocks(Role::Assistant, "", content)))
    }

    /// Returns the results of the tool calls of calls.
    fn results(&self, calls: &[&RecordedCall]) -> Result<Results, TapeError> {
        let mut results = Results::default();
        for call in calls {
            for entry in call.entries() {
                let entry = &self.entries()[*entry];
                if !matches!(entry.step, Step::Tool { .. }) {
                    continue;
                }
                let line: ToolLine<Value> = self.line(entry.place)?;
                // One that waits for people has no result yet.
                let is_waiting = line.error.as_ref().is_some_and(|it| it.get("waiting").is_some());
                if let Some(output) = line.output.filter(|_| !is_waiting) {
                    let key = (line.id, line.name);
                    results.ran.entry(key).or_default().push_back((output, line.is_error));
                }
            }
        }
        for call in calls {
            self.add_read(call, &mut results)?;
        }
        Ok(results)
    }

    /// Adds the results that the model read.
    fn add_read(&self, call: &RecordedCall, results: &mut Results) -> Result<(), TapeError> {
        let entries = call.entries().iter().map(|entry| &self.entries()[*entry]);
        // What an attempt reads, the first one did.
        let is_first = |entry: &&Entry| matches!(entry.step, Step::Model { attempt: 0, .. });
        for entry in entries.filter(is_first) {
            let request = self.request_value(entry.place)?;
            let request: ChatRequest = serde_json::from_value(request).map_err(|error| {
                TapeError::line(self.path(), entry.place.line, error.to_string())
            })?;
            // Those of the round before are behind the last answer, maybe with what hooks say to the model.
            let is_answer = |msg: &&Arc<Msg>| msg.role == Role::Assistant;
            let last = request.messages.shared().rev().take_while(|msg| !is_answer(msg));
            for result in last.flat_map(|msg| msg.tool_results()) {
                results.read.entry(result.id.clone()).or_default().push_back(result.clone());
            }
        }
        Ok(())
    }
}

/// The results of tool calls, by their ids, which a model may use again.
#[derive(Default)]
struct Results {
    /// How many tool calls are to come, by id and name.
    open: HashMap<(String, String), usize>,
    /// What tools gave, one for each attempt, by id and name.
    ran: HashMap<(String, String), VecDeque<(Value, bool)>>,
    read: HashMap<String, VecDeque<ToolResult>>,
}

fn key_of(tool_use: &ToolUse) -> (String, String) {
    (tool_use.id.clone(), tool_use.name.clone())
}

impl Results {
    /// Returns the result of the next tool call of its id: what its tool gave at last, or else what the model read.
    fn next(&mut self, tool_use: &ToolUse) -> Option<ToolResult> {
        let key = key_of(tool_use);
        let open = self.open.get_mut(&key).map_or(0, |open| std::mem::replace(open, *open - 1));
        let read = self.read.get_mut(&tool_use.id).and_then(VecDeque::pop_front);
        let Some(ran) = self.ran.get_mut(&key) else { return read };
        let is_read = |(output, is_error): &(Value, bool)| {
            read.as_ref().is_some_and(|read| {
                read.is_error == *is_error && text_of(output) == read.output.to_string()
            })
        };
        let is_like = |(_, is_error): &(Value, bool)| {
            read.as_ref().is_none_or(|read| read.is_error == *is_error)
        };
        let given = match ran.iter().position(is_read) {
            // All before it are other attempts.
            Some(at) => ran.drain(..=at).next_back(),
            // All that are left are attempts of the last one, unless that was refused.
            None if open <= 1 => ran.drain(..).next_back().filter(is_like),
            // Where fewer ran than were asked for, some were refused.
            None if ran.len() >= open => ran.pop_front(),
            None => None,
        };
        let Some((output, is_error)) = given else { return read };
        Some(if is_error {
            ToolResult::error(tool_use, text_of(&output))
        } else {
            let given = serde_json::from_value::<ToolOutput>(output.clone());
            ToolResult::success(tool_use, given.unwrap_or_else(|_| text_of(&output).into()))
        })
    }
}

/// Returns the text of an output on a tape.
fn text_of(output: &Value) -> String {
    match serde_json::from_value::<ToolOutput>(output.clone()) {
        Ok(output) => output.to_string(),
        Err(_) => output.as_str().unwrap_or_default().to_owned(),
    }
}
