// Talks to a server with the client of the protocol: a tool, a sub-agent, an approval, a tool of the client, and
// a run that is aborted. Prints what the client has in the end, as JSON.
//
// node npm_client.mjs MODULE URL

const [module, url] = process.argv.slice(2);
const { HttpAgent, buildResumeArray } = await import(module);

const agent = new HttpAgent({ url, threadId: "t", headers: { authorization: "Bearer ada" } });
const runs = [];

async function run(parameters) {
  const events = [];
  const seen = {};
  await agent.runAgent(parameters, {
    onEvent: ({ event }) => {
      events.push(event.type);
    },
    onRunFinishedEvent: ({ event }) => {
      seen.outcome = event.outcome;
      seen.usage = event.usage;
    },
    onRunFailed: ({ error }) => {
      seen.error = String(error);
    },
  });
  runs.push({ events, ...seen, pending: agent.pendingInterrupts.map((it) => it.id) });
}

const tools = [{ name: "confetti", description: "Shows confetti.", parameters: { type: "object" } }];
const say = (id, content) => agent.addMessage({ id, role: "user", content });

say("u1", "Pay the baker");
await run({ tools });

// The client refuses to go on without an answer.
let refused = "";
say("u2", "And now?");
try {
  await agent.runAgent({ tools });
} catch (error) {
  refused = String(error);
}
agent.setMessages(agent.messages.filter((it) => it.id !== "u2"));

const [interrupt] = agent.pendingInterrupts;
const answer = { status: "resolved", payload: { approved: true, editedArgs: { euros: 7 } } };
await run({ tools, resume: buildResumeArray([interrupt], { [interrupt.id]: answer }) });

say("u3", "Celebrate");
await run({ tools });
const [pending] = runs.at(-1).outcome.pendingToolCallIds;
agent.addMessage({ id: "t1", role: "tool", toolCallId: pending, content: "shown" });
await run({ tools });

// Nothing is new: the server sends the conversation as it is.
const before = JSON.stringify(agent.messages);
await run({ tools });
const isSame = sorted(before) === sorted(JSON.stringify(agent.messages));

function sorted(json) {
  const bare = (it) => ({ id: it.id, role: it.role, content: it.content ?? "", toolCalls: it.toolCalls ?? [] });
  return JSON.stringify(JSON.parse(json).map(bare).sort((one, other) => one.id.localeCompare(other.id)));
}

say("u4", "Tell a story");
let isAborted = false;
const story = agent.runAgent({ tools }, {
  onTextMessageContentEvent: () => {
    isAborted = true;
    agent.abortRun();
  },
});
await story.catch(() => {});

console.log(JSON.stringify({ runs, refused, isSame, isAborted, messages: agent.messages, interrupt }));
process.exit(0);
