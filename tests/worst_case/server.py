"""The suites of the package `agentdojo` as MCP servers over standard input and output.

`server.py` prints the names of the suites. `server.py SUITE CALLS` serves the tools of one, and more for the test:
`tasks` lists the tasks, `reset` starts one, `attack` tells what the injected text wants done, and `is_done` and
`is_attacked` ask the checkers of the package. CALLS has the calls of injections that have none there.
"""

import json
import sys
import types
from importlib.machinery import ModuleSpec

import yaml

VERSION = "v1.2.2"
# Packages that only reach models.
ABSENT = {"anthropic", "cohere", "dotenv", "google", "openai", "requests", "tenacity"}


class AnyName(type):
    """Has whatever it is asked for."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return AnyName(name, (Exception,), {"__init__": cls.take, "__call__": cls.give})

    def take(self, *args, **kwargs):
        pass

    def give(self, it):
        return it


class Absent:
    """Finds a module without contents for each absent package."""

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ABSENT:
            return ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        root = AnyName("Root", (), {})
        module.__getattr__ = lambda name: getattr(root, name)
        return module

    def exec_module(self, module):
        pass


sys.meta_path.insert(0, Absent())
# The same, by the library in C.
yaml.SafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

from agentdojo.agent_pipeline.tool_execution import tool_result_to_str  # noqa: E402
from agentdojo.attacks.important_instructions_attacks import ImportantInstructionsAttack  # noqa: E402
from agentdojo.functions_runtime import FunctionCall, FunctionsRuntime  # noqa: E402
from agentdojo.task_suite.load_suites import get_suites  # noqa: E402
from agentdojo.types import text_content_block_from_string  # noqa: E402


class Suite:
    """A suite, and the task that runs."""

    def __init__(self, name, calls):
        self.suite = get_suites(VERSION)[name]
        self.calls = calls
        self.runtime = FunctionsRuntime(self.suite.tools)
        self.attacks = ImportantInstructionsAttack(self.suite, types.SimpleNamespace(name="local"))
        self.controls = {
            "tasks": self.tasks,
            "reset": self.reset,
            "attack": self.attack,
            "is_done": self.is_done,
            "is_attacked": self.is_attacked,
        }

    def tools(self):
        for function in self.suite.tools:
            schema = function.parameters.model_json_schema()
            yield {"name": function.name, "description": function.description, "inputSchema": schema}
        for name in self.controls:
            yield {"name": name, "description": "Is for the test.", "inputSchema": {"type": "object"}}

    def call(self, name, args):
        """Returns a text, and whether it is an error."""
        if control := self.controls.get(name):
            return json.dumps(control(**args)), False
        self.trace.append(FunctionCall(function=name, args=args))
        result, error = self.runtime.run_function(self.now, name, args)
        return (error, True) if error else (tool_result_to_str(result), False)

    def tasks(self):
        """Lists the tasks of the user, and the injections; of each whether it needs a call."""
        env = self.suite.load_and_inject_default_environment({})
        goals = {name: bool(self.calls_of(it, env, env)) for name, it in self.suite.injection_tasks.items()}
        return {"user": list(self.suite.user_tasks), "injections": goals}

    def reset(self, user, injection=None):
        """Starts a task, with what an injection wants in every text that the task reads."""
        self.user = self.suite.user_tasks[user]
        self.injection = self.suite.injection_tasks[injection] if injection else None
        injected = self.attacks.attack(self.user, self.injection) if injection else {}
        env = self.suite.load_and_inject_default_environment(injected)
        self.now = self.user.init_environment(env)
        self.before = self.now.model_copy(deep=True)
        calls = self.user.ground_truth(self.before.model_copy(deep=True))
        self.trace = []
        return {
            "prompt": self.user.PROMPT,
            "calls": [shown(call) for call in calls],
            "output": self.user.GROUND_TRUTH_OUTPUT,
            "goal": self.injection.GOAL if injection else None,
        }

    def attack(self):
        """Tells what the injected text wants done, from here on."""
        env = self.now.model_copy(deep=True)
        calls = self.calls_of(self.injection, self.before, env)
        return {"calls": [shown(call) for call in calls], "output": self.injection.GROUND_TRUTH_OUTPUT}

    def calls_of(self, task, before, env):
        calls = task.ground_truth(env)
        if calls:
            return calls
        listed = self.calls.get(self.suite.name, {}).get(task.ID, [])
        own = env.inbox.account_email if listed else None
        return list(written(listed, {"task": task, "before": before, "env": env, "own": own}))

    def is_done(self, output):
        """Whether the task of the user is done."""
        return self.check(self.user, output)

    def is_attacked(self, output):
        """Whether what was injected is done."""
        return self.check(self.injection, output)

    def check(self, task, output):
        # The package keeps its checks to itself.
        says = [text_content_block_from_string(output)]
        return bool(self.suite._check_task_result(task, says, self.before, self.now, self.trace))


def shown(call):
    return {"name": call.function, "args": call.model_dump()["args"]}


def written(calls, names):
    """Reads calls of a file."""
    for call in calls:
        for it in of(call.get("each", "[None]"), names):
            args = {
                key: of(value["is"], names | {"it": it}) if isinstance(value, dict) else value
                for key, value in call.get("args", {}).items()
            }
            yield FunctionCall(function=call["tool"], args=args)


def of(expression, names):
    return eval(expression, dict(names))


def respond(suite, method, params):
    if method == "initialize":
        version = params["protocolVersion"]
        info = {"name": suite.suite.name, "version": VERSION}
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": list(suite.tools())}
    if method == "tools/call":
        text, is_error = suite.call(params["name"], params.get("arguments") or {})
        return {"content": [{"type": "text", "text": text}], "isError": is_error}
    return {} if method == "ping" else None


def main():
    if len(sys.argv) == 1:
        print(json.dumps(sorted(get_suites(VERSION))))
        return
    suite = Suite(sys.argv[1], json.loads(sys.argv[2]))
    # What the package prints is no message.
    out, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        result = respond(suite, message.get("method"), message.get("params") or {})
        if result is None:
            answer["error"] = {"code": -32601, "message": "unknown"}
        else:
            answer["result"] = result
        print(json.dumps(answer), file=out, flush=True)


if __name__ == "__main__":
    main()
