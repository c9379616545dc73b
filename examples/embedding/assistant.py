"""Cordon inside of another program: a process that takes queries and prints events, each a line of JSON.

The program that embeds it keeps no keys and sees no data of apps but the events it reads. See docs/embedding.md.
Python 3 alone: no package is needed.
"""

import json
import subprocess
import sys
from typing import Callable


class Assistant:
    """One session of Cordon. `on_question` gets a prompt and says how long to allow it: "once", "session", or "deny"."""

    def __init__(self, command: list[str], on_question: Callable[[dict], str]) -> None:
        self._on_question = on_question
        self._process = subprocess.Popen(
            [*command, "--json", "--answers", "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def ask(self, query: str) -> str:
        """The answer to a query. Raises RuntimeError where there is none: it was refused, or it failed."""
        self._say({"query": query})
        answer = ""
        for line in self._process.stdout:
            event = json.loads(line)
            kind = event["kind"]
            if kind == "permission.asked":
                self._say({"prompt": event["id"], "decision": self._decision(event["prompt"])})
            elif kind == "choice.asked":
                self._say({"prompt": event["id"], "choose": None})
            elif kind == "answer.proposed":
                answer = event["text"]
            elif kind == "answer.refused":
                raise RuntimeError(event["reason"])
            elif kind == "fault":
                raise RuntimeError(event["fault"]["message"])
            elif kind == "query.ended":
                if event["outcome"] == "answered":
                    return answer
                raise RuntimeError(f"{event['outcome']}: {event['reason']}")
        raise RuntimeError("cordon ended before the answer")

    def close(self) -> None:
        """Ends the session and waits for its processes."""
        self._process.stdin.close()
        self._process.stdout.read()
        self._process.wait()

    def _decision(self, prompt: dict) -> str:
        """An error in the callback is a no."""
        try:
            return self._on_question(prompt)
        except Exception as error:  # noqa: BLE001: whatever it is, nothing was allowed
            print(f"denied, because nobody could be asked: {error}", file=sys.stderr)
            return "deny"

    def _say(self, line: dict) -> None:
        self._process.stdin.write(json.dumps(line) + "\n")
        self._process.stdin.flush()


def ask_at_terminal(prompt: dict) -> str:
    """Shows a question in full and takes `y` for a yes; the end of the input and everything else is a no."""
    print(prompt["question"])
    for text in [*prompt["warnings"], *prompt["newRecipients"]]:
        print(f"  ! {text}")
    for datum in prompt["data"]:
        # As JSON: no character of an app can move the cursor.
        print(f"  {json.dumps(datum['name'])}: {json.dumps(datum['value'])}")
        for source in datum.get("sources", []):
            print(f"  from {source['app']}: {json.dumps(source['arguments'])}")
    try:
        return "once" if input("Allow once? [y/N] ").strip() == "y" else "deny"
    except EOFError:
        return "deny"


if __name__ == "__main__":
    # assistant.py QUERY COMMAND...: for example "Book a ride." cordon chat --config cordon.json
    assistant = Assistant(sys.argv[2:], ask_at_terminal)
    try:
        print(assistant.ask(sys.argv[1]))
    except RuntimeError as error:
        sys.exit(f"no answer: {error}")
    finally:
        assistant.close()
