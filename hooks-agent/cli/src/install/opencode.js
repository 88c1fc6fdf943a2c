// The guard of opencode, written by `hooks-agent install opencode`. It passes on what hooks get, and throws what it is
// told: a guard that does not answer denies. A plug-in has one export; another one would keep it from being loaded.
import { spawn } from "node:child_process"

const script = SCRIPT
// The sessions that began others.
const parents = new Map()

function ask(hook, input, output) {
  const parent = parents.get(input.sessionID)
  const event = JSON.stringify({ hook, input, output, ...(parent && { parent }) })
  return new Promise((done, failed) => {
    const refuse = () => failed(new Error("the guard did not answer"))
    const guard = spawn("sh", [script, hook], { stdio: ["pipe", "pipe", "inherit"] })
    const said = []
    guard.on("error", refuse)
    guard.stdin.on("error", () => {})
    guard.stdout.on("data", (part) => said.push(part))
    guard.on("close", (code) => {
      try {
        const answer = JSON.parse(Buffer.concat(said).toString("utf8"))
        if (code !== 0 || answer === null || typeof answer !== "object" || Array.isArray(answer)) return refuse()
        if ("deny" in answer) return failed(new Error(String(answer.deny)))
        done(answer)
      } catch {
        refuse()
      }
    })
    guard.stdin.end(event)
  })
}

function replace(object, content) {
  for (const name of Object.keys(object)) delete object[name]
  Object.assign(object, content)
}

export const HooksAgent = async () => ({
  event: async ({ event }) => {
    const session = event?.type === "session.created" && event.properties?.info
    if (session && session.parentID) parents.set(session.id, session.parentID)
  },
  "chat.message": async (input, output) => {
    await ask("chat.message", input, output)
  },
  "tool.execute.before": async (input, output) => {
    const answer = await ask("tool.execute.before", input, output)
    if (answer.args) replace(output.args, answer.args)
  },
  "tool.execute.after": async (input, output) => {
    const answer = await ask("tool.execute.after", input, output)
    if (!("result" in answer)) return
    // Of MCP it is parts. Files beside a text are not checked; what people are shown has the text too.
    if (output.output === undefined) output.content = answer.result
    else output.output = answer.result
    delete output.attachments
    if (output.metadata && "output" in output.metadata) output.metadata.output = answer.result
  },
})
