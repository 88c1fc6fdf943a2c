//! Reads a tape.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::Mutex;

use serde::de::IgnoredAny;

use crate::drift::Decided;
use crate::error::TapeError;
use crate::format::{Key, Kind, Line, Place, Reader};
use crate::recording::call::RecordedCall;
use crate::recording::recorded::{Entry, Recording, Step};

impl Recording {
    /// Reads a tape.
    ///
    /// # Errors
    /// [`TapeError`] if there is no file, it cannot be read, or a line is cut or no line of a tape; it
    /// names the line. The file is left as it is.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, TapeError> {
        Self::read_entries(path.as_ref(), usize::MAX)
    }

    /// Reads a tape with the first entries alone.
    pub(crate) fn read_entries(path: &Path, limit: usize) -> Result<Self, TapeError> {
        if path.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
        {
            return Err(TapeError::NoTape { path: path.to_owned() });
        }
        let (mut reader, header) = Reader::open(path)?;
        let mut load = Load::default();
        let mut last = 1;
        while let Some((place, line)) = reader.next()? {
            last = place.line;
            load.add(place, line).map_err(|reason| reader.error(reason))?;
        }
        if let Some(call) = load.calls.iter().find(|call| call.end.is_none()) {
            let reason = format!("the tape ends here, and the call {} has no end", call.run);
            return Err(TapeError::line(path, last, reason));
        }
        let end = reader.end();
        load.entries.truncate(limit);
        let kept = load.entries.len();
        for call in &mut load.calls {
            call.entries.retain(|entry| *entry < kept);
            // Appended entries come later in the file than in the call.
            call.entries.sort_by_key(|entry| match load.entries[*entry].step {
                Step::Model { round, attempt } => (0, round, attempt),
                Step::Tool { n, .. } => (1, n, 0),
            });
        }
        let mut recording = Self {
            path: path.to_owned(),
            redacted: header.redacted.unwrap_or_default(),
            agents: Vec::new(),
            calls: load.calls,
            entries: load.entries,
            end,
            file: Mutex::new(File::open(path).map_err(TapeError::io(path, "read"))?),
            requests: Mutex::default(),
        };
        recording.agents = recording.find_agents()?;
        Ok(recording)
    }
}

#[derive(Default)]
struct Load {
    calls: Vec<RecordedCall>,
    entries: Vec<Entry>,
    by_run: HashMap<String, usize>,
}

type OneLine = Line<IgnoredAny>;

impl Load {
    fn add(&mut self, place: Place, line: OneLine) -> Result<(), String> {
        match line.t {
            Kind::Header => Err("a second header".to_owned()),
            Kind::Close => Err("a line `close`, which no tape of version 1 has".to_owned()),
            Kind::Call => self.add_call(place, line),
            Kind::Model => {
                let step = Step::Model {
                    round: needed(line.round, "round")?,
                    attempt: line.attempt.unwrap_or(0),
                };
                needed(line.request.as_ref(), "request")?;
                needed(line.chunks.as_ref(), "chunks")?;
                self.add_entry(place, &line, step)
            }
            Kind::Tool => {
                let step = Step::Tool {
                    n: needed(line.n, "n")?,
                    id: needed(line.id.clone(), "id")?,
                    name: needed(line.name.clone(), "name")?,
                };
                needed(line.input.as_ref(), "input")?;
                self.add_entry(place, &line, step)
            }
            Kind::Decision => {
                let call = self.call(&line)?;
                self.calls[call].decisions.push(Decided {
                    hook: needed(line.hook, "hook")?,
                    event: needed(line.event, "event")?,
                    tool_call: line.tool_call,
                    flow: needed(line.flow, "flow")?,
                    changed: line.changed,
                });
                Ok(())
            }
            Kind::End => {
                let call = self.call(&line)?;
                let call = &mut self.calls[call];
                call.outcome = Some(needed(line.outcome, "outcome")?);
                call.error = line.error.and_then(|error| error.as_str().map(ToOwned::to_owned));
                call.reason =
                    line.reply.and_then(|reply| Some(reply.get("reason")?.as_str()?.to_owned()));
                call.end = Some(place);
                Ok(())
            }
        }
    }

    fn add_call(&mut self, place: Place, line: OneLine) -> Result<(), String> {
        let run = needed(line.run, "run")?;
        if self.by_run.insert(run.clone(), self.calls.len()).is_some() {
            return Err(format!("the call {run} begins twice"));
        }
        self.calls.push(RecordedCall {
            run,
            agent: needed(line.agent, "agent")?,
            thread: needed(line.thread, "thread")?,
            parent: line.parent,
            tool_call: line.tool_call,
            confirmed: line.confirmed,
            decisions: Vec::new(),
            outcome: None,
            reason: None,
            error: None,
            place,
            end: None,
            entries: Vec::new(),
        });
        Ok(())
    }

    fn add_entry(&mut self, place: Place, line: &OneLine, step: Step) -> Result<(), String> {
        let call = self.call(line)?;
        let key = needed(line.key.as_deref(), "key")?;
        let key = Key::parse(key).ok_or("`key` is no SHA-256, 64 digits in lower case")?;
        self.calls[call].entries.push(self.entries.len());
        self.entries.push(Entry { call, key, place, step });
        Ok(())
    }

    fn call(&self, line: &OneLine) -> Result<usize, String> {
        let run = needed(line.run.as_deref(), "run")?;
        let call = self.by_run.get(run).copied();
        call.ok_or_else(|| format!("the call {run} has not begun before this line"))
    }
}

fn needed<T>(field: Option<T>, name: &str) -> Result<T, String> {
    field.ok_or_else(|| format!("it has no field `{name}`"))
}
