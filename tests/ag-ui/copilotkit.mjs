// Talks to an agent behind the runtime of CopilotKit, as its pages do: a tool, a sub-agent, an approval with
// edited arguments, and a tool of the page. Prints the events of each run, as JSON.
//
// node copilotkit.mjs MODULE URL

const [module, url] = process.argv.slice(2);
const { CopilotRuntime, createCopilotRuntimeHandler } = await import(module);
const { HttpAgent } = await import(new URL("../../../../@ag-ui/client/dist/index.mjs", `file://${module}`));

const clerk = new HttpAgent({ url, headers: { authorization: "Bearer ada" } });
const handler = createCopilotRuntimeHandler({ runtime: new CopilotRuntime({ agents: { clerk } }), basePath: "/api" });
const tools = [{ name: "confetti", description: "Shows confetti.", parameters: { type: "object" } }];
const runs = [];

async function run(messages, resume) {
  const input = { threadId: "t", runId: `r${runs.length}`, state: {}, messages, tools, context: [], forwardedProps: {}, resume };
  const body = JSON.stringify(input);
  const headers = { "content-type": "application/json" };
  const answer = await handler(new Request("http://localhost/api/agent/clerk/run", { method: "POST", headers, body }));
  const frames = (await answer.text()).split("\n\n").filter((it) => it.startsWith("data: "));
  const events = frames.map((it) => JSON.parse(it.slice("data: ".length)));
  runs.push({ status: answer.status, events });
  return events;
}

const say = (id, content) => ({ id, role: "user", content });
const snapshot = (events) => events.findLast((it) => it.type === "MESSAGES_SNAPSHOT").messages;

const asked = await run([say("u1", "Pay the baker")]);
const [interrupt] = asked.at(-1).outcome.interrupts;
const payload = { approved: true, editedArgs: { euros: 7 } };
await run(snapshot(asked), [{ interruptId: interrupt.id, status: "resolved", payload }]);
// A page that is loaded anew has nothing.
const before = snapshot(await run([]));
const celebrated = await run([...before, say("u2", "Celebrate")]);
const [pending] = celebrated.at(-1).outcome.pendingToolCallIds;
await run([...before, say("u2", "Celebrate"), { id: "t1", role: "tool", toolCallId: pending, content: "shown" }]);

console.log(JSON.stringify(runs));
process.exit(0);
