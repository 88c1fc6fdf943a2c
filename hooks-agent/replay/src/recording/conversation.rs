//! Reads what was said on a thread of a tape.

use std::collections::{HashMap, VecDeque};

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
    /// Reads what was said in the calls of an agent on a thread: the messages of each call, the answers of the model
    /// as it gave them, and for each tool call its result as the tool gave it. The result of a tool call
    /// that ran no tool on the tape, such as one that a hook refused or that ran a sub-agent, is what the model read. What
    /// the thread had before the tape is not there, nor are answers that failed.
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
        let mut results = self.results(&calls)?;
        let mut messages = Messages::new();
        for call in calls {
            messages.extend(self.messages(call)?.into_iter().flatten());
            for answer in self.answers(call)? {
                let uses: Vec<_> = answer.tool_uses().cloned().collect();
                messages.push(answer);
                for tool_use in uses {
                    if let Some(result) = results.next(&tool_use) {
                        messages.push(Msg::tool_result(result));
                    }
                }
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
                    results.ran.entry(line.id).or_default().push_back((output, line.is_error));
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
            // Those of the round before are at the end.
            let last = request.messages.iter().rev().take_while(|msg| msg.role == Role::Tool);
            for result in last.flat_map(Msg::tool_results) {
                results.read.entry(result.id.clone()).or_default().push_back(result.clone());
            }
        }
        Ok(())
    }
}

/// The results of tool calls, by their ids, which a model may use again.
#[derive(Default)]
struct Results {
    ran: HashMap<String, VecDeque<(Value, bool)>>,
    read: HashMap<String, VecDeque<ToolResult>>,
}

impl Results {
    fn next(&mut self, tool_use: &ToolUse) -> Option<ToolResult> {
        let mut next = |id: &str| Some(self.read.get_mut(id)?.pop_front()?.clone());
        let read = next(&tool_use.id);
        let Some((output, is_error)) = self.ran.get_mut(&tool_use.id).and_then(VecDeque::pop_front)
        else {
            return read;
        };
        let text = || output.as_str().unwrap_or_default().to_owned();
        Some(if is_error {
            ToolResult::error(tool_use, text())
        } else {
            let given = serde_json::from_value::<ToolOutput>(output.clone());
            ToolResult::success(tool_use, given.unwrap_or_else(|_| text().into()))
        })
    }
}
