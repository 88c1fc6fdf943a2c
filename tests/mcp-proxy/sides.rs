//! Both sides of a proxy, written by a test.

use std::sync::{Arc, Mutex};

use hooks_agent_builtin::guard::{SensitiveWords, WordList};
use hooks_agent_core::call::CallContext;
use hooks_agent_core::hook::AgentHook;
use hooks_agent_core::react::{HookSet, HookSource};
use hooks_agent_guest::Guard;
use hooks_agent_proxy::mcp::McpProxy;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, duplex,
    split,
};
use tokio::task::JoinHandle;

/// The same hooks for every call.
struct Fixed(HookSet);

impl HookSource for Fixed {
    fn hooks(&self, _: &CallContext) -> HookSet {
        self.0.clone()
    }
}

/// A guard with these hooks.
pub(crate) fn guard(hooks: HookSet) -> Guard {
    Guard::new(Fixed(hooks))
}

/// A proxy with one hook, of the server `bank`.
pub(crate) fn proxy(hook: impl AgentHook) -> McpProxy {
    McpProxy::new(guard(HookSet::of(hook))).server("bank")
}

/// Masks `hunter2` in results.
pub(crate) fn masks() -> impl AgentHook {
    SensitiveWords::new(WordList::new(["hunter2"]).unwrap()).tool_results(true)
}

/// One side of a proxy.
pub(crate) struct Side {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    input: Option<WriteHalf<DuplexStream>>,
}

impl Side {
    pub(crate) fn of(stream: DuplexStream) -> Self {
        let (output, input) = split(stream);
        Self { lines: BufReader::new(output).lines(), input: Some(input) }
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).await.unwrap();
    }

    pub(crate) async fn send(&mut self, message: Value) {
        self.write(format!("{message}\n").as_bytes()).await;
    }

    /// The next message, none at the end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let line = self.lines.next_line().await.unwrap()?;
        Some(serde_json::from_str(&line).unwrap())
    }

    pub(crate) async fn read(&mut self) -> Value {
        self.next().await.expect("a message")
    }

    /// Ends the stream to the proxy.
    pub(crate) async fn close(&mut self) {
        self.input.take().unwrap().shutdown().await.unwrap();
    }
}

/// A proxy that runs, and both of its sides.
pub(crate) struct Sides {
    pub(crate) agent: Side,
    pub(crate) server: Side,
    pub(crate) ended: JoinHandle<()>,
    report: Arc<Mutex<Vec<String>>>,
}

impl Sides {
    pub(crate) fn of(proxy: McpProxy) -> Self {
        let report = Arc::new(Mutex::new(Vec::new()));
        let lines = report.clone();
        let proxy = proxy.report(move |line| lines.lock().unwrap().push(line.to_owned()));
        let (agent, of_agent) = duplex(64 * 1024);
        let (server, of_server) = duplex(64 * 1024);
        let ended =
            tokio::spawn(async move { proxy.pass(split(of_agent), split(of_server)).await });
        Self { agent: Side::of(agent), server: Side::of(server), ended, report }
    }

    /// What was said to the person who runs the proxy.
    pub(crate) fn report(&self) -> Vec<String> {
        self.report.lock().unwrap().clone()
    }

    /// What is left of a result of the tool `read`.
    pub(crate) async fn result(&mut self, result: Value) -> Value {
        self.answer(call(1, "read"), json!({ "jsonrpc": "2.0", "id": 1, "result": result })).await
            ["result"]
            .take()
    }

    /// What is left of the answer to a request.
    pub(crate) async fn answer(&mut self, request: Value, answer: Value) -> Value {
        self.agent.send(request.clone()).await;
        assert_eq!(self.server.read().await, request);
        self.server.send(answer).await;
        self.agent.read().await
    }

    /// Sends what passes, to see that nothing came before it.
    pub(crate) async fn nothing_for_agent(&mut self) {
        let ping = json!({ "jsonrpc": "2.0", "id": "the last", "method": "ping" });
        self.server.send(ping.clone()).await;
        assert_eq!(self.agent.read().await, ping);
    }

    /// The same to the server.
    pub(crate) async fn nothing_for_server(&mut self) {
        let ping = json!({ "jsonrpc": "2.0", "id": "the last", "method": "ping" });
        self.agent.send(ping.clone()).await;
        assert_eq!(self.server.read().await, ping);
    }
}

/// A tool call without arguments.
pub(crate) fn call(id: impl Into<Value>, tool: &str) -> Value {
    call_with(id, tool, &json!({}))
}

pub(crate) fn call_with(id: impl Into<Value>, tool: &str, arguments: &Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": "tools/call", "params": params })
}

pub(crate) fn request(id: impl Into<Value>, method: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": {} })
}

pub(crate) fn result(id: impl Into<Value>, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "result": result })
}

/// A result of one text.
pub(crate) fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}
