"""The fetcher for other programs: Python's own library, and curl as a child."""
import json
import subprocess
import sys
import urllib.request

TOOL = {
    "name": "fetch_page",
    "description": "Fetches an address.",
    "inputSchema": {
        "type": "object",
        "properties": {"address": {"type": "string"}, "way": {"type": "string"}},
        "required": ["address", "way"],
    },
    "annotations": {"readOnlyHint": True},
}


def by_python(address):
    try:
        return "fetched: " + urllib.request.urlopen(address, timeout=20).read().decode()
    except OSError as error:
        return f"not fetched: {error}"


def by_curl(address):
    command = ["curl", "--silent", "--show-error", "--fail", "--max-time", "20", address]
    ran = subprocess.run(command, capture_output=True, text=True)
    return f"fetched: {ran.stdout}" if ran.returncode == 0 else f"not fetched: {ran.stderr.strip()}"


def answer(method, params):
    if method == "initialize":
        server = {"name": "fetcher", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": server}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        fetched = {"python": by_python, "curl": by_curl}[params["arguments"]["way"]]
        return {"content": [{"type": "text", "text": fetched(params["arguments"]["address"])}]}
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = answer(message["method"], message.get("params", {}))
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
